package sse

import "bytes"

// Event is one unit of a stream: an event with data, or a part between events (one comment
// line, a blank line, fields without data) that is only forwarded. All slices point into
// the buffers of the decoder and are valid until the next call of Next or Space.
type Event struct {
	// Raw is the unit as it arrived, line ends included. It lacks a leading byte order
	// mark, and the LF of a final CRLF that had not arrived yet.
	Raw []byte
	// Data is the payload: the values of the data lines, joined by LF.
	Data []byte
	// Type is the value of the last event line; empty if there is none.
	Type []byte
	// Dispatched reports that the unit has data. Clients ignore a unit without data.
	Dispatched bool

	id, retry  []byte
	dataOffset int  // offset of Data in Raw; -1 if Data has several lines
	reframe    bool // clients parse the framing differently
}

// AppendTo appends the unit as it is forwarded: its own bytes, or its parsed fields in new
// framing.
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

// AppendHead appends the bytes before the payload. The caller appends a changed payload
// itself and then calls AppendTail.
func (e *Event) AppendHead(dst []byte) []byte {
	if e.spliceable() {
		return append(dst, e.Raw[:e.dataOffset]...)
	}
	return append(e.appendFields(dst), "data: "...)
}

// WithData returns a copy of the event with another payload.
func (e *Event) WithData(data []byte) Event {
	raw := e.AppendHead(nil)
	at := len(raw)
	raw = e.AppendTail(append(raw, data...), at)
	c := *e
	c.Raw, c.Data, c.dataOffset, c.reframe = raw, raw[at:at+len(data)], at, false
	c.Type = append([]byte(nil), e.Type...)
	c.id, c.retry = append([]byte(nil), e.id...), append([]byte(nil), e.retry...)
	return c
}

// AppendTail appends the bytes after the payload, which starts at dst[payload]. A changed
// payload is written on one line: an LF in it, which is only white space in JSON, becomes a
// space.
func (e *Event) AppendTail(dst []byte, payload int) []byte {
	if e.spliceable() {
		dst = append(dst, e.Raw[e.dataOffset+len(e.Data):]...)
		return closeLine(dst, e.Raw)
	}
	for i := payload; i < len(dst); i++ {
		if dst[i] == '\n' {
			dst[i] = ' '
		}
	}
	return append(dst, "\n\n"...)
}

// KeepsFraming reports whether the payload is written in the original framing. AppendTail
// does not read the payload then: it may have been flushed before.
func (e *Event) KeepsFraming() bool { return e.spliceable() }

// PayloadOffset reports whether the unit consists of a payload on one line, optionally
// after an event line, in lines that end in LF, and returns the offset of the payload in
// Raw. A stream in which the strings in the JSON of such a unit differ is split into units
// at the same positions.
func (e *Event) PayloadOffset() (payload int, ok bool) {
	if !e.spliceable() || e.id != nil || e.retry != nil || !bytes.HasSuffix(e.Raw, endOfUnit) || e.dataOffset+len(e.Data)+len(endOfUnit) != len(e.Raw) {
		return 0, false
	}
	if lines := bytes.Count(e.Raw[:e.dataOffset], lf); lines > 1 || lines == 1 && !bytes.HasPrefix(e.Raw, eventLine) {
		return 0, false
	}
	return e.dataOffset, true
}

var (
	endOfUnit = []byte("\n\n")
	eventLine = []byte("event:")
)

func (e *Event) spliceable() bool { return !e.reframe && e.dataOffset >= 0 }

// appendFields writes every field except data. A type with an unsafe character is omitted:
// it is not an event of any dialect, and clients parse it differently. The same holds for
// such an id.
func (e *Event) appendFields(dst []byte) []byte {
	if len(e.Type) > 0 && !hasUnsafeChar(e.Type) {
		dst = appendField(dst, "event: ", e.Type)
	}
	if e.id != nil && !hasUnsafeChar(e.id) {
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

// closeLine completes a final CR to CRLF. The unit ended at the CR, whether or not an LF
// follows in the next read. Writing both gives the same bytes however the stream was split.
func closeLine(dst, raw []byte) []byte {
	if n := len(raw); n > 0 && raw[n-1] == '\r' {
		dst = append(dst, '\n')
	}
	return dst
}

// appendComment writes the printable ASCII characters of a comment.
func appendComment(dst, raw []byte) []byte {
	for _, c := range raw {
		if c >= ' ' && c < 0x7f {
			dst = append(dst, c)
		}
	}
	return append(dst, '\n')
}

var lf = []byte{'\n'}

// Clone returns a copy of the event. It uses buf for the copy if the event fits.
func (e *Event) Clone(buf []byte) Event {
	c := *e
	buf = append(buf[:0], e.Raw...)
	n := len(buf)
	c.Raw = buf[:n:n]
	if e.dataOffset >= 0 {
		c.Data = buf[e.dataOffset : e.dataOffset+len(e.Data)]
	} else {
		c.Data = append([]byte(nil), e.Data...)
	}
	c.Type = append([]byte(nil), e.Type...)
	c.id, c.retry = append([]byte(nil), e.id...), append([]byte(nil), e.retry...)
	return c
}
