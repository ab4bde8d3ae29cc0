package kinds_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// A glob that is valid without parsing it is valid.
func TestPlainGlobsAreValid(t *testing.T) {
	r, plain := rand.New(rand.NewPCG(1, 2)), 0
	for range 50_000 {
		var text []byte
		for range r.IntN(9) {
			text = append(text, `aB*?/.~-! [{},\)(`[r.IntN(17)])
		}
		if glob.PlainPath(string(text)) {
			plain++
			for _, polarity := range []bool{permissive, restrictive} {
				if _, err := pathname.ReadPath(condition.Glob, string(text), polarity); err != nil {
					t.Fatalf("%q on a path: %v", text, err)
				}
			}
		}
		if plaintext.ValidGlob(string(text)) {
			if err := plaintext.AddString(automaton.New(), condition.Glob, string(text)); err != nil {
				t.Fatalf("%q on a string: %v", text, err)
			}
		}
	}
	if plain < 1000 {
		t.Errorf("only %d globs are plain", plain)
	}
}

// More globs than are kept, and more with one beginning than are evaluated one by one, are found as
// they are alone.
func TestManyPackedGlobs(t *testing.T) {
	group := pathname.NewGroup(project, restrictive)
	var members []*match.Matcher
	for i := range 1500 {
		text := fmt.Sprintf("dir%d/**/*.go", i)
		if i < 100 {
			text = fmt.Sprintf("src/*/x%d", i)
		}
		m := compile(t, spec(condition.Glob, text), aPath, restrictive, project)
		if !addTo(group, m, int32(i)) {
			t.Fatalf("%q cannot be looked up", text)
		}
		members = append(members, m)
	}
	group.Build()
	var v condition.Value
	ask := func(value string) {
		v.Reset([]byte(value))
		got, _ := group.Find(&v, nil)
		for i, m := range members {
			if want := m.Match([]byte(value)); slices.Contains(got, int32(i)) != want {
				t.Fatalf("%q: member %d (%q) alone %t", value, i, m.Written(), want)
			}
		}
	}
	for i := 100; i < 1500; i++ {
		v.Reset(fmt.Appendf(nil, "dir%d/a/b.go", i))
		if got, _ := group.Find(&v, nil); !slices.Contains(got, int32(i)) {
			t.Fatalf("the glob for dir%d is not found", i)
		}
	}
	for _, value := range []string{"src/a/x7", "SRC/a/X99/b", "src/x7", "dir1400/b.go", "/srv/proj/dir1499/a/b.go", "dir1400/b.c", "/etc/dir200/a.go", "src"} {
		ask(value)
	}
}
