package tomltree_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// formatted checks Format on one document and returns the text: it has the same values in the same
// order and the same comments, and formatting is idempotent.
func formatted(t interface {
	Helper()
	Fatalf(string, ...any)
}, text string) string {
	t.Helper()
	doc, diags := tomltree.Parse("x.toml", []byte(text))
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, text)
	}
	out := string(doc.Format())
	second, diags := tomltree.Parse("x.toml", []byte(out))
	if diags.HasErrors() {
		t.Fatalf("what Format writes is no TOML: %v\n%s\nfrom\n%s", diags, out, text)
	}
	if diff := cmp.Diff(meaning(doc.Root), meaning(second.Root)); diff != "" {
		t.Fatalf("what Format writes says something else: %s\n%s\nfrom\n%s", diff, out, text)
	}
	if diff := cmp.Diff(out, string(second.Format())); diff != "" {
		t.Fatalf("formatting twice is not formatting once: %s\nfrom\n%s", diff, text)
	}
	return out
}

// meaning writes a tree without positions and comments.
func meaning(v *tomltree.Value) string {
	var b strings.Builder
	var walk func(*tomltree.Value)
	walk = func(v *tomltree.Value) {
		fmt.Fprintf(&b, "%s %q", v.Kind, v.Text)
		for _, e := range v.Entries {
			fmt.Fprintf(&b, "(%q ", e.Key)
			walk(e.Value)
			b.WriteString(")\n")
		}
		for _, e := range v.Elements {
			b.WriteString("[")
			walk(e)
			b.WriteString("]\n")
		}
	}
	walk(v)
	return b.String()
}

func TestFormat(t *testing.T) {
	const text = `


# head

version=1
# about t

# about the header
[t] # header
b  =  1 # behind
"c d" = 'x\y' # aligned


long = ["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb", "ccccccccccccccccccccccccccc"]
broken = [ 1, # one
  2,

  # three
  33, # thirty-three
  # end
]
mixed = { a = { b = [ # in b
  1 ] }, c = "x" } # behind mixed
commented = { # first
  x = 1, # x
  # last
}
e = { }
dots . x = 1
dots."y z" = 2
row = { all = [ { arg = "/path", prefix = "src/" }, { arg = "/patterns/paths", prefix = "src/" } ], mode = "unattended" }
text = """
Two
  lines""" # behind the text
# about the next table
[ t . sub.deep ]

z = "tab	quote\""
[[t.list]]
[[t.list]]
k = true
# the end`
	const want = `# head

version = 1
# about t

# about the header
[t] # header
b = 1         # behind
"c d" = 'x\y' # aligned

long = [
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb",
  "ccccccccccccccccccccccccccc",
]
broken = [
  1, # one
  2,

  # three
  33, # thirty-three
  # end
]
mixed = { a = { b = [
  # in b
  1,
] }, c = "x" } # behind mixed
commented = {
  # first
  x = 1, # x
  # last
}
e = {}
dots.x = 1
dots."y z" = 2
row = { all = [
  { arg = "/path", prefix = "src/" },
  { arg = "/patterns/paths", prefix = "src/" },
], mode = "unattended" }
text = """
Two
  lines""" # behind the text

# about the next table
[t.sub.deep]
z = "tab\tquote\""

[[t.list]]

[[t.list]]
k = true
# the end
`
	if diff := cmp.Diff(want, formatted(t, text)); diff != "" {
		t.Error(diff)
	}
	if got := formatted(t, "a = 1 # x\nbcd = 2     # y\n\ne = 3 # z\n"); got != "a = 1   # x\nbcd = 2 # y\n\ne = 3 # z\n" {
		t.Errorf("comments are aligned like this:\n%s", got)
	}
	if got := formatted(t, ""); got != "" {
		t.Errorf("an empty file becomes %q", got)
	}
	if got := formatted(t, "a = 1 # x\r\n\r\nb = [\r\n1, # y\r\n]\r\n"); strings.Contains(got, "\r") {
		t.Errorf("line ends: %q", got)
	}
}

// author writes a random document. Every comment has a number, so that a lost or moved one is
// found.
type author struct {
	t        *rapid.T
	b        strings.Builder
	comments int
	names    int
}

func (a *author) chance(n int) bool { return rapid.IntRange(0, n).Draw(a.t, "chance") == 0 }

func (a *author) comment() {
	a.comments++
	fmt.Fprintf(&a.b, "# c%d.\n", a.comments)
}

// space writes white space that may hold comments.
func (a *author) space() {
	for range rapid.IntRange(0, 3).Draw(a.t, "space") {
		if a.chance(3) {
			a.comment()
		} else {
			a.b.WriteString(rapid.SampledFrom([]string{" ", "\n", "\n\n", "\t"}).Draw(a.t, "blank"))
		}
	}
}

func (a *author) key() {
	a.names++
	spelling := rapid.SampledFrom([]string{"k%d", `"k %d"`, "'%d'", "p%d.q", `p%d . "q r"`}).Draw(a.t, "key")
	fmt.Fprintf(&a.b, spelling, a.names)
}

func (a *author) value(depth int) {
	kinds := []string{"1", "1_000", "0.5e3", "true", `"x"`, `'a\b"'`, `"\t\u0000"`, `"# not a comment"`, `"""` + "\nm # no\n" + `"""`, "'''a'b'''", "2020-01-02"}
	kind := rapid.IntRange(0, len(kinds)+5).Draw(a.t, "kind")
	if kind < len(kinds) || depth > 3 {
		a.b.WriteString(kinds[kind%len(kinds)])
		return
	}
	open, end := "[", "]"
	if kind%2 == 0 {
		open, end = "{", "}"
	}
	a.b.WriteString(open)
	a.space()
	n := rapid.IntRange(0, 5).Draw(a.t, "elements")
	for i := range n {
		if open == "{" {
			a.key()
			a.b.WriteString(" = ")
		}
		a.value(depth + 1)
		a.space()
		if i < n-1 || a.chance(1) {
			a.b.WriteString(",")
			a.space()
		}
	}
	a.b.WriteString(end)
}

func (a *author) trailing() {
	if a.chance(2) {
		a.b.WriteString(" ")
		a.comment()
		return
	}
	a.b.WriteString("\n")
}

var numbers = regexp.MustCompile(`# c\d+\.`)

// No comment is lost, duplicated or moved past another one, and only the layout changes.
func TestFormatKeepsEverything(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		a := &author{t: t}
		for range rapid.IntRange(0, 12).Draw(t, "statements") {
			switch rapid.IntRange(0, 5).Draw(t, "statement") {
			case 0:
				a.comment()
			case 1:
				a.b.WriteString(rapid.SampledFrom([]string{"\n", "\n\n\n", "  \n"}).Draw(t, "blank"))
			case 2:
				a.names++
				fmt.Fprintf(&a.b, rapid.SampledFrom([]string{"[t%d]", "[t%d.a]", "[[t%d]]", "[ t%d . 'x y' ]"}).Draw(t, "header"), a.names)
				a.trailing()
			default:
				a.key()
				a.b.WriteString(rapid.SampledFrom([]string{"=", " = ", "   ="}).Draw(t, "equals"))
				a.value(0)
				a.trailing()
			}
		}
		text := a.b.String()
		out := formatted(t, text)
		if diff := cmp.Diff(numbers.FindAllString(text, -1), numbers.FindAllString(out, -1)); diff != "" {
			t.Fatalf("comments: %s\n%s\nfrom\n%s", diff, out, text)
		}
		for _, line := range strings.Split(out, "\n") {
			if line != strings.TrimRight(line, " \t") {
				t.Fatalf("white space at the end of %q", line)
			}
		}
		if strings.Contains(out, "\n\n\n") {
			t.Fatalf("more than one blank line\n%s", out)
		}
	})
}
