package policy

import "github.com/stopgate/stopgate/jsonstream"

// vector is the text of an argument vector: its words, one after the other.
type vector struct {
	text  []byte
	ends  []int // of the words in text
	words [][]byte
	whole bool // every element is a word
}

// read takes the elements of an array. What is no string, or stands deeper, is read as
// if it were: nothing permits such a value, but it is looked at.
func (v *vector) read(array jsonstream.Value) {
	v.text, v.ends, v.words, v.whole = v.text[:0], v.ends[:0], v.words[:0], true
	v.elements(array)
	start := 0
	for _, end := range v.ends {
		v.words = append(v.words, v.text[start:end:end])
		start = end
	}
}

func (v *vector) elements(container jsonstream.Value) {
	for element := range container.Elements() {
		v.element(element)
	}
	for _, member := range container.Members() {
		v.element(member)
	}
}

func (v *vector) element(element jsonstream.Value) {
	switch element.Kind() {
	case jsonstream.String:
		v.text = element.AppendText(v.text)
	case jsonstream.Array, jsonstream.Object:
		v.whole = false
		v.elements(element)
		return
	default:
		v.whole = false
		v.text = append(v.text, element.Raw()...)
	}
	v.ends = append(v.ends, len(v.text))
}

// closeVector judges an argument vector that is complete, as the command that it is
// (S40). One without words is a branch without a value, as every empty array (K3).
func (w *walker) closeVector(e *Evaluation) {
	p := w.vector
	w.vector = place{}
	v := &e.vector
	if v.read(e.value); len(v.words) == 0 {
		for _, site := range p.shape.under {
			e.empty(site)
		}
		w.end(e, p)
		return
	}
	w.startText(e, p, arrayType)
	for i := range e.watches {
		if c := &e.watches[i]; c.shape.needs&watchControls != 0 && control(v.text, c.shape.needs&allowTabs != 0) > 0 {
			e.controlFound(c.view)
		}
	}
	e.whole.ResetWords(v.words, v.whole)
	e.scratch = append(e.scratch[:0], e.whole.Text()...)
	e.prepared, e.decoded = true, true
	e.textEnd()
	w.endScalar(e, p)
}
