package eval

import (
	"strconv"

	"github.com/stopgate/stopgate/jsonstream"
)

// spine tracks the position of an evaluation in the document, so that a verdict can name the value
// that caused it.
type spine struct {
	steps  []step
	arrays int    // among them
	way    []byte // pointer of the current position, without array indexes
	text   []byte // the pointers that were requested
	last   span   // pointer of the current position, if it was requested
	fresh  bool   // last is up to date
}

// step is one open container: the key or the index of its current member.
type step struct {
	array      bool
	index      int32
	start, end int32 // the reference token of the key in way
}

func (p *spine) reset() {
	p.steps, p.arrays, p.way, p.text, p.last, p.fresh = p.steps[:0], 0, p.way[:0], p.text[:0], span{}, false
}

func (p *spine) push(array bool) {
	n := int32(len(p.way))
	p.steps = append(p.steps, step{array: array, index: -1, start: n, end: n})
	if p.fresh = false; array {
		p.arrays++
	}
}

func (p *spine) pop() {
	top := &p.steps[len(p.steps)-1]
	if p.way = p.way[:top.start]; top.array {
		p.arrays--
	}
	p.steps, p.fresh = p.steps[:len(p.steps)-1], false
}

// key moves to a member of the innermost object.
func (p *spine) key(key []byte) {
	top := &p.steps[len(p.steps)-1]
	p.way = jsonstream.AppendToken(p.way[:top.start], key)
	top.end, p.fresh = int32(len(p.way)), false
}

// element moves to the next element if the innermost container is an array.
func (p *spine) element() {
	if n := len(p.steps); n > 0 && p.steps[n-1].array {
		p.steps[n-1].index++
		p.fresh = false
	}
}

// mark writes the pointer of the current position and returns its span.
func (p *spine) mark() span {
	if p.fresh {
		return p.last
	}
	start := int32(len(p.text))
	if p.arrays == 0 {
		p.text = append(p.text, p.way...)
	} else {
		for i := range p.steps {
			s := &p.steps[i]
			p.text = append(p.text, p.way[s.start:s.end]...)
			if s.array && s.index >= 0 {
				p.text = strconv.AppendInt(append(p.text, '/'), int64(s.index), 10)
			}
		}
	}
	p.last, p.fresh = span{start, int32(len(p.text))}, true
	return p.last
}

// maxKept is the length of the part of a value's text that is kept for explanations.
const maxKept = 4 << 10

// keep writes the text of the current value and returns its span, empty if the text is long.
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
