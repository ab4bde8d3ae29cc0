package sse

// Decoder finds the events in a stream. Use NewDecoder or Reset first.
type Decoder struct {
	limits Limits
	home   []byte // the caller's buffer, used again after a large event
	buf    []byte
	lent   *buffer // buf, if it is not home
	start  int     // of the current unit
	end    int     // of what was read
	line   int     // start of the current line
	scan   int     // in buf[line:scan] is no line end
	lf     int     // in buf[scan:lf] is no LF
	cr     int     // in buf[scan:cr] is no CR
	last   int     // bytes of the last read
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

// Tail returns what was read and does not make a unit yet. At the end of input
// it is discarded, and if it is not empty the stream counts as cut (WIRE 1.1
// rule 7).
func (d *Decoder) Tail() []byte {
	if d.swallow && d.start < d.end && d.buf[d.start] == '\n' {
		return d.buf[d.start+1 : d.end]
	}
	return d.buf[d.start:d.end]
}

// Rest returns what was read behind the last unit, for a caller that recognises how
// it goes on and then calls Skip.
func (d *Decoder) Rest() []byte {
	if d.err != nil || !d.begin() {
		return nil
	}
	return d.buf[d.start:d.end]
}

// Skip takes the first n bytes of Rest: whole units, each of them Plain and not longer
// than the limit.
func (d *Decoder) Skip(n int) {
	if n == 0 {
		return
	}
	d.start += n
	d.line, d.scan = d.start, d.start
	d.filler = 0
	d.unit = unit{join: d.unit.join}
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
		if d.common(e, stop, next) || d.named(e, stop, next) {
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
