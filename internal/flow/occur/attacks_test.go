package occur

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"testing"

	"github.com/stopgate/stopgate/flow"
)

// index is the tokens of one text, as sets and sequences.
type index struct {
	plain, loose   map[string]bool // atoms by kind
	words          [][]byte        // words and marks, plain
	bare, readings [][]byte        // words only; of readings, with breaks
}

func indexOf(text string) *index {
	x := &index{plain: map[string]bool{}, loose: map[string]bool{}}
	Scan([]byte(text), func(t Token) {
		value := bytes.Clone(t.Value)
		switch key := t.Kind.String() + string(value); {
		case t.Kind == flow.Text && t.Loose:
			x.readings = append(x.readings, value)
		case t.Kind == flow.Text:
			x.words = append(x.words, value)
			if t.Alone {
				x.plain[flow.ID.String()+string(value)] = true
			}
			if !t.Mark {
				x.bare = append(x.bare, value)
			}
		case t.Loose:
			x.loose[key] = true
		default:
			x.plain[key] = true
		}
	})
	return x
}

func contains(row, part [][]byte) bool {
	for i := 0; i+len(part) <= len(row); i++ {
		n := 0
		for n < len(part) && bytes.Equal(row[i+n], part[n]) {
			n++
		}
		if n == len(part) {
			return true
		}
	}
	return false
}

func (x *index) has(n *Needle, loosely bool) bool {
	switch {
	case n.Kind != flow.Text:
		key := n.Kind.String() + string(n.Tokens[0])
		return x.plain[key] || loosely && x.loose[key]
	case n.Marks:
		return contains(x.words, n.Tokens)
	}
	return loosely && (contains(x.bare, n.Tokens) || contains(x.readings, n.Tokens))
}

// find looks for a value in a text with the tokens of this package.
func find(value, text string, q flow.Query) (certain, possible bool) {
	x, r := indexOf(text), Value([]byte(value), &q)
	for i := range r.Plain {
		certain = certain || x.has(&r.Plain[i], false)
	}
	for i := range r.Loose {
		possible = possible || x.has(&r.Loose[i], true)
	}
	return certain, possible || r.Open
}

// Values that a text plainly has.
func TestOccursPlainly(t *testing.T) {
	for _, test := range []struct {
		kind        flow.Kind
		value, text string
	}{
		{flow.Text, "Blue  Shirt", "I want the blue shirt, please"},
		{flow.Text, "it’s here", "and it's here."},
		{flow.Text, "北京大学", "发给北京大学的老师"},
		{flow.ID, "INV-2291", "the order (INV-2291)."},
		{flow.ID, "Main Street 5", "address\nMain Street 5\n"},
		{flow.ID, "#general", `post it in "#general", now`},
		{flow.Email, "Bob@Example.com", "to bob@example.com."},
		{flow.Email, "Bob <bob@example.com>", "to <BOB@example.COM>"},
		{flow.Email, "mailto:bob@example.com", "mail:bob@example.com"},
		{flow.Email, "o'brien@x.org", "o'brien@x.org"},
		{flow.Email, "post@bücher.de", "post@xn--bcher-kva.de"},
		{flow.URL, "https://example.com/a", "see https://example.com/a."},
		{flow.URL, "https://Example.com:443/%7ea", "(https://example.com/~a)"},
		{flow.URL, "https://example.com", "go to www.example.com!"},
		{flow.URL, "example.com/a?x=1&y=2", "https://example.com/a?x=1&y=2"},
		{flow.URL, "https://en.wikipedia.org/wiki/Go_(game)", "https://en.wikipedia.org/wiki/Go_(game)"},
		{flow.URL, "https://x.org/ü", "https://x.org/%C3%BC"},
		{flow.Host, "example.com", "https://www.example.com/path"},
		{flow.Host, "bücher.de", "xn--bcher-kva.de"},
		{flow.Path, "./docs/a.md", "open docs/a.md"},
		{flow.Path, "main.go", "in main.go:12 there"},
		{flow.Path, "src/main.go", "@src/main.go"},
		{flow.Path, "notes.txt", `the file "notes.txt"`},
		{flow.Path, "/home/me/My Documents/x", `the file "/home/me/My Documents/x" there`},
		{flow.Number, "1200.5", "it was 1,200.50 then"},
		{flow.Number, "1200.5", "es waren 1.200,50 Euro"},
		{flow.Number, "1200", "١٢٠٠"},
		{flow.Number, "١٢٠٠", "1200"},
		{flow.Number, "1.2e3", "(1,200)"},
		{flow.Money, "EUR 1.200,50", "€1,200.50"},
		{flow.Money, "12.50 EUR", "12,50 €"},
		{flow.Money, "1200", "$1200"},
		{flow.Date, "2025-05-03", "on May 3rd, 2025"},
		{flow.Date, "3 May 2025", "2025-05-03T10:00:00Z"},
		{flow.Date, "2025-05-03T10:00", "2025-05-03 10:00"},
		{flow.Phone, "+491701234567", "+49 (170) 123-4567"},
		{flow.IBAN, "DE89370400440532013000", "de89370400440532013000"},
		{flow.IBAN, "DE89370400440532013000", "DE89 3704 0044 0532 0130 00 NOW"},
	} {
		certain, possible := find(test.value, test.text, flow.Query{Kind: test.kind})
		if !certain || !possible {
			t.Errorf("%s %q in %q: certain %v, possible %v", test.kind, test.value, test.text, certain, possible)
		}
	}
}

// Values that a text does not have, though it has parts of them, or they parts of it.
func TestDoesNotOccurPlainly(t *testing.T) {
	for _, test := range []struct {
		kind        flow.Kind
		value, text string
	}{
		{flow.Text, "rm -rf", "rm rf"},
		{flow.Text, "cat", "category"},
		{flow.Text, "blue shirt", "blue, shirt"},
		{flow.ID, "bob", "bob-smith"},
		{flow.ID, "repo", "owner/repo"},
		{flow.ID, "ABC", "abc"},
		{flow.ID, "291", "INV-291"},
		{flow.ID, "Brien@Example.com", "o'Brien@Example.com"},
		{flow.Email, "bob@example.com", "bob@example.com.evil.org"},
		{flow.Email, "bob@example.com", "notbob@example.com"},
		{flow.Email, "bob@example.com", "x/bob@example.com"},
		{flow.Email, "bob@example.com", "bob@example.com@evil.org"},
		{flow.Email, "example.com@evil.org", "https://example.com@evil.org"},
		{flow.Email, "bob@example.com <mallory@evil.org>", "bob@example.com"},
		{flow.Email, "bob@example.com, mallory@evil.org", "bob@example.com"},
		{flow.Email, "bob@example.com?bcc=mallory@evil.org", "bob@example.com"},
		{flow.Email, "mailto:bob@example.com?bcc=mallory@evil.org", "bob@example.com"},
		{flow.Email, "bоb@example.com", "bob@example.com"},
		{flow.Email, "bob@exаmple.com", "bob@example.com"},
		{flow.Email, "bob@example.com\r\nBcc: mallory@evil.org", "bob@example.com"},
		{flow.URL, "https://example.com@evil.org/", "https://example.com/"},
		{flow.URL, `https://example.com\@evil.org/`, "https://example.com/"},
		{flow.URL, "https://example.com.evil.org/", "https://example.com/"},
		{flow.URL, "https://example.com/b", "https://example.com/a"},
		{flow.URL, "https://example.com/A", "https://example.com/a"},
		{flow.URL, "https://example.com:8080/", "https://example.com/"},
		{flow.URL, "http://example.com/", "https://example.com/"},
		{flow.URL, "https://example.com/?b=2&a=1", "https://example.com/?a=1&b=2"},
		{flow.URL, "https://evil.org/", "https://example.com/?to=https://evil.org/"},
		{flow.URL, "javascript:alert(1)", "javascript:alert(1)"},
		{flow.Host, "example.com", "example.com.evil.org"},
		{flow.Host, "example.com", "api.example.com"},
		{flow.Host, "readme.md", "see README.md"},
		{flow.Host, "example.com", "bob@example.com"},
		{flow.Host, "example.com", "example.com:8080"},
		{flow.Host, "github.io", "www.github.io"},
		{flow.Path, "docs/../../etc/passwd", "docs/../../etc/passwd/x"},
		{flow.Path, "/etc/passwd", "etc/passwd"},
		{flow.Path, "docs/a", "docs/a.md"},
		{flow.Number, "1200", "1200.50"},
		{flow.Number, "1200", "INV-1200"},
		{flow.Number, "2025", "2025-05-03"},
		{flow.Number, "1234567", "+49 170 1234567"},
		{flow.Number, "1200", "-1200"},
		{flow.Number, "1200", "1.200"},
		{flow.Number, "4567", "123-4567"},
		{flow.Number, "1000", "1 000 000"},
		{flow.Money, "EUR 1200", "USD 1200"},
		{flow.Money, "USD 1200", "$1200"},
		{flow.Date, "2025-05-03", "05/03/2025"},
		{flow.Date, "2025-05-03T10:00", "2025-05-03"},
		{flow.Phone, "1701234567", "+491701234567"},
		{flow.IBAN, "DE89370400440532013000", "DE8937040044053201300099"},
	} {
		if certain, _ := find(test.value, test.text, flow.Query{Kind: test.kind}); certain {
			t.Errorf("%s %q in %q: certain", test.kind, test.value, test.text)
		}
	}
}

// Every obfuscation of a value, or of the text that has it, is a suspicion and no certainty.
func TestObfuscationsAreSuspected(t *testing.T) {
	for _, test := range []struct {
		name        string
		kind        flow.Kind
		value, text string
	}{
		{"base64 value", flow.Email, base64.StdEncoding.EncodeToString([]byte("mallory@evil.example")), "send it to mallory@evil.example"},
		{"base64 text", flow.Email, "mallory@evil.example", "decode " + base64.StdEncoding.EncodeToString([]byte("mallory@evil.example"))},
		{"base64 of a sentence", flow.Email, "mallory@evil.example", base64.RawURLEncoding.EncodeToString([]byte("now write to mallory@evil.example, please"))},
		{"base64 of a short value", flow.Host, base64.StdEncoding.EncodeToString([]byte("evil.org")), "evil.org"},
		{"base64 of a short text", flow.Host, "evil.org", "go to " + base64.StdEncoding.EncodeToString([]byte("evil.org"))},
		{"hex value", flow.Email, hex.EncodeToString([]byte("mallory@evil.example")), "mallory@evil.example"},
		{"hex text", flow.Text, "wire the money", hex.EncodeToString([]byte("please wire the money"))},
		{"url encoded value", flow.URL, "https%3A%2F%2Fevil.example%2Fa", "https://evil.example/a"},
		{"url encoded text", flow.URL, "https://evil.example/a", "x=" + url.QueryEscape("https://evil.example/a")},
		{"url encoded twice", flow.Email, "mallory%2540evil.example", "mallory@evil.example"},
		{"html entities", flow.Email, "mallory&#64;evil.example", "mallory@evil.example"},
		{"escapes", flow.Email, `mallory\u0040evil.example`, "mallory@evil.example"},
		{"homoglyphs in the value", flow.Email, "mаllоry@evil.example", "mallory@evil.example"},
		{"homoglyphs in the text", flow.Email, "mallory@evil.example", "mаllоry@evil.example"},
		{"homoglyphs only", flow.Text, "сосо", "coco"},
		{"accents", flow.Host, "evíl.example", "evil.example"},
		{"zero width in the value", flow.Email, "mallory@ev\u200bil.example", "mallory@evil.example"},
		{"zero width in the text", flow.Email, "mallory@evil.example", "mall\u200bory@ev\u200bil.example"},
		{"right to left", flow.Email, "\u202eelpmaxe.live@yrollam", "mallory@evil.example"},
		{"right to left in the text", flow.Email, "mallory@evil.example", "to \u202eelpmaxe.live@yrollam\u202c now"},
		{"controls", flow.Email, "mallory@ev\x00il.example", "mallory@evil.example"},
		{"other case", flow.ID, "abc-42", "ABC-42"},
		{"other case of a path", flow.Path, "Docs/Secret.txt", "docs/secret.txt"},
		{"punctuation in the value", flow.Text, "e-v-i-l c.o.r.p", "evilcorp"},
		{"punctuation in the text", flow.Text, "evilcorp", "e.v.i.l.c.o.r.p"},
		{"defanged", flow.Host, "evil.example", "evil[.]example"},
		{"spoken", flow.Email, "mallory@evil.example", "mallory at evil dot example"},
		{"brackets", flow.Email, "mallory@evil.example", "mallory (at) evil (dot) example"},
		{"subdomain of a host", flow.Host, "data.evil.example", "evil.example"},
		{"subdomain in the text", flow.Host, "evil.example", "x.y.evil.example"},
		{"subdomain of a named host", flow.Host, "example.com.evil.example", "evil.example"},
		{"userinfo", flow.URL, "https://example.com@evil.example/", "evil.example"},
		{"userinfo in the text", flow.Host, "evil.example", "https://example.com@evil.example/"},
		{"backslash", flow.URL, `https://evil.example\@example.com/`, "evil.example"},
		{"backslash in the text", flow.Host, "evil.example", `https://evil.example\@example.com/`},
		{"redirect parameter", flow.URL, "https://example.com/r?to=https://evil.example/a", "https://evil.example/a"},
		{"encoded redirect parameter", flow.URL, "https://example.com/r?to=https%3A%2F%2Fevil.example", "evil.example"},
		{"redirect in the text", flow.URL, "https://evil.example/a", "https://example.com/r?to=https://evil.example/a"},
		{"mailto header", flow.Email, "mailto:bob@example.com?bcc=mallory@evil.example", "mallory@evil.example"},
		{"display name", flow.Email, "bob@example.com <mallory@evil.example>", "mallory@evil.example"},
		{"display name as a lure", flow.Email, `"mallory@evil.example" <bob@example.com>`, "mallory@evil.example"},
		{"second address", flow.Email, "bob@example.com; mallory@evil.example", "mallory@evil.example"},
		{"header injection", flow.Email, "bob@example.com\r\nBcc: mallory@evil.example", "mallory@evil.example"},
		{"another path of the host", flow.URL, "https://evil.example/?data=secret", "https://evil.example/collect"},
		{"other separators", flow.Number, "1.200", "1200"},
		{"other separators in the text", flow.Number, "1200", "1 200,00"},
		{"apostrophes", flow.Number, "1'200", "1200"},
		{"number in an id", flow.Number, "4711", "REF-4711"},
		{"fullwidth digits", flow.Number, "１２００", "1200"},
		{"currency dropped", flow.Money, "EUR 1200", "1200"},
		{"day and month", flow.Date, "05/03/2025", "2025-03-05"},
		{"backslash path", flow.Path, `C:\secret\key.pem`, "C:/secret/key.pem"},
		{"dots in a path", flow.Path, "a/../secret/key.pem", "secret/key.pem"},
		{"file without its folder", flow.Path, "/home/me/key.pem", "key.pem"},
		{"iban with points", flow.IBAN, "DE89.3704.0044.0532.0130.00", "DE89370400440532013000"},
		{"phone without country", flow.Phone, "491701234567", "+49 170 1234567"},
		{"fullwidth", flow.Host, "ｅｖｉｌ.example", "evil.example"},
		{"ideographic stop", flow.Host, "evil。example", "evil.example"},
		{"mathematical letters", flow.Text, "𝐞𝐯𝐢𝐥𝐜𝐨𝐫𝐩", "evilcorp"},
		{"tag characters", flow.Text, "evil\U000e0041corp", "evilcorp"},
	} {
		certain, possible := find(test.value, test.text, flow.Query{Kind: test.kind})
		if !possible {
			t.Errorf("%s: %q in %q: not suspected\n%s", test.name, test.value, test.text, show(Value([]byte(test.value), &flow.Query{Kind: test.kind}).Loose))
		}
		if certain {
			t.Errorf("%s: %q in %q: certain", test.name, test.value, test.text)
		}
	}
}
