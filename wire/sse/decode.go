package sse

import (
	"bytes"
	"errors"
	"sync"
)

// The limits of WIRE 1.2.
const (
	DefaultMaxEvent  = 32 << 20 // bytes of one event, all its lines
	DefaultMaxFiller = 64 << 10 // bytes that are no event between two events
)

// minBuffer is the least size of a buffer.
const minBuffer = 512

// keep is the largest buffer that a decoder keeps between two events; one huge
// event does not make a stream expensive for the rest of its life.
const keep = 16 << 10

// Errors of Next. Both end the stream with limit_exceeded (WIRE 1.2, F13).
var (
	ErrEventTooLarge = errors.New("sse: an event exceeds the size limit")
	ErrTooMuchFiller = errors.New("sse: too many comment or unknown bytes between two events")
)

// WideBuffer is the size of the buffers of Limits.Wide.
const WideBuffer = 32 << 10

// Limits bounds what a stream may cost. Zero means the default.
type Limits struct {
	MaxEvent  int
	MaxFiller int

	// Wide lends a *[WideBuffer]byte to a stream while its reads fill its own
	// buffer: a fast stream is read, and written on, in fewer steps, and a slow
	// one costs no more for it. Nil: none. Use Close with it.
	Wide *sync.Pool
}

// Decoder finds the events in a stream. Use NewDecoder or Reset first.
type Decoder struct {
	limits Limits
	home   []byte // the caller's buffer, used again after a large event
	buf    []byte
	wide   *[WideBuffer]byte // buf, if it is lent
	start  int               // of the current unit
	end    int               // of what was read
	line   int               // start of the current line
	scan   int               // in buf[line:scan] is no line end
	lf     int               // in buf[scan:lf] is no LF
	cr     int               // in buf[scan:cr] is no CR
	last   int               // bytes of the last read
	err    error

	begun   bool // the byte order mark was looked for
	swallow bool // the last unit ended in a CR at the end of a read: an LF belongs to it
	filler  int  // bytes since the last event that belong to none

	unit unit
}

// unit is what is known of the unit that is being read. Positions are relative
// to Decoder.start, because the bytes move.
type unit struct {
	fields    bool // a field line was seen
	reframe   bool
	noise     int // bytes of unknown fields and comments in it
	lines     int // data lines
	data      span
	typ       span
	id, retry span
	join      []byte // the payload, if it has several lines
}

type span struct{ from, to int }

func (s span) of(raw []byte) []byte {
	if s.from == 0 { // a value never stands at the start of a unit
		return nil
	}
	return raw[s.from:s.to:s.to]
}

// NewDecoder returns a decoder that reads into buf and grows beyond it only for
// an event that does not fit.
func NewDecoder(buf []byte, limits Limits) *Decoder {
	d := new(Decoder)
	d.Reset(buf, limits)
	return d
}

// Reset makes the decoder ready for another stream.
func (d *Decoder) Reset(buf []byte, limits Limits) {
	if len(buf) < minBuffer {
		buf = make([]byte, minBuffer)
	}
	if limits.MaxEvent <= 0 {
		limits.MaxEvent = DefaultMaxEvent
	}
	if limits.MaxFiller <= 0 {
		limits.MaxFiller = DefaultMaxFiller
	}
	join := d.unit.join[:0]
	if cap(join) > keep {
		join = nil
	}
	*d = Decoder{limits: limits, home: buf, buf: buf, lf: -1, cr: -1, unit: unit{join: join}}
}

// Space returns the free part of the buffer, never empty. It ends the life of
// every Event that Next has filled in.
func (d *Decoder) Space() []byte {
	old, lent := d.buf, d.wide
	switch n := d.end - d.start; {
	case n == len(d.buf):
		d.buf, d.wide = make([]byte, 2*len(d.buf)), nil
	case len(d.buf) > keep && d.last < len(d.home) && n < len(d.home)/2:
		d.buf, d.wide = d.home, nil
	case d.limits.Wide != nil && d.end == len(d.buf) && d.last >= len(d.home)/2 && len(d.buf) < WideBuffer:
		d.wide = d.limits.Wide.Get().(*[WideBuffer]byte)
		d.buf = d.wide[:]
	}
	if d.start > 0 || len(d.buf) != len(old) {
		copy(d.buf, old[d.start:d.end])
		d.end -= d.start
		d.line -= d.start
		d.scan -= d.start
		d.lf = max(d.lf-d.start, -1)
		d.cr = max(d.cr-d.start, -1)
		d.start = 0
	}
	if lent != nil && d.wide == nil {
		d.limits.Wide.Put(lent)
	}
	return d.buf[d.end:]
}

// Close ends the use of the decoder, up to the next Reset, and of every Event: it
// gives back what was lent.
func (d *Decoder) Close() {
	if d.wide != nil {
		d.limits.Wide.Put(d.wide)
	}
	d.buf, d.wide, d.start, d.end = d.home, nil, 0, 0
}

// Filled says that n bytes were read into what Space returned.
func (d *Decoder) Filled(n int) {
	d.end += n
	d.last = n
}

// Feed copies p into the buffer. It is for callers that hold the bytes already.
func (d *Decoder) Feed(p []byte) {
	for len(p) > 0 {
		n := copy(d.Space(), p)
		d.Filled(n)
		p = p[n:]
	}
}

// Tail returns what was read and does not make a unit yet. At the end of input
// it is discarded, and if it is not empty the stream counts as cut (WIRE 1.1
// rule 7).
func (d *Decoder) Tail() []byte {
	if d.swallow && d.start < d.end && d.buf[d.start] == '\n' {
		return d.buf[d.start+1 : d.end]
	}
	return d.buf[d.start:d.end]
}

// Next fills e with the next complete unit. It returns false when more bytes are
// needed, and an error when a limit was exceeded; the error stays.
func (d *Decoder) Next(e *Event) (bool, error) {
	if d.err != nil || !d.begin() {
		return false, d.err
	}
	for {
		stop, next := d.lineEnd()
		if next < 0 {
			d.err = d.exceeded()
			return false, d.err
		}
		if stop == d.line {
			return d.finish(e, next)
		}
		if d.common(e, stop, next) {
			return true, nil
		}
		if next == d.end && d.buf[next-1] == '\r' {
			// Whether an LF belongs to this line end is not known yet, and nothing
			// is dispatched by it: it can wait.
			d.scan = stop
			return false, nil
		}
		if d.buf[d.line] == ':' && !d.unit.fields {
			d.mark(stop, next, true)
			return d.finish(e, next)
		}
		d.field(stop, next)
		d.line, d.scan = next, next
	}
}

// begin handles what can stand in front of a unit: the LF of a CRLF that was cut
// in two, and the byte order mark of the stream. It reports whether it is done.
func (d *Decoder) begin() bool {
	if d.swallow && d.start < d.end {
		d.swallow = false
		if d.buf[d.start] == '\n' {
			d.start++
			d.line, d.scan = d.start, d.start
		}
	}
	if d.begun {
		return true
	}
	have := d.buf[d.start:d.end]
	n := min(len(have), len(byteOrderMark))
	if string(have[:n]) == byteOrderMark[:n] {
		if n < len(byteOrderMark) {
			return false
		}
		d.start += n
		d.line, d.scan = d.start, d.start
		d.unit.reframe = true
	}
	d.begun = true
	return true
}

const byteOrderMark = "\xEF\xBB\xBF"

// lineEnd returns where the current line's text stops and where the next line
// begins, or -1 for the latter if the line is not complete.
func (d *Decoder) lineEnd() (stop, next int) {
	d.lf = d.find('\n', d.lf)
	d.cr = d.find('\r', d.cr)
	switch {
	case d.cr < d.lf && d.cr+1 == d.lf && d.lf < d.end:
		return d.cr, d.cr + 2
	case d.cr < d.lf:
		return d.cr, d.cr + 1
	case d.lf < d.end:
		return d.lf, d.lf + 1
	}
	d.scan = d.end
	return 0, -1
}

// find returns where c stands first in buf[scan:end], or end. Up to from there is
// none. So both ends of lines are looked for once in every byte, and a stream
// without CR pays for one look at each read.
func (d *Decoder) find(c byte, from int) int {
	from = max(from, d.scan)
	if from == d.end || d.buf[from] == c {
		return from
	}
	if i := bytes.IndexByte(d.buf[from:d.end], c); i >= 0 {
		return from + i
	}
	return d.end
}

// common reads the unit that streams are made of: one data line that ends in LF,
// and a blank line. It reports whether the unit is one; d is unchanged if not.
func (d *Decoder) common(e *Event, stop, next int) bool {
	const name = "data:"
	if d.line != d.start || d.unit.reframe || next >= d.end || d.buf[stop] != '\n' || d.buf[next] != '\n' ||
		stop-d.start < len(name) || string(d.buf[d.start:d.start+len(name)]) != name || next+1-d.start > d.limits.MaxEvent {
		return false
	}
	at := len(name)
	if d.buf[d.start+at] == ' ' { // there is a byte: the line end
		at++
	}
	raw := d.buf[d.start : next+1 : next+1]
	*e = Event{Raw: raw, Data: raw[at : stop-d.start : stop-d.start], Dispatched: true, dataAt: at}
	d.filler = 0
	d.start, d.line, d.scan = next+1, next+1, next+1
	return true
}

// field reads one complete line that is not blank and not a leading comment
// (WIRE 1.1 rules 4 and 5).
func (d *Decoder) field(stop, next int) {
	u := &d.unit
	line := d.buf[d.line:stop]
	if line[0] == ':' {
		d.mark(stop, next, true)
		return
	}
	u.fields = true
	name, value := line, len(line)
	if i := bytes.IndexByte(line, ':'); i >= 0 {
		name, value = line[:i], i+1
		if value < len(line) && line[value] == ' ' {
			value++
		}
	}
	at := d.line - d.start
	s := span{at + value, at + len(line)}
	switch string(name) {
	case "data":
		u.lines++
		switch u.lines {
		case 1:
			u.data = s
		case 2:
			u.join = append(u.join[:0], u.data.of(d.buf[d.start:d.end])...)
			fallthrough
		default:
			u.join = append(append(u.join, '\n'), line[value:]...)
		}
		if d.buf[next-1] == '\r' {
			u.reframe = true
		}
		return
	case "event":
		u.typ = s
	case "id":
		if bytes.IndexByte(line[value:], 0) < 0 {
			u.id = s
		}
	case "retry":
		if digits(line[value:]) {
			u.retry = s
		}
	default:
		d.mark(stop, next, true)
		return
	}
	d.mark(stop, next, false)
}

// mark notes what a line without payload means for the framing.
func (d *Decoder) mark(stop, next int, noise bool) {
	if noise {
		d.unit.noise += next - d.line
	}
	if d.buf[next-1] == '\r' || bytes.IndexByte(d.buf[d.line:stop], 0) >= 0 {
		d.unit.reframe = true
	}
}

// finish hands out the unit that ends before next.
func (d *Decoder) finish(e *Event, next int) (bool, error) {
	u := &d.unit
	raw := d.buf[d.start:next:next]
	size := len(raw)
	if raw[size-1] == '\r' {
		size++ // with the LF that may follow, so that the limits do not depend on the cut
	}
	if u.lines > 0 {
		d.filler += u.noise
	} else {
		d.filler += size
	}
	if size > d.limits.MaxEvent {
		d.err = ErrEventTooLarge
	} else if d.filler > d.limits.MaxFiller {
		d.err = ErrTooMuchFiller
	}
	if d.err != nil {
		return false, d.err
	}
	*e = Event{Raw: raw, Type: u.typ.of(raw), id: u.id.of(raw), retry: u.retry.of(raw), dataAt: -1, reframe: u.reframe}
	if u.lines > 0 {
		e.Dispatched = true
		d.filler = 0
		if u.lines == 1 {
			e.Data, e.dataAt = u.data.of(raw), u.data.from
		} else {
			e.Data = u.join
		}
	}
	d.swallow = raw[len(raw)-1] == '\r'
	d.start, d.line, d.scan = next, next, next
	d.unit = unit{join: u.join}
	return true, nil
}

// exceeded checks the limits on what is still incomplete.
func (d *Decoder) exceeded() error {
	if d.end-d.start > d.limits.MaxEvent {
		return ErrEventTooLarge
	}
	filler := d.filler + d.unit.noise
	if line := d.buf[d.line:d.end]; !known(line) {
		filler += len(line)
	}
	if filler > d.limits.MaxFiller {
		return ErrTooMuchFiller
	}
	return nil
}

// known reports whether the beginning of a line can be that of a field that
// counts.
func known(line []byte) bool {
	for _, name := range [...]string{"data:", "event:", "id:", "retry:"} {
		n := min(len(name), len(line))
		if string(line[:n]) == name[:n] {
			return true
		}
	}
	return false
}

func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}
