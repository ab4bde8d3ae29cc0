package wire

import (
	"bytes"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire/sse"
)

// Repeat recognises an event that says what an earlier one said but for a few
// strings and counters. A stream is thousands of such events, and the earlier one
// was read in full: a text that is equal to an accepted one outside of some
// values, with values of the same kind in their place, is accepted too and has
// the same members, so that only these values need to be read again. That holds
// for the lines of the event as well, because no value has a line end in it: a
// run of such events is taken out of a stream in one pass over its bytes.
//
// The zero Repeat matches nothing.
type Repeat struct {
	unit    []byte // the event that was read in full
	payload int    // where its payload begins
	lines   int    // how much of it stands behind the payload
	plain   bool   // the unit is the payload in plain lines, as runs want it
	vary    [maxVary]variable
	n       int
	tail    []byte // what stands behind the values
	padding int    // where in it spaces may stand, -1 for nowhere

	last  []byte // that matched
	size  int    // of the texts in the last match or run
	found [maxVary]place

	decode, spell    bool
	decoded, spelled []byte
}

// maxVary is how many values of an event may differ.
const maxVary = 3

// variable is a value of the learned event that may differ.
type variable struct {
	front   []byte // what stands in front of it
	open    int    // its first byte
	end     int    // behind its last byte
	at      int    // which of Learn's values it is
	counter bool   // a whole number, else a string
}

// place is where a value stands.
type place struct{ from, to int }

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

const (
	// maxRepeat is the longest event that is remembered; copying a longer one costs
	// more than it saves. Runs take none that is twice as long, so that one that has
	// not arrived in full is not looked at again and again.
	maxRepeat = 4 << 10
	// maxRun is about how much a run collects.
	maxRun = 4 << 10
)

// Learn remembers an event that was read in full. The values are those in it that
// may differ: strings, and whole numbers that are not negative. Invalid ones stand
// for none. A value of another kind, or one too many, makes it match nothing.
func (r *Repeat) Learn(ev *sse.Event, values ...jsonstream.Value) {
	r.n, r.decode, r.spell = 0, false, false
	unit := ev.Raw
	if r.payload, r.plain = ev.Plain(); !r.plain {
		unit = ev.Data
	}
	if len(unit) > maxRepeat {
		return
	}
	r.unit = append(r.unit[:0], unit...)
	n := 0
	for at, v := range values {
		if !v.IsValid() {
			continue
		}
		from, to := v.Span()
		w := variable{open: r.payload + from, end: r.payload + to, at: at}
		if v.Kind() != jsonstream.String {
			w.counter = countLen(v.Raw()) == to-from
			if !w.counter {
				return
			}
		}
		if n == maxVary {
			return
		}
		i := n
		for ; i > 0 && r.vary[i-1].open > w.open; i-- {
			r.vary[i] = r.vary[i-1]
		}
		r.vary[i] = w
		n++
	}
	r.n = n
	r.divide(r.payload + len(ev.Data))
}

// divide finds what stands around the values. Some servers pad their events with spaces
// in front of the last brace to hide how long the texts are (WIRE 1.1 rule 10). They are
// not in a string: they say nothing.
func (r *Repeat) divide(stop int) {
	from := 0
	for i := range r.n {
		v := &r.vary[i]
		v.front, from = r.unit[from:v.open], v.end
	}
	r.tail, r.lines, r.padding = r.unit[from:], len(r.unit)-stop, -1
	if stop > from && r.unit[stop-1] == '}' {
		r.padding = len(bytes.TrimRight(r.unit[from:stop-1], " "))
	}
}

// Collect has the first of the values that were learned, a string, decoded: Decoded
// has its text after a match. With spelled, Spelled has it as it is written, too.
func (r *Repeat) Collect(spelled bool) { r.decode, r.spell = true, spelled }

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

// Forget makes Match and Run find nothing until something is learned.
func (r *Repeat) Forget() { r.n = 0 }

// Match reports whether a payload is a repetition. Found has its values then.
func (r *Repeat) Match(payload []byte) bool {
	if r.n == 0 {
		return false
	}
	r.last, r.decoded, r.spelled, r.size = payload, r.decoded[:0], r.spelled[:0], 0
	n := r.match(payload, r.payload, r.tail[:len(r.tail)-r.lines], &r.found)
	return n == len(payload) && n > 0
}

// Run finds the repetitions that a stream goes on with and that are there in full: how
// many bytes and how many events they are. None is longer than most. Found has the
// values of the last one, Decoded and Spelled the texts of all. A run may end in front
// of another repetition.
func (r *Repeat) Run(stream []byte, most int) (size, events int) {
	if r.n == 0 || !r.plain {
		return 0, 0
	}
	r.decoded, r.spelled, r.size = r.decoded[:0], r.spelled[:0], 0
	most = min(most, 2*maxRepeat)
	var found [2][maxVary]place // of every other one: the one that fails leaves its own
	for len(r.decoded)+len(r.spelled) < maxRun {
		n := r.match(stream[size:min(size+most, len(stream))], 0, r.tail, &found[events&1])
		if n == 0 {
			break
		}
		size += n
		events++
		r.last = stream[size-n:]
	}
	r.found = found[(events+1)&1]
	return size, events
}

// match is the length of the repetition that a text begins with, without what stands in
// front of a place in the unit and with this tail; 0 for none.
func (r *Repeat) match(text []byte, from int, tail []byte, found *[maxVary]place) int {
	decoded, rest := r.decoded, text
	for i := range r.n {
		v := &r.vary[i]
		front := v.front[from:]
		if len(rest) < len(front) || string(rest[:len(front)]) != string(front) {
			return 0
		}
		rest, from = rest[len(front):], 0
		n := 0
		switch {
		case v.counter:
			n = countLen(rest)
		case v.at == 0 && r.decode:
			decoded, n = jsonstream.AppendString(decoded, rest)
		default:
			n, _ = jsonstream.ScanString(rest)
		}
		if n == 0 {
			return 0
		}
		at := len(text) - len(rest)
		found[i] = place{at, at + n}
		rest = rest[n:]
	}
	n := r.behind(rest, tail)
	if n == 0 {
		return 0
	}
	if r.decode {
		r.decoded = decoded
	}
	first := r.place(found, 0)
	r.size += first.to - first.from - len(`""`)
	if r.spell {
		r.spelled = append(r.spelled, text[first.from+1:first.to-1]...)
	}
	return len(text) - len(rest) + n
}

// behind is the length of a tail that text begins with, padding included, 0 for none.
func (r *Repeat) behind(text, tail []byte) int {
	if bytes.HasPrefix(text, tail) {
		return len(tail)
	}
	if r.padding < 0 || !bytes.HasPrefix(text, tail[:r.padding]) {
		return 0
	}
	n := r.padding
	for n < len(text) && text[n] == ' ' {
		n++
	}
	end := bytes.TrimLeft(tail[r.padding:], " ")
	if !bytes.HasPrefix(text[n:], end) {
		return 0
	}
	return n + len(end)
}

// place is where the i-th of Learn's values stands.
func (r *Repeat) place(found *[maxVary]place, i int) place {
	for n := range r.n {
		if r.vary[n].at == i {
			return found[n]
		}
	}
	return place{}
}

// Size is how long the first of Learn's values, strings, are in the last match or run.
func (r *Repeat) Size() int { return r.size }

// Decoded is the collected text of the last match or run, until the next one.
func (r *Repeat) Decoded() []byte { return r.decoded }

// Spelled is the same as it is written between the quotes.
func (r *Repeat) Spelled() []byte { return r.spelled }

// Found returns the i-th of Learn's values in the last repetition; one that is not there
// is empty.
func (r *Repeat) Found(i int) Quoted {
	p := r.place(&r.found, i)
	raw := r.last[p.from:p.to]
	if len(raw) > 0 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	return Quoted{Raw: raw, Escaped: bytes.IndexByte(raw, '\\') >= 0}
}
