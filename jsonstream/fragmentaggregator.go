package jsonstream

import "errors"

// FragmentAggregator builds the value of one call from its fragments (F043-08), in any
// process that receives them: it writes the text that the fragments describe into a [Parser],
// so that the limits and refusals of arguments hold for them too. The zero FragmentAggregator
// is ready for use and has the default [Options].
type FragmentAggregator struct {
	// Options are read at the first fragment.
	Options Options

	parser *Parser
	args   Aggregator
	open   []container
	value  progress // of the value at the end of the open path
	text   []byte
	err    error
}

// container is an object or array whose end has not come.
type container struct {
	at       Segment // of its current member or element
	complete bool    // the current member or element has ended
}

// progress is how much of a value has come.
type progress uint8

const (
	unstarted progress = iota
	inString
	afterScalar
	rootDone
)

// errFragment is the error of a fragment that does not continue the ones before it.
var errFragment = errors.New("aggregate fragment: it does not continue the fragments before it: send the fragments of a call in order and without gaps")

// Add processes the next fragment of the call. For a Done it returns the value that is now
// complete, which can be used until the next Add. An error is final.
func (a *FragmentAggregator) Add(f *Fragment) (Value, error) {
	if a.err != nil {
		return Value{}, a.err
	}
	if a.parser == nil {
		a.parser = NewParser(&a.args, a.Options)
	}
	a.text = a.text[:0]
	if f.Kind == Invalid && f.Err != nil {
		a.err = f.Err
	} else if !a.write(f) {
		a.err = errFragment
	} else if err := a.parser.Feed(a.text); err != nil {
		a.err = err
	} else if f.Kind == End && len(f.Path) == 0 {
		a.err = a.parser.Close()
	}
	if a.err != nil || f.Kind != End {
		return Value{}, a.err
	}
	if len(f.Path) == 0 {
		return a.args.Document().Root(), nil
	}
	return a.args.Last(), nil
}

// Bytes returns the complete value; nil until the Done of the root.
func (a *FragmentAggregator) Bytes() []byte {
	if a.err != nil || a.value != rootDone {
		return nil
	}
	return a.args.Bytes()
}

// write appends the text of a fragment to a.text. It reports false if the fragment does not
// continue the ones before it.
func (a *FragmentAggregator) write(f *Fragment) bool {
	if a.value == rootDone || !a.enter(f.Path) {
		return false
	}
	closing := len(a.open) > len(f.Path)
	switch f.Kind {
	case String:
		if closing || a.value == afterScalar {
			return false
		}
		if a.value == unstarted {
			a.text = append(a.text, '"')
		}
		a.value = inString
		start := len(a.text)
		a.text = AppendQuote(a.text, f.Text)
		a.text = append(a.text[:start], a.text[start+1:len(a.text)-1]...)
		return true
	case Number, True, False, Null:
		if closing || a.value != unstarted {
			return false
		}
		a.value = afterScalar
		a.text = append(a.text, f.Text...)
		return true
	case End:
		return a.end(f, closing)
	}
	return false
}

// enter moves to the value at a path: it opens the containers on the way and begins the
// member or element.
func (a *FragmentAggregator) enter(path []Segment) bool {
	for depth, s := range path {
		if depth == len(a.open) {
			if a.value != unstarted || s.InArray && s.Index != 0 {
				return false
			}
			a.open = append(a.open, container{at: s})
			a.begin(s, true)
			continue
		}
		c := &a.open[depth]
		if !c.complete {
			if c.at != s {
				return false
			}
			continue
		}
		// The parser refuses a repeated key.
		next := s.InArray == c.at.InArray && (!s.InArray || s.Index == c.at.Index+1)
		if depth != len(a.open)-1 || !next {
			return false
		}
		*c = container{at: s}
		a.begin(s, false)
	}
	return len(a.open) <= len(path)+1
}

// begin writes the text before a member or element.
func (a *FragmentAggregator) begin(s Segment, first bool) {
	switch {
	case !first:
		a.text = append(a.text, ',')
	case s.InArray:
		a.text = append(a.text, '[')
	default:
		a.text = append(a.text, '{')
	}
	if !s.InArray {
		a.text = append(AppendQuote(a.text, s.Key), ':')
	}
}

// end ends the value of a Done; closing reports that a container is open in it.
func (a *FragmentAggregator) end(f *Fragment, closing bool) bool {
	last := len(a.open) - 1
	switch {
	case closing && !a.open[last].complete:
		return false
	case closing && f.Ended == Array && a.open[last].at.InArray:
		a.text, a.open = append(a.text, ']'), a.open[:last]
	case closing && f.Ended == Object && !a.open[last].at.InArray:
		a.text, a.open = append(a.text, '}'), a.open[:last]
	case closing:
		return false
	case f.Ended == String && a.value == inString:
		a.text = append(a.text, '"')
	case f.Ended == Number && a.value == afterScalar:
		a.text = append(a.text, ' ') // it ends the literal
	case f.Ended == Object && a.value == unstarted:
		a.text = append(a.text, "{}"...)
	case f.Ended == Array && a.value == unstarted:
		a.text = append(a.text, "[]"...)
	default:
		return false
	}
	a.value = unstarted
	if len(f.Path) == 0 {
		a.value = rootDone
		return true
	}
	a.open[len(f.Path)-1].complete = true
	return true
}
