package tomltree

import (
	"bytes"
	"strconv"
	"unicode/utf8"
)

// locate returns the range in a written TOML string of the byte with this offset in its text; for
// the end of the text it is the closing quote. The string must be well-formed.
func locate(raw []byte, offset int) (from, to int) {
	quote := raw[0]
	i, multi := 1, false
	if len(raw) >= 6 && raw[1] == quote && raw[2] == quote {
		i, multi = 3, true
		if bytes.HasPrefix(raw[i:], []byte("\r\n")) {
			i += 2
		} else if raw[i] == '\n' {
			i++
		}
	}
	end := len(raw) - 1
	if multi {
		end = len(raw) - 3
	}
	for i < end {
		text, size := 0, 0
		switch {
		case quote == '"' && raw[i] == '\\':
			text, size = escaped(raw[i:end])
		default:
			_, size = utf8.DecodeRune(raw[i:end])
			text = size
		}
		if offset < text {
			return i, i + size
		}
		offset -= text
		i += size
	}
	return end, len(raw)
}

// escaped returns the size of an escape in the text and in the source. A line-ending backslash has
// no text.
func escaped(raw []byte) (text, size int) {
	digits := 0
	switch raw[1] {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case ' ', '\t', '\r', '\n':
		rest := bytes.TrimLeft(raw[1:], " \t\r\n")
		return 0, len(raw) - len(rest)
	default:
		return 1, 2
	}
	code, err := strconv.ParseUint(string(raw[2:2+digits]), 16, 32)
	if err != nil {
		return 1, 2 + digits
	}
	return utf8.RuneLen(rune(code)), 2 + digits
}
