package naive

import "strings"

// Fault is what is wrong with a text.
type Fault struct {
	Code  string
	At    int
	Ended bool // the text ends too early, which no byte of it shows
}

// Limits of the text.
const (
	maxDepth   = 128
	maxMembers = 10_000
	maxKey     = 1 << 10

	maxExponent = 1_000_000
)

type reader struct {
	text  string
	pos   int
	depth int
}

// Read parses one strict JSON text. On a fault the tree holds what was known
// before it, with Never as the end of everything that is not complete.
func Read(text string) (*Node, *Fault) {
	r := &reader{text: text}
	root, fault := r.document()
	if fault != nil && fault.At > len(text) {
		fault.At = len(text)
	}
	return root, fault
}

func (r *reader) document() (*Node, *Fault) {
	r.space()
	if r.pos == len(r.text) {
		return nil, r.fault("malformed_arguments")
	}
	if c := r.text[r.pos]; c != '{' {
		if strings.IndexByte(`["-0123456789tfn`, c) < 0 {
			return nil, r.fault("malformed_arguments")
		}
		return nil, r.fault("non_object_root")
	}
	root := &Node{}
	if f := r.value(root); f != nil {
		return root, f
	}
	r.space()
	if r.pos < len(r.text) {
		return root, r.fault("trailing_data")
	}
	return root, nil
}

// fault blames the byte at the current position.
func (r *reader) fault(code string) *Fault {
	if r.pos >= len(r.text) && code == "malformed_arguments" && strings.TrimSpace(r.text) != "" {
		code = "truncated_arguments"
	}
	return &Fault{Code: code, At: r.pos + 1, Ended: r.pos >= len(r.text)}
}

func (r *reader) space() {
	for r.pos < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *reader) byte() byte {
	if r.pos < len(r.text) {
		return r.text[r.pos]
	}
	return 0
}

func (r *reader) take(c byte) *Fault {
	if r.pos >= len(r.text) || r.text[r.pos] != c {
		return r.fault("malformed_arguments")
	}
	r.pos++
	return nil
}

func (r *reader) value(n *Node) *Fault {
	n.Start, n.End = r.pos+1, Never
	switch c := r.byte(); {
	case c == '{':
		return r.object(n)
	case c == '[':
		return r.array(n)
	case c == '"':
		n.Kind = String
		return r.str(&n.Text, &n.Ends, &n.End)
	case c == '-' || '0' <= c && c <= '9':
		n.Start = Never // not known to be a value before its end
		return r.number(n)
	}
	start := n.Start
	n.Start = Never
	for word, kind := range map[string]string{"true": Bool, "false": Bool, "null": Null} {
		if r.byte() != word[0] {
			continue
		}
		for i := range len(word) {
			if f := r.take(word[i]); f != nil {
				return f
			}
		}
		n.Kind, n.Text = kind, word
		return r.ended(n, start)
	}
	return r.fault("malformed_arguments")
}

func (r *reader) enter() *Fault {
	if r.depth++; r.depth > maxDepth {
		return r.fault("limit_exceeded")
	}
	r.pos++
	r.space()
	return nil
}

func (r *reader) object(n *Node) *Fault {
	n.Kind = Object
	if f := r.enter(); f != nil {
		return f
	}
	seen := map[string]bool{}
	for first := true; r.byte() != '}' || !first; first = false {
		if !first {
			if r.byte() == '}' {
				break
			}
			if f := r.take(','); f != nil {
				return f
			}
			r.space()
		}
		if r.byte() != '"' || r.pos >= len(r.text) {
			return r.fault("malformed_arguments")
		}
		if len(n.Members) == maxMembers {
			return r.fault("limit_exceeded")
		}
		m := Member{Value: &Node{Start: Never, End: Never}}
		var ends []int
		if f := r.str(&m.Key, &ends, &m.At); f != nil {
			return f
		}
		if seen[m.Key] {
			return &Fault{Code: "duplicate_key", At: m.At}
		}
		seen[m.Key] = true
		n.Members = append(n.Members, m)
		r.space()
		if f := r.take(':'); f != nil {
			return f
		}
		r.space()
		if f := r.value(m.Value); f != nil {
			return f
		}
		r.space()
	}
	r.pos++
	r.depth--
	n.End = r.pos
	return nil
}

func (r *reader) array(n *Node) *Fault {
	n.Kind = Array
	if f := r.enter(); f != nil {
		return f
	}
	for first := true; r.byte() != ']'; first = false {
		if !first {
			if f := r.take(','); f != nil {
				return f
			}
			r.space()
		}
		e := &Node{Start: Never, End: Never}
		n.Elems = append(n.Elems, e)
		if f := r.value(e); f != nil {
			return f
		}
		r.space()
	}
	r.pos++
	r.depth--
	n.End = r.pos
	return nil
}
