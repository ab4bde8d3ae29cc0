package tomltree_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"plain":        `"plain"`,
		`a\d"`:         `'a\d"'`,
		`it's "so"`:    `"it's \"so\""`,
		"a\nb\tc\rd":   `"a\nb\tc\rd"`,
		"\u202e\x00":   `"\u202E\u0000"`,
		"\U000e0001":   `"\U000E0001"`,
		"é日":           `"é日"`,
		"back\\slash'": `"back\\slash'"`,
	} {
		got := tomltree.Quote(text)
		if got != want {
			t.Errorf("%q is written %s, want %s", text, got, want)
		}
		doc, diags := tomltree.Parse("x.toml", []byte("k = "+got))
		if len(diags) > 0 || doc.Root.Get("k").Value.Text != text {
			t.Errorf("%s is not read back as %q", got, text)
		}
	}
	for key, want := range map[string]string{"a-b_1": "a-b_1", "": `""`, "a.b": `"a.b"`, "*": `"*"`} {
		if got := tomltree.Key(key); got != want {
			t.Errorf("key %q is written %s, want %s", key, got, want)
		}
	}
}
