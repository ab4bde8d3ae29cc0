package regular_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/regexp/regular"
)

func compiled(b testing.TB, pattern string) *regular.Pattern {
	b.Helper()
	p, err := regular.Compile(pattern)
	if err != nil {
		b.Fatal(err)
	}
	return p
}

// The text that makes a backtracking engine explode (D5), from a pattern that was
// never used: budget 1 ms.
func BenchmarkCatastrophic(b *testing.B) {
	text := append(bytes.Repeat([]byte("a"), 5000), '!')
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if compiled(b, `^(a+)+$`).Match(text) {
			b.Fatal("matches")
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		compiled(b, `^[a-z0-9]+(?:-[a-z0-9]+)*@(?:\w+\.){1,5}[a-z]{2,10}$`)
	}
}

// Compile and everything that is prepared for the first text.
func BenchmarkFirstUse(b *testing.B) {
	for _, pattern := range []string{`^git (status|log)$`, `rm -rf`, `^[a-z0-9]+(?:-[a-z0-9]+)*@(?:\w+\.){1,5}[a-z]{2,10}$`, `(?i:password)\s*[:=]`, `^(?!.*\.\.)[\w./-]{1,200}$`, `^\p{L}+$`, `(?=.*[a-z])(?=.*[0-9]).{8,64}`} {
		b.Run(pattern, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				compiled(b, pattern).Match([]byte("git log"))
			}
		})
	}
}

const source = "func main() {\n\tfor i := range 10 {\n\t\tfmt.Println(\"größe\", i) // a comment that goes on for a while\n\t}\n}\n"

// Content that streams through automata: budget 3 ns per byte.
func BenchmarkFeed(b *testing.B) {
	text := []byte(strings.Repeat(source, 64*1024/len(source)))
	many := func(n int) []*regular.Language {
		var out []*regular.Language
		for i := range n {
			out = append(out, compiled(b, fmt.Sprintf(`(?:rm|del)%d\s+-[rf]+|^x%d.*y$`, i, i)).Language())
		}
		return out
	}
	for _, bench := range []struct {
		name    string
		members []*regular.Language
	}{
		{"search", []*regular.Language{compiled(b, `rm\s+-rf`).Language()}},
		{"anchored", []*regular.Language{compiled(b, `^[^\0]*$`).Language()}},
		{"boundary", []*regular.Language{compiled(b, `\bsudo\b`).Language()}},
		{"lookahead", []*regular.Language{compiled(b, `^(?![^]*\beval\b)[^]*\bimport\b`).Language()}},
		{"lookbehind", []*regular.Language{compiled(b, `(?<!a )comment (?=which)`).Language()}},
		{"50 patterns", many(50)},
		{"500 patterns", many(500)},
	} {
		b.Run(bench.name, func(b *testing.B) {
			a := regular.Join(bench.members...)
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				s := a.Start()
				for at := 0; at < len(text); {
					n, _ := a.Feed(&s, text[at:min(at+1024, len(text))])
					at += n
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(text)), "ns/byte")
		})
	}
}

// One path against 500 patterns: budget 1 us.
func BenchmarkPath(b *testing.B) {
	var members []*regular.Language
	for i := range 500 {
		members = append(members, compiled(b, fmt.Sprintf(`^src/module%d/.*\.(?:go|ts)$`, i)).Language())
	}
	a := regular.Join(members...)
	path := []byte("src/module317/internal/server/handler.go")
	b.ReportAllocs()
	for b.Loop() {
		s := a.Start()
		for at := 0; at < len(path); {
			n, _ := a.Feed(&s, path[at:])
			at += n
		}
		if !a.Accepts(&s, 317) {
			b.Fatal("no match")
		}
	}
}

func BenchmarkIncludes(b *testing.B) {
	outer, inner := compiled(b, `^[a-z][a-z0-9-]*$`).Language(), compiled(b, `^(?:[a-f]+[0-9]{0,3}|k-[a-z]{2,8})$`).Language()
	b.ReportAllocs()
	for b.Loop() {
		if yes, _ := outer.Includes(inner, regular.DefaultBudget); yes != regular.Yes {
			b.Fatal(yes)
		}
	}
}
