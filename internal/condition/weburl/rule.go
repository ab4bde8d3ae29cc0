package weburl

import (
	"bytes"
	"strings"

	"golang.org/x/net/idna"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Test evaluates the value of a URL parameter (K0c, K59).
type Test struct {
	kind        condition.Kind
	Restrictive bool
	Literals    []UrlLiteral
	pattern     plaintext.SpellingTest
}

// UrlLiteral is one literal: a host, a scheme, or a URL.
type UrlLiteral struct {
	scheme string // lower case
	host   string // lower case, punycoded
	under  bool   // any name below host: *.example.com
	port   string // "" is the default one, "*" any
	path   string // canonical, without a trailing "/"
	rest   string // query and fragment, of const and enum
}

// Compile compiles a condition on a URL.
func Compile(s condition.Spec, restrictive bool) (condition.TextTest, *condition.SpecError) {
	t := &Test{kind: s.Kind, Restrictive: restrictive}
	read := readURLLiteral
	switch s.Kind {
	case condition.Pattern:
		test, err := plaintext.CompilePatterns(s)
		t.pattern = test
		return t, err
	case condition.Glob, condition.Suffix:
		return nil, condition.Invalid(-1, "looks at text, and a URL is read in parts", "`host = \"*.example.com\"`, `scheme` or `prefix = \"https://example.com/dir/\"`")
	case condition.Host:
		read = readHostLiteral
	case condition.Scheme:
		read = readSchemeLiteral
	}
	for i, lit := range s.Values {
		l, err := read(lit.Text, s.Kind)
		if err != nil {
			err.Index = i
			return nil, err
		}
		t.Literals = append(t.Literals, l)
	}
	return t, nil
}

func readSchemeLiteral(text string, _ condition.Kind) (UrlLiteral, *condition.SpecError) {
	if !spelling.IsScheme(text) {
		return UrlLiteral{}, condition.Invalid(0, "is not the name of a scheme", "`scheme = \"https\"`")
	}
	return UrlLiteral{scheme: strings.ToLower(text)}, nil
}

// readHostLiteral parses example.com, *.example.com, and either with a port: ":*" is any port;
// without a port a permissive condition requires the scheme's default.
func readHostLiteral(text string, _ condition.Kind) (UrlLiteral, *condition.SpecError) {
	var l UrlLiteral
	if strings.Contains(text, "/") || strings.Contains(text, "@") {
		return l, condition.Invalid(0, "is more than a host", "the name only: `host = \"example.com\"`")
	}
	name, under := strings.CutPrefix(text, "*.")
	if strings.Contains(name, "*") && !strings.HasSuffix(name, ":*") || name == "" {
		return l, condition.Invalid(0, "has a wildcard that is not a whole first label", "`*.example.com` is every name below example.com; every URL: `present = true` in place of `host`")
	}
	if at := strings.LastIndexByte(name, ':'); at >= 0 && !strings.HasSuffix(name, "]") {
		if l.port = name[at+1:]; l.port != "*" && !IsPort([]byte(l.port)) {
			return l, condition.Invalid(0, "has a port that is not a number from 1 to 65535", "an IPv6 address stands in brackets: `[::1]`")
		}
		name = name[:at]
	}
	host, ok := asciiHost(name)
	if !ok || !IsHost([]byte(host)) || under && isAddress(host) {
		return l, condition.Invalid(0, "is not a host name or address", "")
	}
	l.host, l.under = host, under
	return l, nil
}

// asciiHost lower-cases and punycodes a host as browsers do.
func asciiHost(name string) (host string, ok bool) {
	if strings.HasPrefix(name, "[") {
		return strings.ToLower(name), true
	}
	profile := idna.New(idna.MapForLookup(), idna.Transitional(false), idna.BidiRule(), idna.StrictDomainName(false))
	host, err := profile.ToASCII(name)
	return host, err == nil
}

func isAddress(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return host[0] == '[' || IsNumeric([]byte(last))
}

func readURLLiteral(text string, k condition.Kind) (UrlLiteral, *condition.SpecError) {
	var l UrlLiteral
	u, ok := Parse([]byte(text))
	if !ok || !u.HasHost || !IsPlainURLPath(u.Path) {
		return l, condition.Invalid(0, "is not a plainly written URL with a scheme and a host", "`https://example.com/dir/`")
	}
	if k == condition.Prefix && len(u.Rest) > 0 {
		return l, condition.Invalid(0, "has a query or fragment, which is no part of a directory", "`"+text[:len(text)-len(u.Rest)]+"`")
	}
	l.scheme, l.host = strings.ToLower(string(u.Scheme)), strings.ToLower(string(u.Host))
	l.port, l.rest = string(u.Port), string(u.Rest)
	if own, _ := DefaultPort(u.Scheme); l.port == own {
		l.port = ""
	}
	l.path = strings.TrimSuffix(string(u.Path), "/")
	if k != condition.Prefix && l.path != string(u.Path) && l.path != "" {
		l.path += "/"
	}
	return l, nil
}

func (t *Test) Match(value []byte) bool {
	u, certain := Parse(value)
	return t.address(value, &u, certain)
}

func (t *Test) Judge(v *condition.Value) bool {
	u, certain := formOf(v).url()
	return t.address(v.Text(), u, certain)
}

func (t *Test) address(value []byte, u *Address, certain bool) bool {
	if certain && (u.HasHost || !t.Restrictive) && (t.kind == condition.Scheme || t.kind == condition.Host || IsPlainURLPath(u.Path)) {
		return t.certain(u, value)
	}
	return t.Restrictive && t.suspected(string(value))
}

// IsPlainURL reports whether every parser reads a URL in the same way.
func IsPlainURL(value []byte) bool {
	_, ok := Parse(value)
	return ok
}

// certain evaluates a URL that has one reading.
func (t *Test) certain(u *Address, value []byte) bool {
	if t.pattern != nil {
		return t.pattern.Holds(value) || t.Restrictive && t.pattern.Holds(bytes.ToLower(value))
	}
	for i := range t.Literals {
		l := &t.Literals[i]
		switch t.kind {
		case condition.Scheme:
			if EqualFold(u.Scheme, l.scheme) {
				return true
			}
		case condition.Host:
			if u.HasHost && l.named(u.Host) && t.port(u.Scheme, u.Port, l.port) {
				return true
			}
		default:
			if u.HasHost && EqualFold(u.Scheme, l.scheme) && l.named(u.Host) && samePort(u, l.port) && t.path(u, l) {
				return true
			}
		}
	}
	return false
}

// named compares a host in ASCII.
func (l *UrlLiteral) named(host []byte) bool {
	if !l.under {
		return EqualFold(host, l.host)
	}
	at := len(host) - len(l.host)
	return at > 1 && host[at-1] == '.' && EqualFold(host[at:], l.host)
}

// port compares the port with that of a host literal. If the literal has none, a permissive
// condition accepts only the scheme's default, a restrictive one every port.
func (t *Test) port(scheme, port []byte, want string) bool {
	own, _ := DefaultPort(scheme)
	switch want {
	case "*":
		return true
	case "":
		return t.Restrictive || len(port) == 0 || string(port) == own
	}
	return string(port) == want || len(port) == 0 && own == want
}

func samePort(u *Address, want string) bool {
	own, _ := DefaultPort(u.Scheme)
	return string(u.Port) == want || want == "" && string(u.Port) == own
}

// path compares complete components for prefix, everything for const and enum.
func (t *Test) path(u *Address, l *UrlLiteral) bool {
	path := u.Path
	if t.kind != condition.Prefix {
		if string(path) == "/" {
			path = nil
		}
		return t.sameText(path, l.path) && t.sameText(u.Rest, l.rest)
	}
	at := len(l.path)
	return len(path) >= at && t.sameText(path[:at], l.path) && (len(path) == at || path[at] == '/')
}

// sameText compares exactly for permissive conditions, without regard to case for restrictive ones,
// as some servers do.
func (t *Test) sameText(b []byte, s string) bool {
	return string(b) == s || t.Restrictive && EqualFold(b, s)
}

// suspected evaluates every plausible reading of a URL.
func (t *Test) suspected(value string) bool {
	for _, text := range Texts(value) {
		if t.pattern != nil {
			if t.pattern.Holds([]byte(text)) {
				return true
			}
			continue
		}
		for _, u := range Loose(text) {
			for i := range t.Literals {
				if t.reads(&u, &t.Literals[i]) {
					return true
				}
			}
		}
	}
	return false
}

// reads compares one reading with one literal.
func (t *Test) reads(u *LooseURL, l *UrlLiteral) bool {
	switch t.kind {
	case condition.Scheme:
		return u.Scheme == l.scheme || u.Scheme == "" && (l.scheme == "http" || l.scheme == "https")
	case condition.Host:
		return t.named(u, l, true)
	}
	return (u.Scheme == l.scheme || u.Scheme == "") && t.named(u, l, false) && t.pathReads(u, l)
}

// named reports whether the literal's host and port are among those of a reading.
func (t *Test) named(u *LooseURL, l *UrlLiteral, anyPort bool) bool {
	for _, h := range u.Hosts {
		if !l.named([]byte(h.Name)) {
			continue
		}
		own, _ := DefaultPort([]byte(u.Scheme))
		want := l.port
		switch {
		case want == "*", want == "" && anyPort, u.Scheme == "", h.Port != "" && !IsPort([]byte(h.Port)):
			return true
		}
		if want == "" {
			want = own
		}
		if h.Port == want || h.Port == "" && want == own {
			return true
		}
	}
	return false
}

// pathReads compares the readings of the path and the path as written, without regard to case.
func (t *Test) pathReads(u *LooseURL, l *UrlLiteral) bool {
	want := strings.TrimSuffix(spelling.Fold(l.path), "/")
	if t.kind != condition.Prefix && u.Remainder != l.rest && !strings.HasPrefix(u.Remainder, "#") {
		return false
	}
	list, complete := pathform.Readings("/"+u.Path, condition.Env{}, false)
	for _, r := range append(list, pathform.Reading{Path: u.Path}) {
		rest, ok := strings.CutPrefix(strings.TrimSuffix(spelling.Fold(r.Path), "/"), want)
		if ok && (rest == "" || t.kind == condition.Prefix && rest[0] == '/') {
			return true
		}
	}
	return !complete
}

// form is a string as a URL, which is parsed once.
type form struct {
	text           []byte
	parsed, strict bool
	address        Address
}

// Derive makes the form that of a string.
func (v *form) Derive(of *condition.Value) { v.text, v.parsed = of.Text(), false }

func formOf(v *condition.Value) *form { return condition.Derived[form](v) }

// url is Parse for the string.
func (v *form) url() (u *Address, certain bool) {
	if !v.parsed {
		v.address, v.strict = Parse(v.text)
		v.parsed = true
	}
	return &v.address, v.strict
}

// Keys returns the hosts that a condition is about, nil if they are unknown.
func (t *Test) Keys() (keys []string) {
	if t.kind == condition.Scheme {
		return nil
	}
	for i := range t.Literals {
		l := &t.Literals[i]
		if l.under || l.host == "" {
			return nil
		}
		keys = append(keys, l.host)
	}
	return keys
}

// Key returns the host of a URL that is plainly written.
func Key(v *condition.Value) (key string, ok bool) {
	u, certain := formOf(v).url()
	return strings.ToLower(string(u.Host)), certain && u.HasHost && IsPlainURLPath(u.Path)
}

// Covers compares two host literals, or two schemes.
func (l *UrlLiteral) Covers(want UrlLiteral, anyPort bool) bool {
	name := l.scheme == want.scheme && l.host == want.host && l.under == want.under || l.under && l.named([]byte(want.host))
	return name && (l.port == want.port || l.port == "*" || l.port == "" && anyPort)
}
