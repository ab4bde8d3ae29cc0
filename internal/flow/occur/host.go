package occur

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/condition/weburl"
)

// names is how browsers convert names to ASCII.
var names = idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.StrictDomainName(false))

// appendHost appends a host in lower case and punycode. ok is false for a text that is no host in
// its usual spelling.
func appendHost(dst, host []byte) (out []byte, ok bool) {
	start := len(dst)
	for i, c := range host {
		if c >= utf8.RuneSelf {
			ascii, err := names.ToASCII(string(host))
			if err != nil || bytes.ContainsFunc(host[i:], noLetter) {
				return dst[:start], false
			}
			dst = append(dst[:start], ascii...)
			break
		}
		dst = append(dst, spelling.LowerASCII(c))
	}
	return dst, weburl.IsHost(dst[start:])
}

func noLetter(r rune) bool {
	return r >= utf8.RuneSelf && classOf(r) != letter && classOf(r) != single && classOf(r) != number
}

// withoutWWW removes the first label "www" of a host, unless everybody can register the rest.
func withoutWWW(host []byte) []byte {
	rest, ok := bytes.CutPrefix(host, []byte("www."))
	if !ok || bytes.IndexByte(rest, '.') < 0 {
		return host
	}
	if suffix, _ := publicsuffix.PublicSuffix(string(rest)); suffix == string(rest) {
		return host
	}
	return rest
}

// registered returns the domain that was registered for a host, "" if it is that or none.
func registered(host string) string {
	host, _, _ = strings.Cut(host, ":")
	if strings.Count(host, ".") < 2 || weburl.IsNumeric([]byte(host[strings.LastIndexByte(host, '.')+1:])) {
		return ""
	}
	name, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil || name == host {
		return ""
	}
	return name
}

// looseHost finds a host that the text does not plainly name, and the domain that it is below of.
func (s *scanner) looseHost(host []byte, start, end int) {
	host = withoutWWW(host)
	s.emit(flow.Host, host, start, end, true)
	s.domain(host, start, end)
}

func (s *scanner) domain(host []byte, start, end int) {
	if bytes.Count(host, []byte(".")) < 2 {
		return
	}
	if name := registered(string(host)); name != "" {
		s.emit(flow.Host, []byte(name), start, end, true)
	}
}

// fileEndings are top-level domains that are the ends of file names more often.
var fileEndings = func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq("bat cab cc cfg conf cs css csv doc docx exe gz go h hpp htm html ini java jpg jpeg js json jsx kt lock log lua md mov mp3 mp4 pdf php pl png ps py rb rs sh so sql svg swift tar tex tf toml ts tsv tsx txt xls xlsx xml yaml yml zip zsh") {
		m[name] = true
	}
	return m
}()

const longestEnding = 5

// isFile reports whether the last label of a name is rather the end of a file name.
func isFile(label []byte) bool {
	if len(label) > longestEnding {
		return false
	}
	var buf [longestEnding]byte
	return fileEndings[string(lowered(buf[:0], label))]
}

// site finds a host without anything else: it is the URL of its first page, too.
func (s *scanner) site(start, end int, loose bool) {
	const scheme = "//"
	s.atom = lowered(append(s.atom[:0], scheme...), s.text[start:end])
	if !weburl.IsHost(s.atom[len(scheme):]) {
		return
	}
	host := s.atom[len(scheme):]
	if bytes.HasPrefix(host, []byte("www.")) {
		host = host[:copy(host, withoutWWW(host))]
	}
	s.atom = append(s.atom[:len(scheme)+len(host)], '/')
	s.emit(flow.URL, s.atom, start, end, loose)
	s.emit(flow.Host, host, start, end, loose)
	s.domain(host, start, end)
}

// bare finds a host without a scheme, with or without a port, a path and a query.
func (s *scanner) bare(start, end int, f features) {
	piece := s.text[start:end]
	size := 0
	for size < len(piece) {
		n, is := hostAt(piece[size:])
		if !is {
			break
		}
		size += n
	}
	if size < 3 || bytes.IndexByte(piece[:size], '.') <= 0 {
		return
	}
	rest := piece[size:]
	loose := false
	if len(rest) > 0 && rest[0] != '/' && rest[0] != '?' && rest[0] != '#' {
		port := 0
		for port+1 < len(rest) && classes[rest[port+1]] == digit {
			port++
		}
		if rest[0] != ':' || port == 0 || port+1 < len(rest) && rest[port+1] != '/' && rest[port+1] != '?' {
			if rest[0] == '@' {
				return
			}
			loose, piece = true, piece[:size]
		}
	}
	last := piece[bytes.LastIndexByte(piece[:size], '.')+1 : size]
	if len(last) < 2 && !weburl.IsNumeric(last) {
		return
	}
	if size == len(piece) && isASCII(piece) {
		s.site(start, end, loose || isFile(last))
		return
	}
	s.prefixed = append(append(s.prefixed[:0], "http://"...), piece...)
	u, ok := canonicalURL(s.atom, s.prefixed, true)
	s.atom = u.text
	if !ok {
		return
	}
	loose = loose || isFile(last)
	s.emit(flow.URL, u.text, start, start+len(piece), loose)
	s.emit(flow.Host, u.host(), start, start+size, loose)
	s.domain(u.name(), start, start+size)
}
