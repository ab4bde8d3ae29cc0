package sse

import "bytes"

// Event is one unit of a stream: an event with data, or something between
// events (one comment line, a blank line, fields without data) that is only
// there to be forwarded. All slices point into the decoder's buffers and are
// valid until the next call of Next or Space.
type Event struct {
	// Raw is the unit as it arrived, line ends included. It lacks a leading byte
	// order mark, and the LF of a final CRLF that had not arrived yet.
	Raw []byte
	// Data is the payload: the values of the data lines, joined by LF.
	Data []byte
	// Type is the value of the last event line; empty if there was none.
	Type []byte
	// Dispatched says that the unit has data. A unit without data is never an
	// event for a client (WIRE 1.1 rule 6).
	Dispatched bool

	id, retry []byte
	dataAt    int  // where Data stands in Raw; -1 if it is several lines
	reframe   bool // the framing holds something that clients read differently
}

// AppendTo appends the unit as it may be forwarded (WIRE 1.3): its own bytes, or
// its parsed fields framed anew.
func (e *Event) AppendTo(dst []byte) []byte {
	if !e.reframe {
		dst = append(dst, e.Raw...)
		return closeLine(dst, e.Raw)
	}
	if !e.Dispatched && len(e.Raw) > 0 && e.Raw[0] == ':' {
		return appendComment(dst, e.Raw)
	}
	dst = e.appendFields(dst)
	if e.Dispatched {
		rest := e.Data
		for {
			line, after, more := bytes.Cut(rest, lf)
			dst = append(dst, "data: "...)
			dst = append(dst, line...)
			dst = append(dst, '\n')
			if !more {
				break
			}
			rest = after
		}
	}
	return append(dst, '\n')
}

// AppendHead appends what stands before the payload, for a caller that writes a
// changed payload itself and then calls AppendTail.
func (e *Event) AppendHead(dst []byte) []byte {
	if e.spliceable() {
		return append(dst, e.Raw[:e.dataAt]...)
	}
	return append(e.appendFields(dst), "data: "...)
}

// With returns the event with another payload, in memory of its own.
func (e *Event) With(data []byte) Event {
	raw := e.AppendHead(nil)
	at := len(raw)
	raw = e.AppendTail(append(raw, data...), at)
	c := *e
	c.Raw, c.Data, c.dataAt, c.reframe = raw, raw[at:at+len(data)], at, false
	c.Type = append([]byte(nil), e.Type...)
	c.id, c.retry = append([]byte(nil), e.id...), append([]byte(nil), e.retry...)
	return c
}

// AppendTail appends what stands behind the payload that begins at dst[payload].
// A changed payload stands on one line: an LF in it, which in JSON can only be
// white space, becomes a space.
func (e *Event) AppendTail(dst []byte, payload int) []byte {
	if e.spliceable() {
		dst = append(dst, e.Raw[e.dataAt+len(e.Data):]...)
		return closeLine(dst, e.Raw)
	}
	for i := payload; i < len(dst); i++ {
		if dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return append(dst, "\n\n"...)
}

// OneLine reports whether the payload is written where it stood, so that AppendTail
// does not look at it again: it may have left dst before.
func (e *Event) OneLine() bool { return e.spliceable() }

// Plain reports whether the unit is nothing but a payload on one line, with an event
// line in front of it or without, in lines that end in LF, and where in Raw its payload
// begins. A stream with other strings in the JSON of such a unit is divided into
// units at the same places.
func (e *Event) Plain() (payload int, ok bool) {
	if !e.spliceable() || e.id != nil || e.retry != nil || !bytes.HasSuffix(e.Raw, endOfUnit) || e.dataAt+len(e.Data)+len(endOfUnit) != len(e.Raw) {
		return 0, false
	}
	if lines := bytes.Count(e.Raw[:e.dataAt], lf); lines > 1 || lines == 1 && !bytes.HasPrefix(e.Raw, eventLine) {
		return 0, false
	}
	return e.dataAt, true
}

var (
	endOfUnit = []byte("\n\n")
	eventLine = []byte("event:")
)

func (e *Event) spliceable() bool { return !e.reframe && e.dataAt >= 0 }

// appendFields writes every field but data. A type with an odd character is left out:
// it names no event of any dialect, and clients differ in reading it; such an id too.
func (e *Event) appendFields(dst []byte) []byte {
	if len(e.Type) > 0 && !odd(e.Type) {
		dst = appendField(dst, "event: ", e.Type)
	}
	if e.id != nil && !odd(e.id) {
		dst = appendField(dst, "id: ", e.id)
	}
	if e.retry != nil {
		dst = appendField(dst, "retry: ", e.retry)
	}
	return dst
}

func appendField(dst []byte, name string, value []byte) []byte {
	dst = append(dst, name...)
	dst = append(dst, value...)
	return append(dst, '\n')
}

// closeLine completes a final CR to CRLF. The unit was dispatched at the CR,
// whether or not an LF follows in the next read; writing both gives the same
// bytes for every cut of the stream.
func closeLine(dst, raw []byte) []byte {
	if n := len(raw); n > 0 && raw[n-1] == '\r' {
		dst = append(dst, '\n')
	}
	return dst
}

// appendComment writes a comment anew: what of it is plain ASCII.
func appendComment(dst, raw []byte) []byte {
	for _, c := range raw {
		if c >= ' ' && c < 0x7f {
			dst = append(dst, c)
		}
	}
	return append(dst, '\n')
}

var lf = []byte{'\n'}

// Clone returns the event with slices of its own, which it cuts from buf if they
// fit.
func (e *Event) Clone(buf []byte) Event {
	c := *e
	buf = append(buf[:0], e.Raw...)
	n := len(buf)
	c.Raw = buf[:n:n]
	if e.dataAt >= 0 {
		c.Data = buf[e.dataAt : e.dataAt+len(e.Data)]
	} else {
		c.Data = append([]byte(nil), e.Data...)
	}
	c.Type = append([]byte(nil), e.Type...)
	c.id, c.retry = append([]byte(nil), e.id...), append([]byte(nil), e.retry...)
	return c
}
