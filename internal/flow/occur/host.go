package occur

import (
	"bytes"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/net/idna"

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
	if !ok || bytes.IndexByte(rest, '.') < 0 || shared()[string(rest)] || isRegistry(rest) {
		return host
	}
	return rest
}

// shared are domains below which everybody gets a name.
var shared = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq(`github.io gitlab.io codeberg.page bitbucket.io readthedocs.io pages.dev workers.dev r2.dev vercel.app now.sh netlify.app
		netlify.com herokuapp.com web.app firebaseapp.com appspot.com run.app a.run.app blogspot.com azurewebsites.net azureedge.net cloudfront.net amazonaws.com
		s3.amazonaws.com elasticbeanstalk.com awsapprunner.com onrender.com fly.dev deno.dev surge.sh glitch.me repl.co replit.app replit.dev ngrok.io ngrok.app
		ngrok.dev ngrok-free.app ngrok-free.dev trycloudflare.com loca.lt serveo.net wordpress.com tumblr.com weebly.com wixsite.com webflow.io framer.app
		myshopify.com substack.com medium.com hf.space streamlit.app gradio.live dyndns.org duckdns.org no-ip.org hopto.org ddns.net sslip.io nip.io eu.org
		uk.com us.com eu.com de.com gb.net`) {
		m[name] = true
	}
	return m
})

// isRegistry reports whether a domain is one of a country below which names are registered, such
// as co.uk.
func isRegistry(domain []byte) bool {
	first, country, _ := bytes.Cut(domain, []byte("."))
	if len(country) != 2 {
		return false
	}
	switch string(first) {
	case "co", "com", "org", "net", "ac", "gov", "edu", "mil", "go", "ne", "or", "gob", "gouv", "govt", "ltd", "plc", "me", "nom", "info", "biz", "web", "school", "sch", "k12", "id", "in", "ind", "firm", "gen", "asso", "tm":
		return true
	}
	return false
}

// registered calls each for the domains of which one was registered for a host: its last two
// labels, or three where the second last is short.
func registered(host []byte, each func(domain []byte)) {
	if at := bytes.LastIndexByte(host, ':'); at >= 0 {
		host = host[:at]
	}
	last := bytes.LastIndexByte(host, '.')
	if last <= 0 || weburl.IsNumeric(host[last+1:]) {
		return
	}
	second := bytes.LastIndexByte(host[:last], '.')
	if second <= 0 {
		return
	}
	each(host[second+1:])
	if third := bytes.LastIndexByte(host[:second], '.'); third > 0 && last-second <= len(".com") {
		each(host[third+1:])
	}
}

// looseHost finds a host that the text does not plainly name, and its domain.
func (s *scanner) looseHost(host []byte, start, end int) {
	host = withoutWWW(host)
	s.emit(flow.Host, host, start, end, true)
	s.domain(host, start, end)
}

func (s *scanner) domain(host []byte, start, end int) {
	registered(host, func(name []byte) { s.emit(flow.Host, name, start, end, true) })
}

// fileEndings are top-level domains that are the ends of file names more often.
var fileEndings = sync.OnceValue(func() map[string]bool {
	m := map[string]bool{}
	for name := range strings.FieldsSeq("bat cab cc cfg conf cs css csv doc docx exe gz go h hpp htm html ini java jpg jpeg js json jsx kt lock log lua md mov mp3 mp4 pdf php pl png ps py rb rs sh so sql svg swift tar tex tf toml ts tsv tsx txt xls xlsx xml yaml yml zip zsh") {
		m[name] = true
	}
	return m
})

const longestEnding = 5

// isFile reports whether the last label of a name is rather the end of a file name.
func isFile(label []byte) bool {
	if len(label) > longestEnding {
		return false
	}
	var buf [longestEnding]byte
	return fileEndings()[string(lowered(buf[:0], label))]
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
		if rest[0] != ':' || port == 0 || port+1 < len(rest) && rest[port+1] != '/' && rest[port+1] != '?' && rest[port+1] != '#' {
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
