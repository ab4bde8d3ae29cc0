package jsonstream_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves A7, A8, A24: the end of a string, by hand; an invalid string has no end.
func TestStringEnd(t *testing.T) {
	for _, c := range []struct {
		text    string
		n       int
		escaped bool
	}{
		{`""`, 2, false}, {`"a"b"`, 3, false}, {`"a\"b", x`, 6, true}, {`"größe"`, 9, false}, {`"\ud83d\ude00"`, 14, true},
		{`"0123456789012345678901234567890123456789"`, 42, false},
		{"", 0, false}, {`a"`, 0, false}, {`"`, 0, false}, {`"a`, 0, false}, {`"\"`, 0, false}, {`"\x"`, 0, false}, {`"\ud83d"`, 0, false}, {`"\ude00"`, 0, false},
		{"\"\n\"", 0, false}, {"\"\xFF\"", 0, false}, {"\"\xC0\xAE\"", 0, false},
	} {
		n, escaped := jsonstream.ScanString([]byte(c.text))
		if n != c.n || escaped != c.escaped {
			t.Errorf("%q: %d %v, want %d %v", c.text, n, escaped, c.n, c.escaped)
		}
		text, m := jsonstream.AppendString([]byte("x"), []byte(c.text))
		if m != n || n == 0 && string(text) != "x" {
			t.Errorf("%q in one pass: %d and %q, want %d", c.text, m, text, n)
		}
		if n == 0 {
			continue
		}
		var want string
		if err := json.Unmarshal([]byte(c.text[:n]), &want); err != nil {
			t.Fatal(err)
		}
		if got := string(jsonstream.AppendUnescaped(nil, []byte(c.text[1:n-1]))); got != want {
			t.Errorf("%q: %q, want %q", c.text, got, want)
		}
		if string(text) != "x"+want {
			t.Errorf("%q in one pass: %q, want %q", c.text, text, want)
		}
	}
}

// letters are parts of strings: every way to write a character, and some invalid ones.
var letters = []string{
	"a", "plain text", "é", "€", "😀", `\n`, `\"`, `\\`, `\/`, `\u0041`, `\u00e9`, `\ud83d\ude00`, "\u2028", "\x7f",
	`\ud83d`, `\ude00`, `\x`, "\n", "\x00", "\xff", "\xc0\xae", `"`, `\`,
}

// Proves A7, A8, L4: strings of every length and mixture are read the same in one pass and in two,
// and written the same as by a loop over their characters.
func TestStringsOfEveryMixture(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		inside := strings.Join(rapid.SliceOfN(rapid.SampledFrom(letters), 0, 12).Draw(t, "letters"), "")
		text := []byte(`"` + inside + `"` + rapid.SampledFrom([]string{"", ",", `,"next":1}`}).Draw(t, "behind"))
		n, _ := jsonstream.ScanString(text)
		got, m := jsonstream.AppendString([]byte("x"), text)
		if m != n {
			t.Fatalf("%q: length %d, want %d", text, m, n)
		}
		if n == 0 {
			if string(got) != "x" {
				t.Fatalf("%q: refused, and %q was written", text, got)
			}
			return
		}
		want := jsonstream.AppendUnescaped([]byte("x"), text[1:n-1])
		if string(got) != string(want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
		if quoted := string(jsonstream.AppendQuote(nil, want)); quoted != quotedByCharacter(string(want)) || quoted != string(jsonstream.AppendQuote(nil, string(want))) {
			t.Fatalf("%q is written as %s", want, quoted)
		}
	})
}

func quotedByCharacter(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch short := strings.IndexRune("\"\\\n\t\r\b\f", r); {
		case short >= 0:
			b.WriteString(`\` + `"\ntrbf`[short:short+1])
		case r < ' ':
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return `"` + b.String() + `"`
}

// Proves A7, L5: strings known to the caller are not read again; errors elsewhere, or after them,
// are still detected.
func TestScanWithKnown(t *testing.T) {
	inside := strings.Repeat(`known \" text `, 9)
	asked := 0
	known := func(rest []byte) int {
		asked++
		if strings.HasPrefix(string(rest), inside) {
			return len(inside)
		}
		return 0
	}
	for text, ok := range map[string]bool{
		`{"a":"` + inside + `","b":["` + inside + `","c"],"` + inside + `":1}`: true,
		`"` + inside + `"`:             true,
		`"` + inside + `more"`:         true,
		`"` + inside:                   false,
		`{"a":"` + inside + `"`:        false,
		`{"a":"` + inside + `",}`:      false,
		`{"a":"` + inside + `","b":"x`: false,
	} {
		var d, full jsonstream.Document
		if err := d.ScanWithKnown([]byte(text), jsonstream.Options{}, known); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if err := full.Scan([]byte(text), jsonstream.Options{}); (err == nil) != ok {
			t.Errorf("%s in full: %v", text, err)
		}
		if got, want := string(jsonstream.AppendCanonical(nil, d.Root())), string(jsonstream.AppendCanonical(nil, full.Root())); got != want {
			t.Errorf("%s: %s, in full %s", text, got, want)
		}
	}
	if asked == 0 {
		t.Error("nobody was asked")
	}
}

// Proves L4: only the canonical spelling of a text is recognised as such.
func TestIsQuote(t *testing.T) {
	const text = "plain text, \"code\"\\\t\n and \x01\x7f größe 😀 to the end of it"
	quoted := jsonstream.AppendQuote(nil, text)
	if !jsonstream.IsQuote(quoted, []byte(text)) {
		t.Fatalf("%s is not recognised", quoted)
	}
	for i := range quoted {
		for _, other := range []byte{'"', '\\', 'x', 0, 0xff, quoted[i] ^ 1} {
			changed := append([]byte(nil), quoted...)
			if changed[i] = other; other != quoted[i] && jsonstream.IsQuote(changed, []byte(text)) {
				t.Errorf("%q is recognised", changed)
			}
		}
		if jsonstream.IsQuote(quoted[:i], []byte(text)) || jsonstream.IsQuote(quoted[i+1:], []byte(text)) {
			t.Errorf("a part of it is recognised")
		}
	}
	for _, c := range []struct {
		text, of string
		want     bool
	}{
		{`""`, "", true}, {`"`, "", false}, {"", "", false}, {`"a"`, "", false}, {`"a"`, "a", true}, {`"a" `, "a", false}, {` "a"`, "a", false},
		{`"\u0061"`, "a", false}, {`"\/"`, "/", false}, {`"/"`, "/", true}, {`"\u00e9"`, "é", false}, {`"\u001F"`, "\x1f", false}, {`"\u001f"`, "\x1f", true},
		{`"\u000a"`, "\n", false}, {"\"\ufffd\"", "\xff", true}, {`'a'`, "a", false}, {`12345678901234567`, "234567890123456", false},
	} {
		if got := jsonstream.IsQuote([]byte(c.text), []byte(c.of)); got != c.want {
			t.Errorf("%s is the quote of %q: %t", c.text, c.of, got)
		}
	}
}
