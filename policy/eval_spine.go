package policy

import "strconv"

// spine remembers where in the document an evaluation stands, so that a verdict
// can name the value that caused it. The text of a pointer is written only when
// somebody asks for it.
type spine struct {
	steps []step
	keys  []byte // the keys of the open objects, one after the other
	text  []byte // the pointers that were asked for
	last  span   // the pointer of the current place, if it was asked for
	fresh bool   // last is still the current place
}

// step is one open container: the key or the index of its current member.
type step struct {
	array      bool
	index      int32
	start, end int32 // the key in keys
}

func (p *spine) reset() {
	p.steps, p.keys, p.text = p.steps[:0], p.keys[:0], p.text[:0]
	p.last, p.fresh = span{}, false
}

func (p *spine) push(array bool) {
	n := int32(len(p.keys))
	p.steps = append(p.steps, step{array: array, index: -1, start: n, end: n})
	p.fresh = false
}

func (p *spine) pop() {
	p.keys = p.keys[:p.steps[len(p.steps)-1].start]
	p.steps = p.steps[:len(p.steps)-1]
	p.fresh = false
}

// key moves to a member of the innermost object.
func (p *spine) key(key []byte) {
	top := &p.steps[len(p.steps)-1]
	p.keys = append(p.keys[:top.start], key...)
	top.index, top.end = 0, int32(len(p.keys))
	p.fresh = false
}

// element moves to the next element if the innermost container is an array.
func (p *spine) element() {
	if n := len(p.steps); n > 0 && p.steps[n-1].array {
		p.steps[n-1].index++
		p.fresh = false
	}
}

// mark writes the pointer of the current place and returns where it stands.
func (p *spine) mark() span {
	if p.fresh {
		return p.last
	}
	start := int32(len(p.text))
	for i := range p.steps {
		switch s := &p.steps[i]; {
		case s.index < 0:
		case s.array:
			p.text = strconv.AppendInt(append(p.text, '/'), int64(s.index), 10)
		default:
			p.text = appendToken(p.text, p.keys[s.start:s.end])
		}
	}
	p.last, p.fresh = span{start, int32(len(p.text))}, true
	return p.last
}

// maxKept is how much of a value's text is kept for explanations.
const maxKept = 4 << 10

// keep writes the text of the current value and returns where it stands, nothing if
// it is long.
func (p *spine) keep(text []byte) span {
	if len(text) > maxKept {
		return span{}
	}
	start := int32(len(p.text))
	p.text = append(p.text, text...)
	return span{start, int32(len(p.text))}
}

// pointer returns the text of a mark.
func (p *spine) pointer(s span) []byte { return p.text[s.start:s.end] }

// appendToken appends a reference token with its escapes (RFC 6901 section 3).
func appendToken(dst, token []byte) []byte {
	dst = append(dst, '/')
	for _, c := range token {
		switch c {
		case '~':
			dst = append(dst, "~0"...)
		case '/':
			dst = append(dst, "~1"...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}
