package sse

// AppendEvent appends an event of our own: an event line if typ is not empty,
// one data line, a blank line, LF only. Neither argument may contain CR or LF;
// encoded JSON never does.
func AppendEvent(dst []byte, typ string, data []byte) []byte {
	dst = AppendOpen(dst, typ)
	dst = append(dst, data...)
	return AppendClose(dst)
}

// AppendOpen appends what stands before the payload of an event of our own, for
// a caller that appends the payload itself and then calls AppendClose.
func AppendOpen(dst []byte, typ string) []byte {
	if typ != "" {
		dst = append(dst, "event: "...)
		dst = append(dst, typ...)
		dst = append(dst, '\n')
	}
	return append(dst, "data: "...)
}

// AppendClose appends what stands behind the payload of an event of our own.
func AppendClose(dst []byte) []byte { return append(dst, "\n\n"...) }

// AppendKeepalive appends one comment line without a blank line, to be written
// between two events: no decoder dispatches on it, and the client sees a byte
// (DECISIONS S17).
func AppendKeepalive(dst []byte) []byte { return append(dst, ": stopgate\n"...) }
