package wire

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
)

// Repeat recognises an event that says what an earlier one said but for the text
// of one or two strings. A stream is thousands of such events, and the earlier
// one was read in full: a text that is equal to an accepted one outside of some
// string values, with valid strings in their place, is accepted too and has the
// same members, so that only the strings need to be read again.
//
// The zero Repeat matches nothing.
type Repeat struct {
	text []byte // the event that was read in full
	vary [2]struct {
		open int // its opening quote in text
		end  int // behind its closing quote
	}
	n     int
	found [2]Quoted
}

// Quoted is the inside of a JSON string, as it is written.
type Quoted struct {
	Raw     []byte
	Escaped bool
}

// Text returns the decoded text; it appends to buf only if there is an escape.
func (q Quoted) Text(buf []byte) (text, grown []byte) {
	if !q.Escaped {
		return q.Raw, buf
	}
	buf = jsonstream.AppendUnescaped(buf[:0], q.Raw)
	return buf, buf
}

// maxRepeat is the longest event that is remembered; copying a longer one costs
// more than it saves.
const maxRepeat = 4 << 10

// Learn remembers an event that was read in full. The values are the strings in
// it that may differ; the second one may be invalid, for none.
func (r *Repeat) Learn(text []byte, first, second jsonstream.Value) {
	r.n = 0
	if len(text) > maxRepeat {
		return
	}
	if from, _ := second.Span(); second.IsValid() {
		if other, _ := first.Span(); from < other {
			first, second = second, first
		}
	}
	r.text = append(r.text[:0], text...)
	for _, v := range [...]jsonstream.Value{first, second} {
		if v.IsValid() {
			from, to := v.Span()
			r.vary[r.n].open, r.vary[r.n].end = from, to
			r.n++
		}
	}
}

// Forget makes Match answer false until something is learned.
func (r *Repeat) Forget() { r.n = 0 }

// Match reports whether an event is a repetition. Found has its strings then.
func (r *Repeat) Match(text []byte) bool {
	if r.n == 0 {
		return false
	}
	at, from := 0, 0 // in text, in r.text
	for i := range r.n {
		v := &r.vary[i]
		fixed := v.open - from
		if len(text)-at < fixed || !bytes.Equal(text[at:at+fixed], r.text[from:v.open]) {
			return false
		}
		at += fixed
		n, escaped := jsonstream.ScanString(text[at:])
		if n == 0 {
			return false
		}
		r.found[i] = Quoted{Raw: text[at+1 : at+n-1], Escaped: escaped}
		at += n
		from = v.end
	}
	return equalButPadding(text[at:], r.text[from:])
}

// equalButPadding compares what stands behind the strings but for spaces in front
// of the last brace: some servers pad their events with them to hide how long the
// texts are (WIRE 1.1 rule 10). They are not in a string, so they say nothing.
func equalButPadding(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	n, m := len(a), len(b)
	if n > 0 && m > 0 && a[n-1] == '}' && b[m-1] == '}' {
		a, b = bytes.TrimRight(a[:n-1], " "), bytes.TrimRight(b[:m-1], " ")
	}
	return bytes.Equal(a, b)
}

// Found returns the strings of the last match, in the order of the text.
func (r *Repeat) Found() []Quoted { return r.found[:r.n] }
