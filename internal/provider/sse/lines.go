package sse

import "bytes"

// lineEnd returns the end of the current line's text and the start of the next line, which
// is -1 if the line is not complete.
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

// find returns the position of the first c in buf[scan:end], or end. There is none before
// from, so every byte is searched only once, and a stream without CR costs one check for
// each read.
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

// dataUnit reads the most common unit: one data line that ends in LF, and a blank line. If
// the unit has another form, it returns false and does not change d.
func (d *Decoder) dataUnit(e *Event, stop, next int) bool {
	const name = "data:"
	if d.line != d.start || d.unit.reframe || next >= d.end || d.buf[stop] != '\n' || d.buf[next] != '\n' ||
		stop-d.start < len(name) || string(d.buf[d.start:d.start+len(name)]) != name || next+1-d.start > d.limits.MaxEvent {
		return false
	}
	at := len(name)
	if d.buf[d.start+at] == ' ' { // in bounds: the line end follows
		at++
	}
	raw := d.buf[d.start : next+1 : next+1]
	*e = Event{Raw: raw, Data: raw[at : stop-d.start : stop-d.start], Dispatched: true, dataOffset: at}
	d.filler = 0
	d.start, d.line, d.scan = next+1, next+1, next+1
	return true
}

// eventUnit is like dataUnit for the second most common unit, in which an event line
// precedes the data line.
func (d *Decoder) eventUnit(e *Event, stop, next int) bool {
	const typ, name = "event:", "data:"
	if d.line != d.start || d.unit.reframe || d.buf[stop] != '\n' || stop-d.start < len(typ) || string(d.buf[d.start:d.start+len(typ)]) != typ {
		return false
	}
	rest := d.buf[next:d.end]
	end := bytes.IndexByte(rest, '\n') // of the data line
	if end < len(name) || end+1 >= len(rest) || rest[end+1] != '\n' || string(rest[:len(name)]) != name {
		return false
	}
	after := next + end + 2
	if d.cr < after || after-d.start > d.limits.MaxEvent || hasUnsafeChar(d.buf[d.start:stop]) {
		return false
	}
	from, at := len(typ), next-d.start+len(name)
	raw := d.buf[d.start:after:after]
	if raw[from] == ' ' { // in bounds: the line end follows
		from++
	}
	if raw[at] == ' ' {
		at++
	}
	*e = Event{Raw: raw, Type: raw[from : stop-d.start : stop-d.start], Data: raw[at : len(raw)-2 : len(raw)-2], Dispatched: true, dataOffset: at}
	d.filler = 0
	d.start, d.line, d.scan = after, after, after
	return true
}

// field reads one complete line that is neither blank nor a leading comment.
func (d *Decoder) field(stop, next int) {
	u := &d.unit
	line := d.buf[d.line:stop]
	if line[0] == ':' {
		d.noteLine(stop, next, true)
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
		// The standard ignores it, but clients that trim lines or fold case may read it
		// (F12).
		u.reframe = true
		d.noteLine(stop, next, true)
		return
	}
	d.noteLine(stop, next, false)
}

// noteLine updates the state of the framing for a line without payload.
func (d *Decoder) noteLine(stop, next int, ignored bool) {
	if ignored {
		d.unit.ignored += next - d.line
	}
	if d.buf[next-1] == '\r' || hasUnsafeChar(d.buf[d.line:stop]) {
		d.unit.reframe = true
	}
}

// hasUnsafeChar reports whether a line contains a NUL, or a character that ends a line for
// some clients and not for the standard: they would read a field after it (F12).
func hasUnsafeChar(line []byte) bool {
	for i, c := range line {
		switch {
		case c < ' ' && c != '\t', c == 0x7f:
			return true
		case c == 0xC2 && bytes.HasPrefix(line[i:], nextLine), c == 0xE2 && (bytes.HasPrefix(line[i:], lineSeparator) || bytes.HasPrefix(line[i:], paragraphSeparator)):
			return true
		}
	}
	return false
}

var nextLine, lineSeparator, paragraphSeparator = []byte("\u0085"), []byte("\u2028"), []byte("\u2029")

// exceeded checks the limits for the incomplete unit.
func (d *Decoder) exceeded() error {
	if d.end-d.start > d.limits.MaxEvent {
		return ErrEventTooLarge
	}
	filler := d.filler + d.unit.ignored
	if line := d.buf[d.line:d.end]; !maybeField(line) {
		filler += len(line)
	}
	if filler > d.limits.MaxFiller {
		return ErrTooMuchFiller
	}
	return nil
}

// maybeField reports whether line can be the start of a known field.
func maybeField(line []byte) bool {
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
