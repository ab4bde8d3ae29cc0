package policy_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/testkit/gen"
	"github.com/stopgate/stopgate/internal/testkit/naive"
	"github.com/stopgate/stopgate/policy"
)

// bind compiles a drawn policy and binds it to its tool.
func bind(t testing.TB, c *gen.Case) *policy.Binding {
	t.Helper()
	var sources []policy.Source
	for _, f := range c.Files {
		sources = append(sources, policy.Source{Name: f.Name, Text: []byte(f.Text), Trusted: f.Trusted})
	}
	p, list := policy.CompileUnchecked(sources, policy.Options{Root: gen.Root, Home: gen.Home})
	if p == nil {
		t.Fatalf("%v\n%s", list, dump(c))
	}
	call := stopgate.Call{Tool: gen.Tool}
	if c.Defined {
		call.Definition = &stopgate.ToolDefinition{Name: gen.Tool, Schema: []byte(c.Definition)}
	}
	return p.Bind(call)
}

func dump(c *gen.Case) string {
	var b strings.Builder
	for _, f := range c.Files {
		fmt.Fprintf(&b, "# %s trusted=%t\n%s", f.Name, f.Trusted, f.Text)
	}
	fmt.Fprintf(&b, "# definition %s\n", c.Definition)
	return b.String()
}

// run feeds a text in pieces of the given lengths, the last one repeated.
func run(e *policy.Evaluation, text string, pieces ...int) []stopgate.Verdict {
	for i := 0; len(text) > 0; i++ {
		n := min(pieces[min(i, len(pieces)-1)], len(text))
		e.Feed([]byte(text[:n]))
		text = text[n:]
	}
	e.Close(stopgate.Ended)
	return e.Trace()
}

// spell writes a verdict of either evaluator in one form.
func spell(v stopgate.Verdict) string {
	rule := "-"
	if v.Rule != nil {
		rule = fmt.Sprintf("%s:%d", v.Rule.File, v.Rule.Index)
	}
	return fmt.Sprintf("%s %s %s rule %s candidates %v floors %d at %d", v.Layer, v.Mode, v.Code, rule, v.Candidates, len(v.Floors), v.DecidedAt)
}

func spellNaive(v naive.Verdict) string {
	rule := "-"
	if v.Rule >= 0 {
		n := v.Rule
		if v.Layer == "guard" {
			n = v.Guard
		}
		rule = fmt.Sprintf("file%d.toml:%d", v.File, n)
	}
	return fmt.Sprintf("%s %s %s rule %s candidates %v floors %d at %d", v.Layer, v.Mode, v.Code, rule, v.Candidates, v.Floors, v.At)
}

func spellAll[V any](all []V, one func(V) string) string {
	var lines []string
	for _, v := range all {
		lines = append(lines, one(v))
	}
	return strings.Join(lines, "\n")
}

func TestEquivalence(t *testing.T) {
	cases := 20_000
	if os.Getenv("STOPGATE_LONG") != "" {
		cases = 1_000_000
	}
	if testing.Short() {
		cases = 2_000
	}
	const perPolicy = 50
	seed := uint64(1)
	fmt.Sscan(os.Getenv("STOPGATE_SEED"), &seed)
	failures := 0
	for i := 0; i < cases/perPolicy; i++ {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := gen.Draw(r)
		b := bind(t, c)
		e := b.Evaluate()
		for range perPolicy {
			text := c.Document(r)
			want := spellAll(c.Naive.Trace(text), spellNaive)
			e.Reset(b)
			got := spellAll(run(e, text, len(text)+1), spell)
			if got != want {
				failures++
				t.Errorf("seed %d policy %d\n%s\ndocument %q\n got:\n%s\nwant:\n%s", seed, i, dump(c), text, got, want)
				if failures > 2 {
					t.FailNow()
				}
			}
		}
	}
}
