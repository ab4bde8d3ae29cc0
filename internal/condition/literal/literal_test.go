package literal_test

import (
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stopgate/stopgate/internal/condition/literal"
)

// below is the specification of Paths.Find for one key.
func below(key, path string, all bool) bool {
	return key == path || all && (strings.HasPrefix(path, key+"/") || key == "/" && strings.HasPrefix(path, "/"))
}

// Proves K18, D25-19: Find returns exactly the keys that are the path or a directory above it, for
// any number of keys.
func TestPaths(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	components := []string{"a", "b", "src", "Src", "é", "a.b", ""}
	draw := func() string {
		var parts []string
		for range 1 + r.IntN(4) {
			parts = append(parts, components[r.IntN(len(components)-1)])
		}
		return []string{"", "/"}[r.IntN(2)] + strings.Join(parts, "/")
	}
	type key struct {
		text  string
		below bool
	}
	keys := []key{{"/", true}, {"/", false}}
	for range 300 {
		text := draw()
		keys = append(keys, key{text, r.IntN(2) == 0})
	}
	var entries []literal.Entry
	for i, k := range keys {
		entries = append(entries, literal.Entry{Text: k.text, Prefix: k.below, Member: int32(i)})
	}
	paths := literal.NewPaths(entries)
	for range 3000 {
		path := draw()
		if r.IntN(50) == 0 {
			path = pick(r, []string{"", "/", "..", "../src"})
		}
		var want []int32
		for i, k := range keys {
			if below(k.text, path, k.below) {
				want = append(want, int32(i))
			}
		}
		got := paths.Find([]byte(path), nil)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Fatalf("%q finds %v, want %v of %v", path, got, want, keys)
		}
	}
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// alphabet is small, so that texts often match literals: a letter, a code point of two bytes, a
// blank and a hidden one.
var alphabet = []rune{'a', 'b', 'é', ' ', '\u200b'}

func hidden(r rune) bool { return r == '\u200b' }

// readings returns the forms of a text, computed naively (K21).
func readings(text string, forms bool) []string {
	if !forms {
		return []string{text}
	}
	bare := strings.ReplaceAll(text, "\u200b", "")
	return []string{text, bare, strings.TrimFunc(bare, unicode.IsSpace)}
}

func satisfies(e literal.Entry, text string, forms bool) bool {
	return slices.ContainsFunc(readings(text, forms), func(form string) bool {
		return form == e.Text || e.Prefix && strings.HasPrefix(form, e.Text)
	})
}

// ahead decides about a member by trying every continuation of up to four code points; literals are
// no longer.
func ahead(entries []literal.Entry, member int32, begun string, forms bool) (can, must bool) {
	must = true
	var try func(text string, depth int)
	try = func(text string, depth int) {
		if can && !must {
			return
		}
		hit := slices.ContainsFunc(entries, func(e literal.Entry) bool { return e.Member == member && satisfies(e, text, forms) })
		can, must = can || hit, must && hit
		if depth == 0 {
			return
		}
		for _, r := range alphabet {
			try(text+string(r), depth-1)
		}
	}
	try(begun, 4)
	return can, must
}

// Proves K10, K21, I2: after every code point a tree decides about a member exactly if all
// continuations agree.
func TestTreeIsEarliest(t *testing.T) {
	rounds := 12
	switch {
	case os.Getenv("STOPGATE_LONG") != "":
		rounds = 400
	case testing.Short():
		rounds = 4
	}
	for seed := range rounds {
		r := rand.New(rand.NewPCG(uint64(seed), 7))
		draw := func(most int) string {
			var b strings.Builder
			for range r.IntN(most + 1) {
				b.WriteRune(pick(r, alphabet))
			}
			return b.String()
		}
		forms := seed%2 == 0
		var entries []literal.Entry
		for m := range int32(1 + r.IntN(5)) {
			for range 1 + r.IntN(2) {
				e := literal.Entry{Text: draw(3), Prefix: r.IntN(2) == 0, Member: m, Class: uint8(m % 3)}
				if e.Text != "" || !e.Prefix {
					entries = append(entries, e)
				}
			}
		}
		var f *literal.Forms
		if forms {
			f = &literal.Forms{Hidden: hidden, Blank: unicode.IsSpace}
		}
		tree := literal.NewTree(entries, f)
		var c literal.Cursor
		for range 40 {
			text := draw(5)
			tree.Start(&c)
			for i, p := range append([]string{""}, strings.Split(text, "")...) {
				if p == "" && i > 0 {
					continue
				}
				before := states(tree, &c)
				_, changed := tree.Feed(&c, []byte(p))
				if now := states(tree, &c); now != before && !changed {
					t.Fatalf("%q after %q changed silently", text, p)
				}
				begun := strings.Join(strings.Split(text, "")[:i], "")
				check(t, tree, &c, entries, begun, forms)
			}
			got := tree.End(&c, nil)
			slices.Sort(got)
			var want []int32
			for m := range int32(5) {
				if slices.ContainsFunc(entries, func(e literal.Entry) bool { return e.Member == m && satisfies(e, text, forms) }) {
					want = append(want, m)
				}
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%q is %v, want %v of %+v", text, got, want, entries)
			}
		}
	}
}

// states formats everything that a cursor reports.
func states(tree *literal.Tree, c *literal.Cursor) [2]literal.Summary {
	open := literal.Empty()
	tree.Open(c, &open)
	return [2]literal.Summary{*c.Hit(), open}
}

func check(t *testing.T, tree *literal.Tree, c *literal.Cursor, entries []literal.Entry, begun string, forms bool) {
	t.Helper()
	wantHit, wantOpen := literal.Empty(), literal.Empty()
	any, sure := false, map[int32]bool{literal.None: true}
	for m := range int32(5) {
		can, must := ahead(entries, m, begun, forms)
		if can != tree.Alive(c, m) {
			t.Fatalf("behind %q member %d can be satisfied: %t, of %+v", begun, m, can, entries)
		}
		if can && must {
			wantHit.Add(m, uint8(m%3))
			sure[m] = true
		}
		if can && !must {
			wantOpen.Add(m, uint8(m%3))
			any = true
		}
	}
	got := states(tree, c)
	if got[0] != wantHit {
		t.Fatalf("behind %q hit %v, want %v of %+v", begun, got[0], wantHit, entries)
	}
	for class, want := range wantOpen.Of() { // hit members may be reported as open, too
		if open := got[1].Of()[class]; open != want && !(open < want && sure[open]) {
			t.Fatalf("behind %q open %v, want %v of %+v", begun, got[1], wantOpen, entries)
		}
	}
	if any && tree.Done(c) {
		t.Fatalf("behind %q done, of %+v", begun, entries)
	}
	if lost := tree.Lost(c); lost != (!any && wantHit.First() == literal.None) {
		t.Fatalf("behind %q lost: %t, of %+v", begun, lost, entries)
	}
}
