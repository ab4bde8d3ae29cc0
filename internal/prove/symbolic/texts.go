package symbolic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/jsonstream"
)

// Texts returns a session in which the values of a witness have the sources that the witness
// supposes, for a caller that evaluates the call. args are the arguments of the witness.
func (t *Translation) Texts(choices []analysis.Choice, args []byte) *Supposed {
	view := &Supposed{said: make(map[string]bool), names: t.sources}
	root, err := jsonstream.Parse(args, jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return view
	}
	view.place = func(q *flow.Query, name flow.Source) int {
		if name == flow.Untrusted {
			var trusted strings.Builder
			for _, one := range q.Trusted {
				trusted.WriteString(string(one) + "\n")
			}
			name += flow.Source("\n" + trusted.String())
		}
		return slices.Index(t.sources, name)
	}
	for i := range t.origins {
		o := &t.origins[i]
		if o.variable >= len(choices) || len(choices[o.variable].Leaves) == 0 {
			continue
		}
		leaves := choices[o.variable].Leaves
		values, _ := o.pointer.All(nil, root)
		for _, v := range values {
			view.add(o, v, &leaves)
		}
	}
	for n, name := range t.names {
		if key, ok := strings.CutPrefix(name, saysFact); ok && t.pointers[n] == nil && n < len(choices) {
			view.said[key] = len(choices[n].Leaves) > 0 && choices[n].Leaves[0].Text == metFact
		}
	}
	return view
}

// NoTexts returns a session in which no text was read, and every value was made by the model.
func NoTexts() *Supposed { return new(Supposed) }

// Supposed is a session in which some values have some sources, and no text was read.
type Supposed struct {
	values []supposedValue
	names  []flow.Source // by their place
	said   map[string]bool
	place  func(*flow.Query, flow.Source) int
}

type supposedValue struct {
	*originVariable
	text    string
	letters []rune
}

// add supposes the next of some leaves for a value, or for the leaves of an array.
func (s *Supposed) add(o *originVariable, v jsonstream.Value, leaves *[]analysis.Value) {
	if v.Kind() == jsonstream.Array {
		for element := range v.Elements() {
			s.add(o, element, leaves)
		}
		return
	}
	text := string(v.Raw())
	if v.Kind() == jsonstream.String {
		text = v.Text()
	}
	s.values = append(s.values, supposedValue{o, text, []rune((*leaves)[0].Text)})
	if len(*leaves) > 1 {
		*leaves = (*leaves)[1:]
	}
}

// Sentences describe the origin of each value, "" for one that may have any.
func (s *Supposed) Sentences() (list []string) {
	for i := range s.values {
		v := &s.values[i]
		verb, where := "is from ", [3][]string{}
		if v.carries {
			verb = "carries a part of "
		}
		for at, name := range s.names {
			text, _, _ := strings.Cut(string(name), "\n")
			o, _ := occurrenceOf(v.letters[at])
			switch {
			case o[0] == surely:
				where[0] = append(where[0], text)
			case o[widenings-1] == surely:
				where[1] = append(where[1], text)
			case o[widenings-1] == perhaps:
				where[2] = append(where[2], text)
			}
		}
		sentence := strconv.Quote(v.text) + " "
		switch {
		case v.letters[0] == lacking:
			continue
		case len(where[0]) > 0:
			sentence += verb + strings.Join(where[0], ", ")
		case len(where[1]) > 0:
			sentence += verb + strings.Join(where[1], ", ") + " if relation, weak or segments widen it"
		case len(where[2]) > 0:
			sentence += "may be from " + strings.Join(where[2], ", ")
		default:
			sentence += "is from none of the sources"
		}
		if !slices.Contains(list, sentence) {
			list = append(list, sentence)
		}
	}
	return list
}

func (s *Supposed) find(value []byte, q *flow.Query, carries bool) (f flow.Finding) {
	for i := range s.values {
		v := &s.values[i]
		w, ok := v.widening(q)
		if v.text != string(value) || v.carries != carries || !carries && !ok {
			continue
		}
		for _, name := range q.Sources {
			at := s.place(q, name)
			if at < 0 || at >= len(v.letters) {
				continue
			}
			o, _ := occurrenceOf(v.letters[at])
			f.Certain = f.Certain || o[w] == surely
			f.Possible = f.Possible || o[w] == surely || o[w] == perhaps
		}
	}
	if f.Possible {
		f.First = flow.Ref{Number: 1}
	}
	if f.Certain {
		f.Texts = []int{1}
	}
	return f
}

func (s *Supposed) Find(value []byte, q *flow.Query) flow.Finding { return s.find(value, q, false) }

func (s *Supposed) Carries(value []byte, q *flow.Query) flow.Finding { return s.find(value, q, true) }

func (s *Supposed) Origin([]byte, flow.Kind) flow.Ref { return flow.Ref{} }

func (s *Supposed) Said(key string) bool { return s.said[key] }

func (s *Supposed) Read(*flow.Query, func(string) bool, bool) bool { return false }
