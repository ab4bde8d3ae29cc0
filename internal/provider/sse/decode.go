package sse

// Decoder splits a stream into units. Create it with NewDecoder, or call Reset first.
type Decoder struct {
	limits Limits
	base   []byte // the caller's buffer, used again after a large event
	buf    []byte
	pooled *buffer // owner of buf if buf is not base
	start  int     // of the current unit
	end    int     // of the bytes that were read
	line   int     // start of the current line
	scan   int     // buf[line:scan] contains no line end
	lf     int     // buf[scan:lf] contains no LF
	cr     int     // buf[scan:cr] contains no CR
	last   int     // bytes of the last read
	err    error

	started bool // the byte order mark was checked
	skipLF  bool // the last unit ended in a CR at the end of a read: a following LF belongs to it
	filler  int  // bytes since the last event that belong to no event

	unit unit
}

// unit is the state of the unit that is being read. Positions are relative to
// Decoder.start, because Space moves the bytes.
type unit struct {
	fields    bool // a field line was read
	reframe   bool
	ignored   int // bytes of unknown fields and comments in the unit
	lines     int // number of data lines
	data      span
	typ       span
	id, retry span
	join      []byte // the payload, if it has several lines
}

type span struct{ from, to int }

func (s span) of(raw []byte) []byte {
	if s.from == 0 { // a value is never at the start of a unit
		return nil
	}
	return raw[s.from:s.to:s.to]
}

// Tail returns the bytes that do not form a complete unit yet. At the end of input they are
// discarded, and the stream counts as truncated if there are any.
func (d *Decoder) Tail() []byte {
	if d.skipLF && d.start < d.end && d.buf[d.start] == '\n' {
		return d.buf[d.start+1 : d.end]
	}
	return d.buf[d.start:d.end]
}

// Rest returns the bytes after the last unit, for a caller that recognises the following
// units itself and then calls Skip.
func (d *Decoder) Rest() []byte {
	if d.err != nil || !d.skipPrefix() {
		return nil
	}
	return d.buf[d.start:d.end]
}

// Skip skips the first n bytes of Rest, which are whole units. Each of them has a
// PayloadOffset and does not exceed the limit.
func (d *Decoder) Skip(n int) {
	if n == 0 {
		return
	}
	d.start += n
	d.line, d.scan = d.start, d.start
	d.filler = 0
	d.unit = unit{join: d.unit.join}
}

// Next fills e with the next complete unit. It returns false if more bytes are needed, and
// an error if a limit was exceeded. The error is permanent.
func (d *Decoder) Next(e *Event) (bool, error) {
	if d.err != nil || !d.skipPrefix() {
		return false, d.err
	}
	for {
		stop, next := d.lineEnd()
		if next < 0 {
			d.err = d.exceeded()
			return false, d.err
		}
		if stop == d.line {
			return d.emit(e, next)
		}
		if d.dataUnit(e, stop, next) || d.eventUnit(e, stop, next) {
			return true, nil
		}
		if next == d.end && d.buf[next-1] == '\r' {
			// The line end may continue with an LF. The unit does not end here, so the line
			// can wait for it.
			d.scan = stop
			return false, nil
		}
		if d.buf[d.line] == ':' && !d.unit.fields {
			d.noteLine(stop, next, true)
			return d.emit(e, next)
		}
		d.field(stop, next)
		d.line, d.scan = next, next
	}
}

// skipPrefix skips the prefix of a unit: the LF of a CRLF that was split by a read, and
// the byte order mark of the stream. It returns false if it needs more bytes.
func (d *Decoder) skipPrefix() bool {
	if d.skipLF && d.start < d.end {
		d.skipLF = false
		if d.buf[d.start] == '\n' {
			d.start++
			d.line, d.scan = d.start, d.start
		}
	}
	if d.started {
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
	d.started = true
	return true
}

const byteOrderMark = "\xEF\xBB\xBF"

// emit fills e with the unit that ends before next.
func (d *Decoder) emit(e *Event, next int) (bool, error) {
	u := &d.unit
	raw := d.buf[d.start:next:next]
	size := len(raw)
	if raw[size-1] == '\r' {
		size++ // count the LF that may follow, so that limits do not depend on how the stream was split
	}
	if u.lines > 0 {
		d.filler += u.ignored
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
	*e = Event{Raw: raw, Type: u.typ.of(raw), id: u.id.of(raw), retry: u.retry.of(raw), dataOffset: -1, reframe: u.reframe}
	if u.lines > 0 {
		e.Dispatched = true
		d.filler = 0
		if u.lines == 1 {
			e.Data, e.dataOffset = u.data.of(raw), u.data.from
		} else {
			e.Data = u.join
		}
	}
	d.skipLF = raw[len(raw)-1] == '\r'
	d.start, d.line, d.scan = next, next, next
	d.unit = unit{join: u.join}
	return true, nil
}
