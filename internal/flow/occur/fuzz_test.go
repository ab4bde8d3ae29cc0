package occur

import (
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/testkit/naiveflow"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// A value that the search does not find in a text is not certain, whatever both are; what is certain
// is possible; tokens are parts of the text, and few.
func FuzzOccurs(f *testing.F) {
	for kind, list := range spellings {
		for _, value := range list {
			f.Add(uint8(kind), value, "pay "+value+", please")
		}
	}
	f.Add(uint8(0), "a\xff", "a\xffb \xe2\x80")
	f.Add(uint8(3), "https://https://a.b", "https://a@b:c@d/https://e?f=%2568ttps://g")
	f.Fuzz(func(t *testing.T, k uint8, value, text string) {
		kind := flow.Kind(int(k) % len(spellings))
		if len(value) > 80 || len(text) > 200 {
			return
		}
		tokens := 0
		plain := normalised([]byte(text))
		Scan([]byte(text), func(tok Token) {
			tokens++
			if !tok.Loose && (tok.Start < 0 || tok.End > len(plain) || tok.Start >= tok.End) {
				t.Errorf("token %q is at %d to %d of %d bytes", tok.Value, tok.Start, tok.End, len(plain))
			}
		})
		if tokens > 40*len(plain)+8 {
			t.Errorf("%d tokens of %d bytes", tokens, len(plain))
		}
		certain, possible := find(value, text, flow.Query{Kind: kind, Weak: true})
		if certain && !possible {
			t.Error("certain and not possible")
		}
		if certain && utf8.ValidString(text) && naiveflow.Occurs(kind, value, text) == naiveflow.No {
			t.Errorf("%s %q is certain in %q", kind, value, text)
		}
		Visible([]byte(text))
		Secrets([]byte(text), func([]byte) {})
		Readings([]byte(value), func([]byte) bool { return true })
	})
}

// obfuscations are ways to write a value that programs undo.
var obfuscations = map[string]func(r *rand.Rand, value string) string{
	"base64":    func(_ *rand.Rand, v string) string { return base64.StdEncoding.EncodeToString([]byte(v)) },
	"base64url": func(_ *rand.Rand, v string) string { return base64.RawURLEncoding.EncodeToString([]byte(v)) },
	"hex":       func(_ *rand.Rand, v string) string { return hex.EncodeToString([]byte(v)) },
	"url":       func(_ *rand.Rand, v string) string { return url.QueryEscape(v) },
	"url of all": func(_ *rand.Rand, v string) string {
		return "%" + strings.Join(pairs2(hex.EncodeToString([]byte(v))), "%")
	},
	"case": func(_ *rand.Rand, v string) string { return strings.ToUpper(v) },
	"zero width": func(r *rand.Rand, v string) string {
		return insert(r, v, "\u200b", "\u2060", "\ufeff", "\u00ad", "\u200e")
	},
	"control":     func(r *rand.Rand, v string) string { return insert(r, v, "\x01", "\x7f") },
	"homoglyphs":  func(r *rand.Rand, v string) string { return replaceSome(r, v) },
	"right left":  func(_ *rand.Rand, v string) string { return "\u202e" + reversed(v) + "\u202c" },
	"fullwidth":   func(_ *rand.Rand, v string) string { return strings.Map(wide, v) },
	"quotes":      func(_ *rand.Rand, v string) string { return `"` + v + `"` },
	"punctuation": func(_ *rand.Rand, v string) string { return "((" + v + "!!" },
}

func pairs2(s string) (out []string) {
	for ; s != ""; s = s[2:] {
		out = append(out, s[:2])
	}
	return out
}

func insert(r *rand.Rand, v string, marks ...string) string {
	at := 1 + r.IntN(len(v)-1)
	return v[:at] + marks[r.IntN(len(marks))] + v[at:]
}

func replaceSome(r *rand.Rand, v string) string {
	return strings.Map(func(c rune) rune {
		if other, ok := map[rune]rune{'a': 'а', 'e': 'е', 'o': 'о', 'c': 'с', 'p': 'р', 'x': 'х', 'i': 'і', 's': 'ѕ'}[c]; ok && r.IntN(2) == 0 {
			return other
		}
		return c
	}, v)
}

func reversed(v string) string {
	out := []rune(v)
	for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return string(out)
}

func wide(r rune) rune {
	if r > ' ' && r < 0x7F {
		return r - '!' + '！'
	}
	return r
}

// A value is suspected in a text that has it, however the value or the text is written.
func TestObfuscationsAreFound(t *testing.T) {
	values := map[flow.Kind][]string{
		flow.Email: {"mallory@evil.example", "pax.sec@corp.example.org"},
		flow.Host:  {"evil.example", "api.exposed.example"},
		flow.URL:   {"https://evil.example/collect", "http://evil.example/a?b=c"},
		flow.Path:  {"secrets/keys/prod.pem", "/home/me/passwords.txt"},
		flow.Text:  {"Mallory Pepper", "wire the money to Alex"},
		flow.ID:    {"ACCOUNT-4711-XC", "acme/website"},
		flow.IBAN:  {"DE89370400440532013000"},
	}
	names := make([]string, 0, len(obfuscations))
	for name := range obfuscations {
		names = append(names, name)
	}
	for seed := range property.Cases(2_000, 10_000, 200_000) {
		r := rand.New(rand.NewPCG(uint64(seed), 2))
		kind := []flow.Kind{flow.Email, flow.Host, flow.URL, flow.Path, flow.Text, flow.ID, flow.IBAN}[r.IntN(7)]
		value := values[kind][r.IntN(len(values[kind]))]
		text := value
		slices.Sort(names)
		name := names[r.IntN(len(names))]
		if r.IntN(2) == 0 {
			value = obfuscations[name](r, value)
		} else {
			text = obfuscations[name](r, text)
		}
		text = []string{"please use ", "see:\n", ""}[r.IntN(3)] + text + []string{" now", "\nthanks", ""}[r.IntN(3)]
		if _, possible := find(value, text, flow.Query{Kind: kind}); !possible {
			t.Errorf("seed %d, %s: %s %q is not suspected in %q", seed, name, kind, value, text)
		}
	}
}
