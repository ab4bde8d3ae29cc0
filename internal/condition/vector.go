package condition

import "github.com/stopgate/stopgate/jsonstream"

// Vector is an argument vector: an array whose elements are the words of one command
// (S40). It is reused with Read.
type Vector struct {
	Text     []byte   // of all words, one after the other
	Words    [][]byte // parts of Text
	Complete bool     // every element is a string

	ends []int // of the words in Text
}

// Read sets the elements of an array. Nested elements and elements that are no strings are read as
// texts: no permissive condition matches such a value, but restrictive ones evaluate it.
func (v *Vector) Read(array jsonstream.Value) {
	v.Text, v.ends, v.Words, v.Complete = v.Text[:0], v.ends[:0], v.Words[:0], true
	v.elements(array)
	start := 0
	for _, end := range v.ends {
		v.Words = append(v.Words, v.Text[start:end:end])
		start = end
	}
}

func (v *Vector) elements(container jsonstream.Value) {
	for element := range container.Elements() {
		v.element(element)
	}
	for _, member := range container.Members() {
		v.element(member)
	}
}

func (v *Vector) element(element jsonstream.Value) {
	switch element.Kind() {
	case jsonstream.String:
		v.Text = element.AppendText(v.Text)
	case jsonstream.Array, jsonstream.Object:
		v.Complete = false
		v.elements(element)
		return
	default:
		v.Complete = false
		v.Text = append(v.Text, element.Raw()...)
	}
	v.ends = append(v.ends, len(v.Text))
}
