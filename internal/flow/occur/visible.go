package occur

import (
	"bytes"
	"unicode/utf8"
)

// Part is a part of a text that people see, or that they do not see.
type Part struct {
	Text   []byte
	Hidden bool
}

// Visible returns the parts of a text: of HTML the text of the page, then the addresses of its links
// and images, then what browsers do not show, such as comments, scripts and hidden elements. Tag
// characters and long runs of other invisible characters are hidden in every text, and decoded.
// Single ones stay, and are seen by [Scan].
func Visible(text []byte) []Part {
	text, secret := seen(text)
	var parts []Part
	if looksHTML(text) {
		parts = page(text)
	} else {
		parts = []Part{{Text: text}}
	}
	if len(secret) > 0 {
		parts = append(parts, Part{Text: secret, Hidden: true})
	}
	return parts
}

// longestRun is the number of invisible characters in a row that stay.
const longestRun = 3

// seen removes tag characters and long runs of invisible characters, and returns what they encode:
// tags are ASCII, variation selectors bytes.
func seen(text []byte) (visible, hidden []byte) {
	at := 0
	for i := 0; i < len(text); {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if classOf(r) != unseen || r == utf8.RuneError {
			i += size
			continue
		}
		start, n, tags := i, 0, false
		for i < len(text) && text[i] >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
			if classOf(r) != unseen || r == utf8.RuneError {
				break
			}
			tags = tags || 0xE0000 <= r && r <= 0xE007F
			i += size
			n++
		}
		if n <= longestRun && !tags {
			continue
		}
		visible = append(visible, text[at:start]...)
		at = i
		hidden = appendUnseen(hidden, text[start:i])
	}
	if at == 0 {
		return text, nil
	}
	return append(visible, text[at:]...), bytes.ToValidUTF8(hidden, []byte("\uFFFD"))
}

// appendUnseen appends what invisible characters encode, and a new line.
func appendUnseen(dst, run []byte) []byte {
	for len(run) > 0 {
		r, size := utf8.DecodeRune(run)
		switch {
		case 0xE0020 <= r && r <= 0xE007E:
			dst = append(dst, byte(r-0xE0000))
		case 0xFE00 <= r && r <= 0xFE0F:
			dst = append(dst, byte(r-0xFE00))
		case 0xE0100 <= r && r <= 0xE01EF:
			dst = append(dst, byte(r-0xE0100+16))
		default:
			dst = append(dst, run[:size]...)
		}
		run = run[size:]
	}
	return append(dst, '\n')
}
