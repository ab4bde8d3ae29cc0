package tui

import (
	"strings"
	"unicode/utf8"
)

// Key is one key: a character or one of the constants.
type Key rune

// Keys that are not characters.
const (
	KeyLeft Key = -1 - iota
	KeyRight
	KeyUp
	KeyDown
	KeyHome
	KeyEnd
	KeyDelete
	KeyEscape
	KeyOther // a key without a function
)

// Control characters.
const (
	ctrlA     Key = 0x01
	ctrlC     Key = 0x03
	ctrlD     Key = 0x04
	ctrlE     Key = 0x05
	ctrlK     Key = 0x0b
	enter     Key = '\r'
	newline   Key = '\n'
	ctrlU     Key = 0x15
	ctrlW     Key = 0x17
	backspace Key = 0x7f
	ctrlH     Key = 0x08
)

// Keys is the input of one read of a terminal.
type Keys struct {
	Keys  []Key
	Paste string // pasted text, instead of keys
	Err   error
}

// decoder decodes bytes to keys.
type decoder struct {
	rest    []byte
	pasting bool
	paste   strings.Builder
}

const (
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// sequences are the escape sequences of keys.
var sequences = map[string]Key{
	"\x1b[A": KeyUp, "\x1b[B": KeyDown, "\x1b[C": KeyRight, "\x1b[D": KeyLeft,
	"\x1bOA": KeyUp, "\x1bOB": KeyDown, "\x1bOC": KeyRight, "\x1bOD": KeyLeft,
	"\x1b[H": KeyHome, "\x1b[F": KeyEnd, "\x1bOH": KeyHome, "\x1bOF": KeyEnd,
	"\x1b[1~": KeyHome, "\x1b[4~": KeyEnd, "\x1b[3~": KeyDelete,
}

// decode decodes the next bytes to keys and pastes.
func (d *decoder) decode(p []byte) (out []Keys) {
	b := append(d.rest, p...)
	d.rest = nil
	var keys []Key
	flush := func() {
		if len(keys) > 0 {
			out = append(out, Keys{Keys: keys})
			keys = nil
		}
	}
	for len(b) > 0 {
		if d.pasting {
			before, after, found := strings.Cut(string(b), pasteEnd)
			if !found {
				n := overlap(string(b), pasteEnd)
				d.paste.WriteString(string(b[:len(b)-n]))
				d.rest = append([]byte(nil), b[len(b)-n:]...)
				break
			}
			d.paste.WriteString(before)
			out = append(out, Keys{Paste: d.paste.String()})
			d.paste.Reset()
			d.pasting, b = false, []byte(after)
			continue
		}
		if b[0] == 0x1b && len(b) > 1 {
			n := escapeLen(b)
			word := string(b[:n])
			b = b[n:]
			switch key, known := sequences[word]; {
			case word == pasteBegin:
				flush()
				d.pasting = true
			case known:
				keys = append(keys, key)
			default:
				keys = append(keys, KeyOther)
			}
			continue
		}
		if b[0] == 0x1b {
			keys = append(keys, KeyEscape)
			b = b[1:]
			continue
		}
		if !utf8.FullRune(b) {
			d.rest = append([]byte(nil), b...)
			break
		}
		r, n := utf8.DecodeRune(b)
		keys = append(keys, Key(r))
		b = b[n:]
	}
	flush()
	return out
}

// escapeLen returns the length of the escape sequence at the start of b.
func escapeLen(b []byte) int {
	if b[1] != '[' && b[1] != 'O' {
		return 2
	}
	for i := 2; i < len(b); i++ {
		if b[i] >= 0x40 && b[i] <= 0x7e {
			return i + 1
		}
	}
	return len(b)
}

// overlap returns the length of the longest suffix of text that is a prefix of mark.
func overlap(text, mark string) int {
	for n := min(len(mark)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, mark[:n]) {
			return n
		}
	}
	return 0
}

// line is the line editor.
type line struct {
	text    []rune
	at      int // cursor position
	history []string
	past    int // position in the history, 0 for the current line
	kept    []rune
}

// clear empties the line and returns its text.
func (l *line) clear() string {
	text := string(l.text)
	if strings.TrimSpace(text) != "" && (len(l.history) == 0 || l.history[len(l.history)-1] != text) {
		l.history = append(l.history, text)
	}
	l.text, l.at, l.past = nil, 0, 0
	return text
}

func (l *line) insert(text string) {
	in := []rune(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"))
	l.text = append(l.text[:l.at:l.at], append(in, l.text[l.at:]...)...)
	l.at += len(in)
}

// key handles a key. It reports whether the line is complete.
func (l *line) key(k Key) (done bool) {
	switch k {
	case enter, newline:
		return true
	case backspace, ctrlH:
		if l.at > 0 {
			l.text = append(l.text[:l.at-1], l.text[l.at:]...)
			l.at--
		}
	case KeyDelete, ctrlD:
		if l.at < len(l.text) {
			l.text = append(l.text[:l.at], l.text[l.at+1:]...)
		}
	case KeyLeft:
		l.at = max(0, l.at-1)
	case KeyRight:
		l.at = min(len(l.text), l.at+1)
	case KeyHome, ctrlA:
		l.at = 0
	case KeyEnd, ctrlE:
		l.at = len(l.text)
	case ctrlU:
		l.text, l.at = l.text[l.at:], 0
	case ctrlK:
		l.text = l.text[:l.at]
	case ctrlW:
		from := l.at
		for from > 0 && l.text[from-1] == ' ' {
			from--
		}
		for from > 0 && l.text[from-1] != ' ' {
			from--
		}
		l.text = append(l.text[:from], l.text[l.at:]...)
		l.at = from
	case KeyUp:
		l.recall(1)
	case KeyDown:
		l.recall(-1)
	default:
		if k >= ' ' {
			l.insert(string(rune(k)))
		}
	}
	return false
}

// recall moves in the history.
func (l *line) recall(by int) {
	to := l.past + by
	if to < 0 || to > len(l.history) {
		return
	}
	if l.past == 0 {
		l.kept = l.text
	}
	if l.past = to; to == 0 {
		l.text = l.kept
	} else {
		l.text = []rune(l.history[len(l.history)-to])
	}
	l.at = len(l.text)
}
