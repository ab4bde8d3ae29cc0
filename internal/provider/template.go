package provider

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/provider/sse"
	"github.com/stopgate/stopgate/jsonstream"
)

// EventTemplate matches events that differ from a learned event only in a few strings and
// counters. A stream consists of thousands of such events, and the learned event was parsed
// in full. An event that is equal outside these values, and has values of the same kind in
// their place, has the same members and is valid too, so only the values are read again.
// This includes the lines of the event, because no value contains a line end: a run of such
// events is recognised in one pass over its bytes.
//
// The zero EventTemplate matches no event.
type EventTemplate struct {
	unit      []byte // the learned event
	payloadAt int    // offset of its payload
	suffixLen int    // length of the unit after the payload
	canRun    bool   // the unit consists of the payload in plain lines, which Run requires
	variables [maxVariables]variable
	count     int
	tail      []byte // text after the last value
	paddingAt int    // offset in tail where padding spaces may occur, or -1
	padded    int    // offset in tail after the spaces there

	from     int    // where the matched text begins in the unit: at its payload, or at 0
	matched  []byte // the event that matched last
	textSize int    // length of the texts in the last match or run
	values   [maxVariables]span

	decode, encode, cut bool
	omitted             span // of the unit, left out of kept
	decoded, encoded    []byte
	kept                []byte
}

// maxVariables limits how many values of an event may differ: a text, padding, and counters.
const maxVariables = 8

// variable is a value of the learned event that may differ.
type variable struct {
	prefix []byte // text before the value
	start  int    // offset of its first byte
	end    int    // offset after its last byte
	index  int    // index of the value in the arguments of Learn
	number bool   // a whole number, otherwise a string
}

// span is the position of a value.
type span struct{ from, to int }

// Literal is a number, or the inside of a JSON string, as it is written.
type Literal struct {
	Raw     []byte
	Escaped bool
}

// Text returns the decoded text. It decodes into buf only if there is an escape.
func (q Literal) Text(buf []byte) (text, grown []byte) {
	if !q.Escaped {
		return q.Raw, buf
	}
	buf = jsonstream.AppendUnescaped(buf[:0], q.Raw)
	return buf, buf
}

const (
	// maxTemplate is the length of the longest event that is learned; copying a longer one
	// costs more than it saves. Run does not match events of twice this length, so that an
	// event that has not arrived in full is not compared again and again.
	maxTemplate = 4 << 10
	// maxRun is the approximate number of text bytes that a run collects.
	maxRun = 4 << 10
	// maxKept limits likewise what Kept returns.
	maxKept = 32 << 10
)

// Learn stores an event that was parsed in full. values are the values in it that may
// differ: strings and non-negative whole numbers; invalid Values are skipped. If there are
// too many values, or one of another kind, the template matches no event.
func (r *EventTemplate) Learn(ev *sse.Event, values ...jsonstream.Value) {
	r.count, r.decode, r.encode, r.cut = 0, false, false, false
	unit := ev.Raw
	if r.payloadAt, r.canRun = ev.PayloadOffset(); !r.canRun {
		unit = ev.Data
	}
	if len(unit) > maxTemplate {
		return
	}
	r.unit = append(r.unit[:0], unit...)
	n := 0
	for at, v := range values {
		if !v.IsValid() {
			continue
		}
		from, to := v.Span()
		w := variable{start: r.payloadAt + from, end: r.payloadAt + to, index: at}
		if v.Kind() != jsonstream.String {
			w.number = intLen(v.Raw()) == to-from
			if !w.number {
				return
			}
		}
		if n == maxVariables {
			return
		}
		i := n
		for ; i > 0 && r.variables[i-1].start > w.start; i-- {
			r.variables[i] = r.variables[i-1]
		}
		r.variables[i] = w
		n++
	}
	r.count = n
	r.split(r.payloadAt + len(ev.Data))
}

// split finds the text around the values. Some servers pad events with spaces before the
// last brace to hide the length of texts. These spaces are outside of strings and have no
// meaning.
func (r *EventTemplate) split(stop int) {
	from := 0
	for i := range r.count {
		v := &r.variables[i]
		v.prefix, from = r.unit[from:v.start], v.end
	}
	r.tail, r.suffixLen, r.paddingAt = r.unit[from:], len(r.unit)-stop, -1
	if stop > from && r.unit[stop-1] == '}' {
		r.paddingAt, r.padded = len(bytes.TrimRight(r.unit[from:stop-1], " ")), stop-1-from
	}
}

// Collect decodes the first learned value, a string: Decoded returns its text after a
// match. If encode is set, Encoded returns it as it is written.
func (r *EventTemplate) Collect(encode bool) { r.decode, r.encode = true, encode }

// Omit collects the events without a part of them, from one offset of the learned payload to another:
// Kept returns that after a match. The part must not begin or end inside a value that may differ.
func (r *EventTemplate) Omit(from, to int) {
	r.cut, r.omitted = true, span{r.payloadAt + from, r.payloadAt + to}
	for i := range r.count {
		v := &r.variables[i]
		if v.start < r.omitted.from && r.omitted.from < v.end || v.start < r.omitted.to && r.omitted.to < v.end {
			r.count = 0
			return
		}
	}
}

// Counters appends the non-negative whole numbers in a value, those of its own members first, until
// there are as many values as a template takes.
func Counters(dst []jsonstream.Value, v jsonstream.Value) []jsonstream.Value {
	if v.Kind() == jsonstream.Number && len(dst) < maxVariables && intLen(v.Raw()) == len(v.Raw()) {
		return append(dst, v)
	}
	for _, m := range v.Members() {
		if m.Kind() == jsonstream.Number {
			dst = Counters(dst, m)
		}
	}
	for _, m := range v.Members() {
		if m.Kind() == jsonstream.Object {
			dst = Counters(dst, m)
		}
	}
	return dst
}

// intLen returns the length of the whole number at the start of text, 0 if there is none or
// it does not fit into an int on every platform.
func intLen(text []byte) int {
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

// Learned reports whether the template can match an event.
func (r *EventTemplate) Learned() bool { return r.count > 0 }

// Reset makes Match and Run match no event until the next Learn.
func (r *EventTemplate) Reset() { r.count = 0 }

// Match reports whether a payload matches. Value returns its values then.
func (r *EventTemplate) Match(payload []byte) bool {
	if r.count == 0 {
		return false
	}
	r.matched, r.from, r.decoded, r.encoded, r.kept, r.textSize = payload, r.payloadAt, r.decoded[:0], r.encoded[:0], r.kept[:0], 0
	n := r.match(payload, r.payloadAt, r.tail[:len(r.tail)-r.suffixLen], &r.values)
	return n == len(payload) && n > 0
}

// Run matches the complete events at the start of stream, none of which is longer than
// most, and returns their length in bytes and their number. Value returns the values of the
// last one, Decoded, Encoded and Kept the texts of all. A run may end before another matching
// event.
func (r *EventTemplate) Run(stream []byte, limit int) (size, events int) {
	if r.count == 0 || !r.canRun {
		return 0, 0
	}
	r.from, r.decoded, r.encoded, r.kept, r.textSize = 0, r.decoded[:0], r.encoded[:0], r.kept[:0], 0
	limit = min(limit, 2*maxTemplate)
	var found [2][maxVariables]span // alternating, because a failed match overwrites its spans
	for len(r.decoded)+len(r.encoded) < maxRun && len(r.kept) < maxKept {
		n := r.match(stream[size:min(size+limit, len(stream))], 0, r.tail, &found[events&1])
		if n == 0 {
			break
		}
		size += n
		events++
		r.matched = stream[size-n:]
	}
	r.values = found[(events+1)&1]
	return size, events
}

// match returns the length of the matching event at the start of text, with the unit
// starting at from and with this tail; 0 if there is none.
func (r *EventTemplate) match(text []byte, from int, tail []byte, found *[maxVariables]span) int {
	decoded, rest := r.decoded, text
	for i := range r.count {
		v := &r.variables[i]
		front := v.prefix[from:]
		if len(rest) < len(front) || string(rest[:len(front)]) != string(front) {
			return 0
		}
		rest, from = rest[len(front):], 0
		n := 0
		switch {
		case v.number:
			n = intLen(rest)
		case v.index == 0 && r.decode:
			decoded, n = jsonstream.AppendString(decoded, rest)
		default:
			n, _ = jsonstream.ScanString(rest)
		}
		if n == 0 {
			return 0
		}
		at := len(text) - len(rest)
		found[i] = span{at, at + n}
		rest = rest[n:]
	}
	n := r.matchTail(rest, tail)
	if n == 0 {
		return 0
	}
	if r.decode {
		r.decoded = decoded
	}
	first := r.span(found, 0)
	r.textSize += first.to - first.from - len(`""`)
	if r.encode {
		r.encoded = append(r.encoded, text[first.from+1:first.to-1]...)
	}
	size := len(text) - len(rest) + n
	if r.cut {
		r.kept = append(r.kept, text[:r.position(r.omitted.from, found)]...)
		r.kept = append(r.kept, text[r.position(r.omitted.to, found):size]...)
	}
	return size
}

// position returns where an offset of the learned event is in the matched one.
func (r *EventTemplate) position(offset int, found *[maxVariables]span) int {
	at := offset - r.from
	for i := range r.count {
		if v := &r.variables[i]; v.end <= offset {
			at = found[i].to + offset - v.end
		}
	}
	return at
}

// matchTail returns the length of tail at the start of text, padding included; 0 if text
// does not start with it.
func (r *EventTemplate) matchTail(text, tail []byte) int {
	if r.paddingAt < 0 {
		if !bytes.HasPrefix(text, tail) {
			return 0
		}
		return len(tail)
	}
	n := r.paddingAt
	if !bytes.HasPrefix(text, tail[:n]) {
		return 0
	}
	for n < len(text) && text[n] == ' ' {
		n++
	}
	end := tail[r.padded:]
	if !bytes.HasPrefix(text[n:], end) {
		return 0
	}
	return n + len(end)
}

// span returns the position of the i-th value passed to Learn.
func (r *EventTemplate) span(found *[maxVariables]span, i int) span {
	for n := range r.count {
		if r.variables[n].index == i {
			return found[n]
		}
	}
	return span{}
}

// TextSize returns the length of the first values, which are strings, in the last match or
// run.
func (r *EventTemplate) TextSize() int { return r.textSize }

// Decoded returns the collected text of the last match or run. It is valid until the next
// one.
func (r *EventTemplate) Decoded() []byte { return r.decoded }

// Encoded returns the same text as it is written between the quotes.
func (r *EventTemplate) Encoded() []byte { return r.encoded }

// Kept returns the events of the last match or run without the part that Omit names; after a match,
// their payload. It is valid until the next one.
func (r *EventTemplate) Kept() []byte { return r.kept }

// Section returns the part of the last matching event that is from one offset of the learned payload
// to another.
func (r *EventTemplate) Section(from, to int) []byte {
	return r.matched[r.position(r.payloadAt+from, &r.values):r.position(r.payloadAt+to, &r.values)]
}

// Value returns the i-th value passed to Learn, in the last matching event; an absent value
// is empty.
func (r *EventTemplate) Value(i int) Literal {
	p := r.span(&r.values, i)
	raw := r.matched[p.from:p.to]
	if len(raw) > 0 && raw[0] == '"' {
		raw = raw[1 : len(raw)-1]
	}
	return Literal{Raw: raw, Escaped: bytes.IndexByte(raw, '\\') >= 0}
}
