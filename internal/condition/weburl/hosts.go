package weburl

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"

	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// LooseURL is one way in which some parser could read a text as a URL.
type LooseURL struct {
	Scheme    string // lower case, "" if the text has none
	Hosts     []LooseHost
	Path      string // after the authority, before query and fragment
	Remainder string // query and fragment
}

// LooseHost is a host that an authority may name.
type LooseHost struct {
	Name string // as canonical as possible
	Port string // "" if there is none
}

// Texts returns the spellings of a URL: as written, as browsers clean it, in its compatibility
// form without case, and percent-decoded up to two times.
func Texts(value string) []string {
	cleaned := strings.TrimFunc(strings.Map(func(r rune) rune {
		if spelling.Invisible(r) {
			return -1
		}
		return r
	}, value), func(r rune) bool { return spelling.IsWhite(r) || spelling.IsEdge(r) })
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
	add(spelling.Fold(cleaned))
	for range 2 {
		for _, s := range spelling.PercentDecoded(texts[len(texts)-1]) {
			add(spelling.Fold(spelling.Visible(s)[0]))
		}
	}
	return texts
}

// maxNested is the number of schemes in front of a URL that are removed.
const maxNested = 4

// Loose parses a text with and without a scheme, with and without backslashes as slashes, and
// with the different ends of the authority of different parsers. After a scheme another URL may
// follow: view-source:, blob:, feed: and others refer to the resource of that URL.
func Loose(text string) []LooseURL {
	out := looseURLsOf(text)
	for range maxNested {
		scheme, rest, ok := strings.Cut(text, ":")
		if !ok || !spelling.IsScheme(scheme) {
			break
		}
		text = strings.TrimLeft(rest, `/\`)
		if inner, _, ok := strings.Cut(text, ":"); !ok || !spelling.IsScheme(inner) {
			break
		}
		out = append(out, looseURLsOf(text)...)
	}
	return out
}

func looseURLsOf(text string) []LooseURL {
	var out []LooseURL
	read := func(scheme, rest string) {
		rest = strings.TrimLeft(rest, `/\`)
		for _, ends := range [...]string{`/?#\`, `/?#`, `/`} {
			at := strings.IndexAny(rest, ends)
			if at < 0 {
				at = len(rest)
			}
			u := LooseURL{Scheme: scheme, Hosts: looseHosts(rest[:at]), Path: rest[at:]}
			if at := strings.IndexAny(u.Path, "?#"); at >= 0 {
				u.Path, u.Remainder = u.Path[:at], u.Path[at:]
			}
			out = append(out, u)
		}
	}
	if scheme, rest, ok := strings.Cut(text, ":"); ok && spelling.IsScheme(scheme) {
		read(strings.ToLower(scheme), rest)
	}
	read("", text)
	return out
}

// looseHosts returns the hosts that an authority may name: around each "@", before the last or the
// first ":".
func looseHosts(authority string) []LooseHost {
	var out []LooseHost
	parts := []string{authority[strings.LastIndexByte(authority, '@')+1:]}
	if user, after, ok := strings.Cut(authority, "@"); ok {
		second, _, _ := strings.Cut(after, "@")
		parts = append(parts, user, after, second)
	}
	for _, p := range parts {
		add := func(at int) {
			h := LooseHost{Name: p}
			if at >= 0 {
				h.Name, h.Port = p[:at], strings.TrimLeft(p[at+1:], "0")
			}
			h.Name = canonicalHost(h.Name)
			out = append(out, h)
		}
		if end := strings.IndexByte(p, ']'); strings.HasPrefix(p, "[") && end >= 0 {
			h := LooseHost{Name: canonicalHost(p[:end+1])}
			_, h.Port, _ = strings.Cut(p[end+1:], ":")
			out = append(out, h, LooseHost{canonicalHost(p[1:end]), h.Port}) // some parsers drop the brackets
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
	if decoded := spelling.PercentDecoded(name); decoded != nil {
		name = decoded[0]
	}
	name = strings.TrimRight(strings.ReplaceAll(spelling.Fold(name), "\u3002", "."), ".")
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
	case !IsNumeric([]byte(s)):
		return ""
	case len(s) > 1 && s[0] == '0' && spelling.LowerASCII(s[1]) != 'x':
		return "0o0" + s[1:]
	}
	return s
}
