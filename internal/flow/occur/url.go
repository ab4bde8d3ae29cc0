package occur

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/condition/weburl"
)

// address is a URL in its canonical spelling: the scheme and the host in lower case, without
// "www." and the scheme's port, the path with the escapes that it needs. Without a scheme it begins
// with "//".
type address struct {
	text               []byte
	at, colon, hostEnd int // the host, its end without the port, and with it
}

// host returns the host with the port, if it is another one than the scheme's.
func (u *address) host() []byte { return u.text[u.at:u.hostEnd] }

func (u *address) name() []byte { return u.text[u.at:u.colon] }

// canonicalURL returns the canonical spelling of a URL in buf. Of a bare one, which the caller gives
// the scheme http, the scheme is left out. ok is false for one that programs read differently.
func canonicalURL(buf, text []byte, bare bool) (u address, ok bool) {
	u.text = buf[:0]
	text, ok = inASCII(text)
	if !ok {
		return u, false
	}
	p, ok := weburl.Parse(text)
	if !ok || !p.HasHost {
		return u, false
	}
	dst := u.text
	if !bare {
		dst = append(lowered(dst, p.Scheme), ':')
	}
	dst = append(dst, '/', '/')
	u.at = len(dst)
	dst = lowered(dst, p.Host)
	if host := dst[u.at:]; bytes.HasPrefix(host, []byte("www.")) {
		dst = dst[:u.at+copy(host, withoutWWW(host))]
	}
	u.colon = len(dst)
	if port, _ := weburl.DefaultPort(p.Scheme); len(p.Port) > 0 && (bare || string(p.Port) != port) {
		dst = append(append(dst, ':'), p.Port...)
	}
	u.hostEnd = len(dst)
	if len(p.Path) == 0 {
		dst = append(dst, '/')
	}
	if dst, ok = appendEscaped(dst, p.Path); ok {
		dst, ok = appendEscaped(dst, p.Rest)
	}
	u.text = dst
	return u, ok
}

func lowered(dst, text []byte) []byte {
	for _, c := range text {
		dst = append(dst, spelling.LowerASCII(c))
	}
	return dst
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// inASCII converts the host of a URL to punycode, and percent-encodes other characters.
func inASCII(text []byte) (ascii []byte, ok bool) {
	if isASCII(text) {
		return text, true
	}
	at := bytes.Index(text, []byte("://"))
	if at < 0 || bytes.ContainsFunc(text, spelling.Invisible) {
		return text, false
	}
	at += len("://")
	end := bytes.IndexAny(text[at:], "/?#")
	if end < 0 {
		end = len(text) - at
	}
	host, port, colon := bytes.Cut(text[at:at+end], []byte(":"))
	ascii, ok = appendHost(append([]byte(nil), text[:at]...), host)
	if !ok {
		return text, false
	}
	if colon {
		ascii = append(append(ascii, ':'), port...)
	}
	for _, c := range text[at+end:] {
		if c < utf8.RuneSelf {
			ascii = append(ascii, c)
			continue
		}
		ascii = append(ascii, '%', hexDigits[c>>4], hexDigits[c&15])
	}
	return ascii, true
}

const hexDigits = "0123456789ABCDEF"

// appendEscaped appends a part of a URL with unreserved characters decoded but for dots, and other
// escapes in capital letters. ok is false for an escape that is none.
func appendEscaped(dst, text []byte) (out []byte, ok bool) {
	for i := 0; i < len(text); i++ {
		if text[i] != '%' {
			dst = append(dst, text[i])
			continue
		}
		if i+2 >= len(text) {
			return dst, false
		}
		v, ok := spelling.HexValue(string(text[i+1:i+3]), 2)
		if !ok {
			return dst, false
		}
		if c := byte(v); classes[c]&alnum != 0 || c == '-' || c == '_' || c == '~' {
			dst = append(dst, c)
		} else {
			dst = append(dst, '%', hexDigits[c>>4], hexDigits[c&15])
		}
		i += 2
	}
	return dst, true
}

// urls finds the URLs of a chunk. Those inside of another are loose, such as the parameter of a
// redirect.
func (s *scanner) urls(start, end int) {
	text := s.text[:end]
	nested := 0
	for at := start; ; {
		n := bytes.IndexByte(text[at:], ':')
		if n < 0 {
			return
		}
		colon := at + n
		at = colon + 1
		if at+1 >= len(text) || text[at] != '/' || text[at+1] != '/' {
			continue
		}
		at += len("//")
		from := colon
		for from > start && (classes[text[from-1]]&alnum != 0 || text[from-1] == '+' || text[from-1] == '-' || text[from-1] == '.') {
			from--
		}
		for from < colon && classes[text[from]]&(lower|upper) == 0 {
			from++
		}
		if from == colon {
			continue
		}
		inside := s.inURL(from)
		if inside {
			if nested++; nested > maxInside {
				continue
			}
			s.url(from, urlEnd(text[:min(len(text), at+longestURL)], at), true)
			continue
		}
		to := urlEnd(text, at)
		if to == at {
			continue
		}
		nested = 0
		s.url(from, to, parameter(text[start:from]))
		s.spans = append(s.spans, span{from, to})
	}
}

// parameter reports whether a URL after a text is a part of another one: the value of its query.
func parameter(before []byte) bool {
	if len(before) == 0 {
		return false
	}
	switch c := before[len(before)-1]; c {
	case '/', '?', '&', '#', '@', '%', '_', '.', '+', '-':
		return true
	case '=':
		return len(before) > longestKey || bytes.ContainsAny(before, "/?.@&")
	default:
		return classes[c] == digit
	}
}

// longestKey is the length of a name before "=" that is no part of a URL.
const longestKey = 64

// maxInside is the number of URLs inside of another that are found.
const maxInside = 8

// inURL reports whether a URL of the chunk has the byte at i.
func (s *scanner) inURL(i int) bool {
	if len(s.spans) == 0 {
		return false
	}
	n, _ := slices.BinarySearchFunc(s.spans, i, func(u span, i int) int { return u.end - i - 1 })
	return n < len(s.spans) && s.spans[n].start <= i
}

// urlEnd returns the end of a URL: before a character that is in none, or the marks that end a
// sentence, or a bracket that it does not open.
func urlEnd(text []byte, from int) int {
	open := 0
	end := from
scan:
	for ; end < len(text); end++ {
		switch text[end] {
		case '"', '<', '>', '`', '{', '}', '|', '^', '\\':
			break scan
		case '(', '[':
			open++
		case ')', ']':
			if open == 0 {
				break scan
			}
			open--
		default:
			if text[end] < ' ' {
				break scan
			}
		}
	}
	for end > from && (endsSentence(text[end-1]) || text[end-1] == ',' || text[end-1] == ';' || text[end-1] == '\'') {
		end--
	}
	return end
}

func (s *scanner) url(from, to int, loose bool) {
	u, ok := canonicalURL(s.atom, s.text[from:to], false)
	s.atom = u.text
	if to < len(s.text) && s.text[to] == '\\' {
		loose = true
	}
	if !ok {
		s.looseURL(from, to)
		return
	}
	s.emit(flow.URL, u.text, from, to, loose)
	s.emit(flow.Host, u.host(), from, to, loose)
	if u.colon < u.hostEnd {
		s.emit(flow.Host, u.name(), from, to, true)
	}
	s.domain(u.name(), from, to)
}

// longestURL is the length of a URL that is read in every way.
const longestURL = 2048

// looseURL finds everything in a URL that could be its host.
func (s *scanner) looseURL(from, to int) {
	for i := from; i < to; i++ {
		start := i
		for i < to {
			size, is := hostAt(s.text[i:to])
			if !is {
				break
			}
			i += size
		}
		if bytes.IndexByte(s.text[start:i], '.') <= 0 {
			continue
		}
		if host, ok := appendHost(s.atom[:0], s.text[start:i]); ok {
			s.atom = host
			s.looseHost(host, start, i)
		}
	}
}

// looseHosts returns the hosts that some program could read in a text as a URL.
func looseHosts(text string) (hosts []string) {
	seen := map[string]bool{}
	add := func(name string) {
		name = string(withoutWWW([]byte(name)))
		if name == "" || name == "http" || name == "https" {
			return
		}
		if !seen[name] {
			seen[name] = true
			hosts = append(hosts, name)
		}
	}
	for _, t := range weburl.Texts(text) {
		for _, u := range weburl.Loose(t) {
			for _, h := range u.Hosts {
				add(h.Name)
				registered([]byte(h.Name), func(name []byte) { add(string(name)) })
			}
		}
	}
	return hosts
}
