package naiveflow

import (
	"math/big"
	"net/netip"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/net/idna"
	"golang.org/x/text/cases"

	"github.com/stopgate/stopgate/flow"
)

// spelling is a value as a part of a text is compared with it.
type spelling struct {
	kind flow.Kind
	text string
}

// spellings returns the canonical spellings of a value, none if it is not plainly of its kind.
func spellings(kind flow.Kind, value string) (out []spelling) {
	add := func(k flow.Kind, text string, ok bool) {
		if ok {
			out = append(out, spelling{k, text})
		}
	}
	if match(`^-?\d{1,20}(\.\d{1,20})?[eE][+-]?\d{1,2}$`, value) && (kind == flow.Number || kind == flow.Money) { // as in JSON
		if v, ok := new(big.Rat).SetString(value); ok {
			return []spelling{{flow.Number, v.RatString()}}
		}
	}
	switch kind {
	case flow.ID:
		add(kind, value, true)
	case flow.Path:
		cleaned, ok := canonical(kind, value)
		add(flow.Path, cleaned, ok)
		add(flow.ID, value, true)
		add(flow.ID, cleaned, ok)
	case flow.Email:
		if m := compiled(`^[^@,;:<>()\[\]\\]*<([^<>]*)>$`).FindStringSubmatch(value); m != nil {
			value = m[1]
		} else if len(value) > 7 && strings.EqualFold(value[:7], "mailto:") {
			value = value[7:]
		}
		text, ok := canonical(kind, value)
		add(kind, text, ok)
	case flow.Money:
		text, ok := canonical(kind, value)
		add(kind, text, ok)
		number, ok := canonical(flow.Number, value)
		add(flow.Number, number, ok && !match(cents, value))
	case flow.Number:
		text, ok := canonical(kind, value)
		add(kind, text, ok && !match(cents, value))
	case flow.Phone:
		text, ok := canonical(kind, strings.TrimPrefix(value, "tel:"))
		add(kind, text, ok)
	case flow.URL:
		text, ok := canonical(kind, value)
		add(kind, text, ok)
		scheme, rest, _ := strings.Cut(text, "//")
		if scheme == "" || scheme == "http:" || scheme == "https:" {
			add(kind, "//"+rest, ok)
		}
		if scheme == "" {
			add(kind, "http://"+rest, ok)
			add(kind, "https://"+rest, ok)
		}
	default:
		text, ok := canonical(kind, value)
		add(kind, text, ok)
	}
	return out
}

// canonical returns the canonical spelling of a text that is one token of a kind.
func canonical(kind flow.Kind, text string) (string, bool) {
	switch kind {
	case flow.ID:
		return text, true
	case flow.Email:
		return email(text)
	case flow.URL:
		return address(text)
	case flow.Host:
		return host(text)
	case flow.Path:
		return cleaned(text)
	case flow.Number:
		return number(text)
	case flow.Money:
		return amount(text)
	case flow.Date:
		return day(text)
	case flow.Phone:
		return digits(text, `^\(?\+?\d[-\d ./()]*[\d)]$`, 7, 15)
	case flow.IBAN:
		text, ok := digits(strings.ToUpper(text), `^[A-Z]{2}\d\d[A-Z0-9 -]*[A-Z0-9]$`, 14, 34)
		return text, ok
	}
	return "", false
}

var addressForm = regexp.MustCompile(`^([\pL\d._+'-]{1,64})@([\pL\pM\d.-]+\.[\pL\pM\d-]+)$`)

func email(text string) (string, bool) {
	m := addressForm.FindStringSubmatch(text)
	if m == nil || strings.HasPrefix(m[1], ".") || strings.HasSuffix(m[1], ".") || strings.Contains(m[1], "..") {
		return "", false
	}
	domain, ok := name(m[2])
	return cases.Fold().String(m[1]) + "@" + domain, ok
}

var profile = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(false))

// name converts a host to lower case and punycode.
func name(text string) (string, bool) {
	ascii, err := profile.ToASCII(text)
	if err != nil || !match(`^([a-z0-9_-]+\.)*[a-z0-9_-]+$`, ascii) {
		return "", false
	}
	if last := ascii[strings.LastIndexByte(ascii, '.')+1:]; match(`^(\d+|0x[0-9a-f]*)$`, last) {
		ip, err := netip.ParseAddr(ascii)
		return ascii, err == nil && ip.String() == ascii
	}
	return ascii, true
}

// address returns a URL without its scheme, if that is http or https, and "www.".
func address(text string) (string, bool) {
	if strings.ContainsAny(text, "\\\"<>^`{|}") || strings.ContainsFunc(text, unicode.IsSpace) || !drawn(text) {
		return "", false
	}
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		scheme, rest = "", text
	} else if !match(`^[A-Za-z][A-Za-z0-9+.-]*$`, scheme) {
		return "", false
	}
	authority := rest
	if at := strings.IndexAny(rest, "/?#"); at >= 0 {
		authority, rest = rest[:at], rest[at:]
	} else {
		rest = ""
	}
	if strings.ContainsAny(authority, "@") || strings.Contains(rest, "@") && !strings.HasPrefix(rest, "/") {
		return "", false
	}
	hostname, port, colon := strings.Cut(authority, ":")
	if colon && port == "" {
		return "", false
	}
	h, ok := name(hostname)
	if !ok || scheme == "" && !strings.Contains(h, ".") || !match(`^([1-9]\d{0,4})?$`, port) {
		return "", false
	}
	scheme = strings.ToLower(scheme)
	if port != "" && !(scheme == "https" && port == "443" || scheme == "http" && port == "80") {
		h += ":" + port
	}
	if scheme != "" {
		scheme += ":"
	}
	if match(`(?s)%(.?$|[^0-9A-Fa-f]|.[^0-9A-Fa-f])`, rest) {
		return "", false
	}
	if !strings.HasPrefix(rest, "/") {
		rest = "/" + rest
	}
	return scheme + "//" + strings.TrimPrefix(h, "www.") + escaped(rest), true
}

func escaped(text string) string {
	out := ""
	for _, b := range []byte(text) {
		if b >= 0x80 {
			out += "%" + strings.ToUpper(big.NewInt(int64(b)).Text(16))
		} else {
			out += string(b)
		}
	}
	return compiled(`%[0-9A-Fa-f]{2}`).ReplaceAllStringFunc(out, func(e string) string {
		if c, _ := url.PathUnescape(e); match(`^[A-Za-z0-9_~-]$`, c) {
			return c
		}
		return strings.ToUpper(e)
	})
}

func host(text string) (string, bool) {
	a, ok := address(text)
	if !ok {
		return "", false
	}
	_, a, _ = strings.Cut(a, "//")
	return a[:strings.IndexAny(a, "/")], true
}

func cleaned(text string) (string, bool) {
	if strings.ContainsAny(text, `\`) || strings.HasPrefix(text, "//") || strings.Contains(text, "://") || strings.Contains("/"+text+"/", "/../") {
		return "", false
	}
	p := path.Clean(text)
	return p, p != "/" && p != "."
}

// cents is a number that has one value next to a currency only.
const cents = `^-?\d+,\d\d$`

// number returns the value of a number in English, or in a spelling with both separators.
func number(text string) (string, bool) {
	text = strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) && r > 127 {
			for n := rune(0); ; n++ {
				if n == 9 || !unicode.IsDigit(r-n-1) {
					return '0' + n
				}
			}
		}
		return r
	}, text)
	switch {
	case match(`^-?[1-9]\d{0,2}\.\d{3}$`, text): // two values
		return "", false
	case match(`^-?\d+(\.\d+)?$`, text):
	case match(`^-?[1-9]\d{0,2}(,\d{3})+(\.\d+)?$`, text):
		text = strings.ReplaceAll(text, ",", "")
	case match(cents, text):
		text = strings.ReplaceAll(text, ",", ".")
	case match(`^-?[1-9]\d{0,2}(\.\d{3})+,\d+$`, text):
		text = strings.ReplaceAll(strings.ReplaceAll(text, ".", ""), ",", ".")
	default:
		return "", false
	}
	v, ok := new(big.Rat).SetString(text)
	if !ok {
		return "", false
	}
	return v.RatString(), true
}

var currency = map[string]string{"€": "EUR", "£": "GBP", "$": "$", "EUR": "EUR", "USD": "USD", "euros": "EUR", "CHF": "CHF"}

func amount(text string) (string, bool) {
	for sign, code := range currency {
		rest, ok := strings.CutPrefix(text, sign)
		if !ok {
			rest, ok = strings.CutSuffix(text, sign)
		}
		rest = strings.Trim(rest, " ")
		if !ok {
			continue
		}
		if match(`^-?\d+,\d\d$`, rest) {
			rest = strings.Replace(rest, ",", ".", 1)
		}
		v, ok := number(rest)
		if ok {
			return code + " " + v, true
		}
	}
	return "", false
}

func day(text string) (string, bool) {
	for _, layout := range []string{"2006-01-02", "2006/01/02", "2.1.2006", "2 January 2006", "2 Jan 2006", "January 2, 2006", "Jan 2, 2006", "January 2 2006"} {
		if d, err := time.Parse(layout, text); err == nil {
			return d.Format(time.DateOnly), true
		}
	}
	if d, err := time.Parse("2006-01-02T15:04", text); err == nil {
		return d.Format("2006-01-02t15:04"), true
	}
	return "", false
}

func digits(text, form string, least, most int) (string, bool) {
	if !match(form, text) {
		return "", false
	}
	bare := strings.Map(func(r rune) rune {
		if strings.ContainsRune(" -./()", r) {
			return -1
		}
		return r
	}, text)
	n := len(strings.TrimPrefix(bare, "+"))
	return bare, n >= least && n <= most
}

var patterns sync.Map

func compiled(pattern string) *regexp.Regexp {
	p, ok := patterns.Load(pattern)
	if !ok {
		p, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return p.(*regexp.Regexp)
}

func match(pattern, text string) bool { return compiled(pattern).MatchString(text) }
