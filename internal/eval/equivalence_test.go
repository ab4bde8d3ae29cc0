package eval_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/testkit/gen"
	"github.com/stopgate/stopgate/internal/testkit/naive"
	"github.com/stopgate/stopgate/jsonstream"
)

// drawn returns the number of documents of a property test, and its seed: 20,000 for equivalence
// and 5,000 for the others, a million with STOPGATE_LONG; the seed is that of STOPGATE_SEED.
func drawn(t *testing.T) (documents int, seed uint64) {
	documents, seed = 5_000, 1
	switch {
	case t.Name() == "TestI1Equivalence" && !testing.Short():
		documents = 20_000
	case testing.Short():
		documents = 2_000
	}
	if os.Getenv("STOPGATE_LONG") != "" {
		documents = 1_000_000
	}
	if s := os.Getenv("STOPGATE_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("seed %d; repeat with STOPGATE_SEED=%d go test ./internal/eval -run '%s$'", seed, seed, t.Name())
	return documents, seed
}

// eachDocument draws policies and fifty documents for each. check returns a description of a
// failure, "" for none.
func eachDocument(t *testing.T, check func(c *gen.Case, e *eval.Evaluation, b *eval.Binding, text string, r *rand.Rand) string) {
	documents, seed := drawn(t)
	for i := range documents / 50 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := gen.Draw(r)
		c.Moves = i%2 == 1
		b := bind(t, c)
		e := b.Evaluate()
		for range 50 {
			text := c.Document(r)
			e.Reset(b)
			if wrong := check(c, e, b, text, r); wrong != "" {
				t.Fatalf("policy %d of seed %d\n%s\narguments %q\n%s", i, seed, dump(c), text, wrong)
			}
		}
	}
}

// bind compiles a drawn policy and binds it to its tool.
func bind(t testing.TB, c *gen.Case) *eval.Binding {
	t.Helper()
	return prepare(t, condition.Env{Root: gen.Root, Home: gen.Home}, c.Files...).Bind(call(c))
}

func call(c *gen.Case) stopgate.Call {
	call := stopgate.Call{Tool: gen.Tool}
	if c.Defined {
		call.Definition = &stopgate.ToolDefinition{Name: gen.Tool, Schema: []byte(c.Definition)}
	}
	return call
}

func dump(c *gen.Case) string {
	var b strings.Builder
	for _, f := range c.Files {
		fmt.Fprintf(&b, "# %s trusted=%t\n%s", f.Name, f.Trusted, f.Text)
	}
	fmt.Fprintf(&b, "# definition %s\n", c.Definition)
	return b.String()
}

// run feeds a text in pieces of the given lengths, the last one repeated, and ends it normally.
func run(e *eval.Evaluation, text string, pieces ...int) []stopgate.Verdict {
	for i := 0; len(text) > 0; i++ {
		n := min(pieces[min(i, len(pieces)-1)], len(text))
		e.Feed([]byte(text[:n]))
		text = text[n:]
	}
	e.Close(stopgate.Ended)
	return e.Trace()
}

// spell formats a verdict of either evaluator.
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

// Proves I1, D25-09, D25-10, D25-13, D25-14, D25-52, D26-01, D26-02, D26-03, D26-04, D26-10,
// D26-11, D26-30, K7, K8, K9, K10, K11, K16: the streaming evaluator publishes the same verdicts at
// the same bytes as the naive one computes from the complete document.
func TestI1Equivalence(t *testing.T) {
	shares := make(map[string]int)
	eachDocument(t, func(c *gen.Case, e *eval.Evaluation, _ *eval.Binding, text string, _ *rand.Rand) string {
		want := c.Naive.Trace(text)
		got := run(e, text, len(text)+1)
		if spellAll(got, spell) != spellAll(want, spellNaive) {
			return fmt.Sprintf(" got:\n%s\nwant:\n%s", spellAll(got, spell), spellAll(want, spellNaive))
		}
		count(shares, got, text)
		return ""
	})
	reportShares(t, shares)
}

// Proves I1, K60, K0c: the same with conditions on the call, on the groups of the caller and on the
// session's data, known or unknown.
func TestI1WhenEquivalence(t *testing.T) {
	documents, seed := drawn(t)
	conditional := 0
	for i := range documents / 50 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		plain := gen.Draw(r)
		c, under := plain.When()
		p := prepare(t, condition.Env{Root: gen.Root, Home: gen.Home}, c.Files...)
		var data jsonstream.Value
		if under.Data != "" {
			var err error
			if data, err = jsonstream.Parse([]byte(under.Data), jsonstream.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		asked := call(c)
		asked.Agent = stopgate.AgentName(under.Agent)
		if under.Groups != nil {
			var err error
			if asked.Groups, err = stopgate.GroupsOf(under.Groups...); err != nil {
				t.Fatal(err)
			}
		}
		b := p.BindUnder(asked, eval.Circumstances{Situation: p.Situation(asked.Groups, data, nil)})
		e := b.Evaluate()
		for range 50 {
			text := c.Document(r)
			e.Reset(b)
			want := c.Naive.Trace(text)
			got := run(e, text, len(text)+1)
			if spellAll(got, spell) != spellAll(want, spellNaive) {
				t.Fatalf("policy %d of seed %d, %+v\n%s\narguments %q\n got:\n%s\nwant:\n%s", i, seed, under, dump(c), text, spellAll(got, spell), spellAll(want, spellNaive))
			}
			if spellAll(want, spellNaive) != spellAll(plain.Naive.Trace(text), spellNaive) {
				conditional++
			}
		}
	}
	if conditional*10 < documents {
		t.Errorf("the conditions mattered for %d of %d documents only", conditional, documents)
	}
}

// Proves I1: the same for every kind of condition that is a package of its own.
func TestI1KindEquivalence(t *testing.T) {
	documents, seed := drawn(t)
	for kind := range naive.Twins {
		for i := range documents / 50 {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			c := gen.DrawKind(r, kind)
			b := bind(t, c)
			e := b.Evaluate()
			for range 50 {
				text := c.KindDocument(r, kind)
				e.Reset(b)
				want := c.Naive.Trace(text)
				for _, pieces := range [][]int{{len(text) + 1}, {1}} {
					got := run(e, text, pieces...)
					if spellAll(got, spell) != spellAll(want, spellNaive) {
						t.Fatalf("policy %d of seed %d\n%s\narguments %q\n got:\n%s\nwant:\n%s", i, seed, dump(c), text, spellAll(got, spell), spellAll(want, spellNaive))
					}
					e.Reset(b)
				}
			}
		}
	}
}

// count sorts a trace into categories that show whether the generator still draws relevant cases.
func count(shares map[string]int, trace []stopgate.Verdict, text string) {
	last := trace[len(trace)-1]
	shares["documents"]++
	shares["ends "+last.Mode.String()]++
	switch {
	case last.Layer == stopgate.LayerIntegrity:
		shares["refused by integrity"]++
	case last.DecidedAt == 0:
		shares["decided before any byte"]++
	case last.DecidedAt < int64(len(text)):
		shares["decided early"]++
	default:
		shares["decided at the end"]++
	}
	if len(trace) > 1 {
		shares["tightened later"]++
	}
	if len(last.Floors) > 0 {
		shares["with floors"]++
	}
}

func reportShares(t *testing.T, shares map[string]int) {
	t.Helper()
	all := shares["documents"]
	for _, name := range []string{
		"ends unattended", "ends ask", "ends edit", "ends skip", "ends deny", "refused by integrity", "decided before any byte",
		"decided early", "decided at the end", "tightened later", "with floors",
	} {
		t.Logf("%5.1f %% %s", 100*float64(shares[name])/float64(all), name)
		if all >= 5_000 && 200*shares[name] < all { // with fewer policies it may be chance
			t.Errorf("the generator has gone stale: only %d of %d documents are %s", shares[name], all, name)
		}
	}
}

// Proves I2, F043-09, K16, M11, M12: neither verdicts nor their offsets depend on the chunks of the
// text.
func TestI2ChunkInvariance(t *testing.T) {
	eachDocument(t, func(_ *gen.Case, e *eval.Evaluation, b *eval.Binding, text string, r *rand.Rand) string {
		complete := spellAll(run(e, text, len(text)+1), spell)
		cuts := [][]int{{1}, {1 + r.IntN(7)}, {r.IntN(len(text) + 1), 1 + r.IntN(5), len(text) + 1}}
		if len(text) < 12 { // every way to split it
			for set := range 1 << max(len(text)-1, 0) {
				cuts = append(cuts, pieces(set, len(text)))
			}
		}
		for _, cut := range cuts {
			e.Reset(b)
			if got := spellAll(run(e, text, cut...), spell); got != complete {
				return fmt.Sprintf("cut %v:\n%s\nwhole:\n%s", cut, got, complete)
			}
		}
		return ""
	})
}

// pieces converts a set of cuts to lengths: bit i cuts after byte i.
func pieces(set, length int) []int {
	all := []int{}
	n := 0
	for i := range length {
		n++
		if set>>i&1 == 1 {
			all = append(all, n)
			n = 0
		}
	}
	return append(all, max(n, 1))
}

// Proves I3, K8: published verdicts only become stricter, and a floor never lowers one.
func TestI3MonotoneTightening(t *testing.T) {
	eachDocument(t, func(_ *gen.Case, e *eval.Evaluation, _ *eval.Binding, text string, r *rand.Rand) string {
		trace := run(e, text, 1+r.IntN(9))
		for i, v := range trace[1:] {
			before := trace[i]
			switch {
			case stopgate.Strictest(v.Mode, before.Mode) != v.Mode:
				return fmt.Sprintf("%s after %s", spell(v), spell(before))
			case before.Terminal():
				return fmt.Sprintf("%s after the end: %s", spell(v), spell(before))
			case v.DecidedAt < before.DecidedAt || len(v.Floors) < len(before.Floors):
				return fmt.Sprintf("%s goes back behind %s", spell(v), spell(before))
			}
		}
		return ""
	})
}
