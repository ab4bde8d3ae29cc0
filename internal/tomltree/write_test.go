package tomltree_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/tomltree"
)

func TestAppend(t *testing.T) {
	const text = `
# about a
[t] # header
b  =  1 # behind
"c d" = 'x\y'
long = ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "ccccccccccccccccccccccccccc"]
broken = [ 1, # one
  2,
  # end
]
mixed = { a = { b = [ # in b
  1 ] }, c = "x" } # behind mixed
e = { }
dots.x = 1
dots.y = 2
[t.sub.deep]
z = "tab	quote\""
[[t.list]]
[[t.list]]
k = true
`
	const want = `# about a
[t] # header
b = 1 # behind
"c d" = 'x\y'
long = [
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
  "ccccccccccccccccccccccccccc",
]
broken = [
  1, # one
  2,
  # end
]
mixed = {
  a = {
    b = [
      # in b
      1,
    ],
  },
  c = "x",
} # behind mixed
e = {}
dots = { x = 1, y = 2 }

[t.sub.deep]
z = "tab\tquote\""

[[t.list]]

[[t.list]]
k = true
`
	for _, source := range []string{text, want} {
		doc, diags := tomltree.Parse("x.toml", []byte(source))
		if len(diags) > 0 {
			t.Fatal(diags)
		}
		got := tomltree.Append(nil, "[t]", "t", doc.Root.Get("t").Value)
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

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
