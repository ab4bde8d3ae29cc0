package occur

import (
	"bytes"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
)

// longestLocal is the length of the part of an address before the "@".
const longestLocal = 64

// emails finds the addresses of a chunk.
func (s *scanner) emails(start, end int) {
	for at := start; ; at++ {
		n := bytes.IndexByte(s.text[at:end], '@')
		if n < 0 {
			return
		}
		at += n
		s.email(at, start, end, s.inURL(at))
	}
}

// email finds the address around an "@". It is loose where other programs could read a longer or
// another one.
func (s *scanner) email(at, start, end int, loose bool) {
	text := s.text
	from := at
	for from > start {
		size, is := localBefore(text[start:from], from < at)
		if !is {
			break
		}
		from -= size
	}
	to := at + 1
	for to < end {
		size, is := hostAt(text[to:end])
		if !is {
			break
		}
		to += size
	}
	for to > at+1 && (text[to-1] == '.' || text[to-1] == '-') {
		to--
	}
	for from < at && text[from] == '.' {
		from++
		loose = true
	}
	address, ok := appendEmail(s.atom[:0], text[from:at], text[at+1:to])
	s.atom = address
	if !ok {
		return
	}
	loose = loose || !endsBefore(text[start:from]) || !beginsAfter(text[to:end])
	s.emit(flow.Email, address, from, to, loose)
	if n := bytes.LastIndexByte(address, '@'); n >= 0 {
		s.looseHost(address[n+1:], at+1, to)
	}
}

// localBefore returns the size of the last character of a text if it can be in the local part of an
// address. An apostrophe is one inside of it.
func localBefore(text []byte, inside bool) (size int, is bool) {
	c := text[len(text)-1]
	switch {
	case classes[c]&alnum != 0 || c == '.' || c == '_' || c == '+' || c == '-':
		return 1, true
	case c == '\'':
		return 1, inside && len(text) > 1 && classes[text[len(text)-2]]&alnum != 0
	case c >= utf8.RuneSelf:
		r, size := utf8.DecodeLastRune(text)
		return size, partOfWord(classOf(r)) || classOf(r) == single
	}
	return 1, false
}

// hostAt returns the size of the first character of a text if it can be in a host.
func hostAt(text []byte) (size int, is bool) {
	c := text[0]
	if c < utf8.RuneSelf {
		return 1, classes[c]&alnum != 0 || c == '.' || c == '-' || c == '_'
	}
	r, size := decode(text)
	return size, partOfWord(classOf(r)) || classOf(r) == single
}

// endsBefore reports whether an address can begin after a text: not after a character that other
// programs would count to it.
func endsBefore(text []byte) bool {
	for i := len(text) - 1; i >= 0; i-- {
		switch c := text[i]; {
		case c == '/' || c == '\\' || c == '%' || c == '@' || c == '&' || c == '#' || c == '\'' && i < len(text)-1:
			return false
		case c == '=' || c == '|' || c == '*' || c == '{' || c == '}' || c == '`' || c == '!' || c == '?' || c == '$' || c == '^' || c == '~' || c == '\'':
		default:
			return i == len(text)-1 || classes[c] != lower && classes[c] != upper && classes[c] != digit && c < utf8.RuneSelf
		}
	}
	return true
}

// beginsAfter reports whether an address can end before a text.
func beginsAfter(text []byte) bool {
	if len(text) == 0 {
		return true
	}
	switch c := text[0]; c {
	case '@', '/', '\\', '%', '_', '=', '&', '#', '-', '+', '$', '^':
		return false
	case ':', '.':
		return len(text) == 1
	}
	return true
}

// appendEmail appends an address in its canonical spelling. ok is false for one that is none.
func appendEmail(dst, local, domain []byte) (out []byte, ok bool) {
	if len(local) == 0 || len(local) > longestLocal || bytes.Contains(local, []byte("..")) || local[len(local)-1] == '.' {
		return dst, false
	}
	dst = append(appendFolded(dst, local), '@')
	if bytes.IndexByte(domain, '.') <= 0 {
		return dst, false
	}
	return appendHost(dst, domain)
}

// plainEmail parses a value that is one address: as such, after "mailto:", or in angle brackets
// after a display name. The display name is dropped. ok is false for every other text.
func plainEmail(value []byte) (address []byte, ok bool) {
	value = bytes.TrimSpace(value)
	if rest, is := cutPrefixFold(value, "mailto:"); is {
		value = rest
	} else if rest, is := bytes.CutSuffix(value, []byte(">")); is {
		at := bytes.IndexByte(rest, '<')
		if at < 0 || bytes.ContainsAny(rest[:at], "@,;:<>()[]\\\r\n") {
			return nil, false
		}
		value = rest[at+1:]
	}
	at := bytes.IndexByte(value, '@')
	if at <= 0 {
		return nil, false
	}
	for i := at; i > 0; {
		size, is := localBefore(value[:i], i < at)
		if !is {
			return nil, false
		}
		i -= size
	}
	if value[0] == '.' {
		return nil, false
	}
	return appendEmail(make([]byte, 0, len(value)+8), value[:at], value[at+1:])
}

func cutPrefixFold(text []byte, prefix string) (rest []byte, ok bool) {
	if len(text) < len(prefix) || !bytes.EqualFold(text[:len(prefix)], []byte(prefix)) {
		return text, false
	}
	return text[len(prefix):], true
}
