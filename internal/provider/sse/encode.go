package sse

// AppendEvent appends an event: an event line if typ is not empty, one data line and a
// blank line, with LF. typ and data must not contain CR or LF; encoded JSON never does.
func AppendEvent(dst []byte, typ string, data []byte) []byte {
	dst = AppendEventStart(dst, typ)
	dst = append(dst, data...)
	return AppendEventEnd(dst)
}

// AppendEventStart appends the bytes before the payload of an event. The caller appends the
// payload itself and then calls AppendEventEnd.
func AppendEventStart(dst []byte, typ string) []byte {
	if typ != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, typ...)
		dst = append(dst, '\n')
	}
	return append(dst, "data: "...)
}

// AppendEventEnd appends the bytes after the payload of an event.
func AppendEventEnd(dst []byte) []byte { return append(dst, "\n\n"...) }

// AppendKeepalive appends one comment line without a blank line, for use between two
// events: no decoder dispatches it, and the client receives a byte (S17).
func AppendKeepalive(dst []byte) []byte { return append(dst, ": stopgate\n"...) }
