package wire

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
)

// Repeat recognises an event that says what an earlier one said but for a few
// strings and counters. A stream is thousands of such events, and the earlier one
// was read in full: a text that is equal to an accepted one outside of some
// values, with values of the same kind in their place, is accepted too and has
// the same members, so that only these values need to be read again.
//
// The zero Repeat matches nothing.
type Repeat struct {
	text  []byte // the event that was read in full
	vary  [maxVary]variable
	n     int
	found [maxVary]Quoted // in the order of Learn's values

	decode  bool
	decoded []byte // the first of them, if it is wanted so
}

// maxVary is how many values of an event may differ.
const maxVary = 3

// variable is a value of the learned text that may differ.
type variable struct {
	open    int  // its first byte
	end     int  // behind its last byte
	at      int  // in found
	counter bool // a whole number, else a string
}

// Quoted is the inside of a JSON string, or a number, as it is written.
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

// Learn remembers an event that was read in full. The values are those in it that
// may differ: strings, and whole numbers that are not negative. Invalid ones stand
// for none. A value of another kind, or one too many, makes it match nothing.
func (r *Repeat) Learn(text []byte, values ...jsonstream.Value) {
	r.n, r.decode = 0, false
	if len(text) > maxRepeat {
		return
	}
	r.text = append(r.text[:0], text...)
	n := 0
	for at, v := range values {
		r.found[min(at, maxVary-1)] = Quoted{}
		if !v.IsValid() {
			continue
		}
		from, to := v.Span()
		w := variable{open: from, end: to, at: at}
		if v.Kind() != jsonstream.String {
			w.counter = countLen(text[from:to]) == to-from
			if !w.counter {
				return
			}
		}
		if n == maxVary || at >= maxVary {
			return
		}
		i := n
		for ; i > 0 && r.vary[i-1].open > from; i-- {
			r.vary[i] = r.vary[i-1]
		}
		r.vary[i] = w
		n++
	}
	r.n = n
}

// countLen is the length of the whole number that a text begins with, 0 for none
// or for one that does not fit into an int everywhere.
func countLen(text []byte) int {
	const digits = 9
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	if n > digits || n > 1 && text[0] == '0' {
		return 0
	}
	return n
}

// Forget makes Match answer false until something is learned.
func (r *Repeat) Forget() { r.n = 0 }

// LearnDecoded is Learn for a caller that wants the first of the values, a string,
// decoded: Decoded has its text after a match.
func (r *Repeat) LearnDecoded(text []byte, values ...jsonstream.Value) {
	r.Learn(text, values...)
	r.decode = true
}

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
		var n int
		escaped := false
		switch {
		case v.counter:
			n = countLen(text[at:])
			r.found[v.at] = Quoted{Raw: text[at : at+n]}
		case v.at == 0 && r.decode:
			r.decoded, n = jsonstream.AppendString(r.decoded[:0], text[at:])
			escaped = n != len(r.decoded)+2
		default:
			n, escaped = jsonstream.ScanString(text[at:])
		}
		if n == 0 {
			return false
		}
		if !v.counter {
			r.found[v.at] = Quoted{Raw: text[at+1 : at+n-1], Escaped: escaped}
		}
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

// Decoded is the text of the first of LearnDecoded's values in the last match, until
// the next one.
func (r *Repeat) Decoded() []byte { return r.decoded }

// Found returns the i-th of Learn's values in the last match.
func (r *Repeat) Found(i int) Quoted { return r.found[i] }
