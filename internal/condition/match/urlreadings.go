package match

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// looseURL is one way in which some parser could read a text as a URL.
type looseURL struct {
	scheme    string // lower case, "" if the text has none
	hosts     []looseHost
	path      string // after the authority, before query and fragment
	remainder string // query and fragment
}

type looseHost struct {
	name string // as canonical as possible
	port string // "" if there is none
}

// suspected evaluates every plausible reading of a URL.
func (t *urlTest) suspected(value string) bool {
	for _, text := range urlTexts(value) {
		if t.pattern != nil {
			if t.pattern.holds([]byte(text)) {
				return true
			}
			continue
		}
		for _, u := range looseURLs(text) {
			for i := range t.literals {
				if t.reads(&u, &t.literals[i]) {
					return true
				}
			}
		}
	}
	return false
}

// urlTexts returns the spellings of a URL: as written, as browsers clean it, in its compatibility
// form without case, and percent-decoded up to two times.
func urlTexts(value string) []string {
	cleaned := strings.TrimFunc(strings.Map(func(r rune) rune {
		if invisible(r) {
			return -1
		}
		return r
	}, value), func(r rune) bool { return isWhite(r) || isEdge(r) })
	texts := []string{value}
	add := func(s string) {
		for _, t := range texts {
			if t == s {
				return
			}
		}
		texts = append(texts, s)
	}
	add(cleaned)
	add(norm.NFKC.String(cleaned))
	add(fold(cleaned))
	for range 2 {
		for _, s := range percentDecoded(texts[len(texts)-1]) {
			add(fold(visible(s)[0]))
		}
	}
	return texts
}

// maxNested is the number of schemes in front of a URL that are removed.
const maxNested = 4

// looseURLs parses a text with and without a scheme, with and without backslashes as slashes, and
// with the different ends of the authority of different parsers. After a scheme another URL may
// follow: view-source:, blob:, feed: and others refer to the resource of that URL.
func looseURLs(text string) []looseURL {
	out := looseURLsOf(text)
	for range maxNested {
		scheme, rest, ok := strings.Cut(text, ":")
		if !ok || !isScheme(scheme) {
			break
		}
		text = strings.TrimLeft(rest, `/\`)
		if inner, _, ok := strings.Cut(text, ":"); !ok || !isScheme(inner) {
			break
		}
		out = append(out, looseURLsOf(text)...)
	}
	return out
}

func looseURLsOf(text string) []looseURL {
	var out []looseURL
	read := func(scheme, rest string) {
		rest = strings.TrimLeft(rest, `/\`)
		for _, ends := range [...]string{`/?#\`, `/?#`, `/`} {
			at := strings.IndexAny(rest, ends)
			if at < 0 {
				at = len(rest)
			}
			u := looseURL{scheme: scheme, hosts: looseHosts(rest[:at]), path: rest[at:]}
			if at := strings.IndexAny(u.path, "?#"); at >= 0 {
				u.path, u.remainder = u.path[:at], u.path[at:]
			}
			out = append(out, u)
		}
	}
	if scheme, rest, ok := strings.Cut(text, ":"); ok && isScheme(scheme) {
		read(strings.ToLower(scheme), rest)
	}
	read("", text)
	return out
}

// looseHosts returns the hosts that an authority may name: around each "@", before the last or the
// first ":".
func looseHosts(authority string) []looseHost {
	var out []looseHost
	parts := []string{authority[strings.LastIndexByte(authority, '@')+1:]}
	if user, after, ok := strings.Cut(authority, "@"); ok {
		second, _, _ := strings.Cut(after, "@")
		parts = append(parts, user, after, second)
	}
	for _, p := range parts {
		add := func(at int) {
			h := looseHost{name: p}
			if at >= 0 {
				h.name, h.port = p[:at], strings.TrimLeft(p[at+1:], "0")
			}
			h.name = canonicalHost(h.name)
			out = append(out, h)
		}
		if end := strings.IndexByte(p, ']'); strings.HasPrefix(p, "[") && end >= 0 {
			h := looseHost{name: canonicalHost(p[:end+1])}
			_, h.port, _ = strings.Cut(p[end+1:], ":")
			out = append(out, h, looseHost{canonicalHost(p[1:end]), h.port}) // some parsers drop the brackets
			continue
		}
		add(strings.LastIndexByte(p, ':'))
		add(strings.IndexByte(p, ':'))
	}
	return out
}

// canonicalHost converts a host to the spelling of literals: decoded, folded, punycoded, without
// trailing dots; addresses in every notation as netip prints them.
func canonicalHost(name string) string {
	if decoded := percentDecoded(name); decoded != nil {
		name = decoded[0]
	}
	name = strings.TrimRight(strings.ReplaceAll(fold(name), "\u3002", "."), ".")
	if inner, ok := strings.CutPrefix(name, "["); ok {
		inner, _, _ = strings.Cut(strings.TrimSuffix(inner, "]"), "%")
		if a, err := netip.ParseAddr(inner); err == nil {
			if a = a.Unmap(); a.Is4() {
				return a.String()
			}
			return "[" + a.String() + "]"
		}
		return name
	}
	if a, ok := looseIPv4(name); ok {
		return a
	}
	profile := idna.New(idna.MapForLookup(), idna.Transitional(true), idna.StrictDomainName(false))
	if host, err := profile.ToASCII(name); err == nil {
		return host
	}
	return name
}

// looseIPv4 parses one to four numbers, each decimal, octal or hexadecimal, of which the last fills
// the remaining bytes, as C libraries and browsers do.
func looseIPv4(name string) (address string, ok bool) {
	parts := strings.Split(name, ".")
	if len(parts) > 4 {
		return "", false
	}
	var v uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(octal(p), 0, 64)
		most, shift := uint64(255), uint(8)
		if i == len(parts)-1 {
			shift = uint(8 * (5 - len(parts)))
			most = 1<<shift - 1
		}
		if err != nil || n > most {
			return "", false
		}
		v = v<<shift | n
	}
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}).String(), true
}

// octal respells a number with leading zeros for Go's parser.
func octal(s string) string {
	switch {
	case !isNumeric([]byte(s)):
		return ""
	case len(s) > 1 && s[0] == '0' && lowerASCII(s[1]) != 'x':
		return "0o0" + s[1:]
	}
	return s
}

// reads compares one reading with one literal.
func (t *urlTest) reads(u *looseURL, l *urlLiteral) bool {
	switch t.kind {
	case condition.Scheme:
		return u.scheme == l.scheme || u.scheme == "" && (l.scheme == "http" || l.scheme == "https")
	case condition.Host:
		return t.named(u, l, true)
	}
	return (u.scheme == l.scheme || u.scheme == "") && t.named(u, l, false) && t.pathReads(u, l)
}

// named reports whether the literal's host and port are among those of a reading.
func (t *urlTest) named(u *looseURL, l *urlLiteral, anyPort bool) bool {
	for _, h := range u.hosts {
		if !l.named([]byte(h.name)) {
			continue
		}
		own, _ := defaultPort([]byte(u.scheme))
		want := l.port
		switch {
		case want == "*", want == "" && anyPort, u.scheme == "", h.port != "" && !isPort([]byte(h.port)):
			return true
		}
		if want == "" {
			want = own
		}
		if h.port == want || h.port == "" && want == own {
			return true
		}
	}
	return false
}

// pathReads compares the readings of the path and the path as written, without regard to case.
func (t *urlTest) pathReads(u *looseURL, l *urlLiteral) bool {
	want := strings.TrimSuffix(fold(l.path), "/")
	if t.kind != condition.Prefix && u.remainder != l.rest && !strings.HasPrefix(u.remainder, "#") {
		return false
	}
	list, complete := Readings("/"+u.path, condition.Env{}, false)
	for _, r := range append(list, Reading{Path: u.path}) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(fold(r.Path), "/"), want)
		if ok && (rest == "" || t.kind == condition.Prefix && rest[0] == '/') {
			return true
		}
	}
	return !complete
}
