package diff_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/testkit/gen"
)

// withEdits changes some rules of a large policy.
func withEdits(text string, n int) string {
	lines := strings.Split(text, "\n")
	step := (len(lines) - 10) / n
	for i := range n {
		at := 6 + i*step
		lines[at] = strings.NewReplacer("dir", "other", "file", "other", `"/n", const = `, `"/n", const = 9`, `["a`, `["other`).Replace(lines[at])
	}
	return strings.Join(lines, "\n")
}

// One and a hundred edits in 10,000 rules are found and everything else is proved.
func TestDiffOfManyRules(t *testing.T) {
	old := string(gen.Large(10_000, 0))
	for _, n := range []int{1, 100} {
		d, _, _ := diff.Files(policy.Source{Name: "old.toml", Text: []byte(old)}, policy.Source{Name: "new.toml", Text: []byte(withEdits(old, n))}, policy.Options{}, nil)
		if d == nil {
			t.Fatal("a policy has mistakes")
		}
		if !d.Complete || len(d.Edits) < n {
			t.Errorf("%d edits: %d found, %d changes, open %v", n, len(d.Edits), len(d.Changes), d.Open)
		}
	}
}

func BenchmarkDiff(b *testing.B) {
	old := string(gen.Large(10_000, 0))
	for _, n := range []int{0, 1, 100} {
		b.Run(fmt.Sprintf("%d of 10000", n), func(b *testing.B) {
			new := old
			if n > 0 {
				new = withEdits(old, n)
			}
			for b.Loop() {
				diff.Files(policy.Source{Name: "old.toml", Text: []byte(old)}, policy.Source{Name: "new.toml", Text: []byte(new)}, policy.Options{}, nil)
			}
		})
	}
}
