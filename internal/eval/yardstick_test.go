package eval_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/testkit/gen"
)

// smallDocuments returns all objects over three members, in every order, with values from a small
// alphabet.
func smallDocuments() []string {
	var lists []string
	for _, l := range []string{``, `"x"`, `"y"`, `"x","x"`, `"x","y"`, `"y","x"`, `"y","y"`} {
		lists = append(lists, `"l":[`+l+`]`)
	}
	var strs []string
	for _, s := range []string{"", "x", "y", "xx", "xy", "yx", "yy"} {
		strs = append(strs, `"a":"`+s+`"`)
	}
	members := [][]string{strs, {`"b":true`, `"b":false`}, lists}
	var all []string
	var extend func(begun []string, left [][]string)
	extend = func(begun []string, left [][]string) {
		all = append(all, "{"+strings.Join(begun, ",")+"}")
		for i, values := range left {
			rest := append(append([][]string{}, left[:i]...), left[i+1:]...)
			for _, v := range values {
				extend(append(begun[:len(begun):len(begun)], v), rest)
			}
		}
	}
	extend(nil, members)
	return all
}

// smallPolicy draws a policy over the members of smallDocuments.
func smallPolicy(r *rand.Rand) string {
	matchers := []func() string{
		func() string { return fmt.Sprintf(`arg = "/a", const = %q`, oneOf(r, "x", "xy", "y")) },
		func() string { return fmt.Sprintf(`arg = "/a", prefix = %q`, oneOf(r, "x", "xy", "y")) },
		func() string { return fmt.Sprintf(`arg = "/a", glob = %q`, oneOf(r, "x*", "*y", "?", "*")) },
		func() string { return fmt.Sprintf(`arg = "/a", enum = ["x", %q]`, oneOf(r, "yy", "xx")) },
		func() string {
			return fmt.Sprintf(`arg = "/a", pattern = %q`, oneOf(r, "^x+$", "^y", "xy", "y$", "^(xx|y)$"))
		},
		func() string { return fmt.Sprintf(`arg = "/a", suffix = %q`, oneOf(r, "x", "xy")) },
		func() string { return fmt.Sprintf(`arg = "/a", max_length = %s`, oneOf(r, "0", "1")) },
		func() string { return fmt.Sprintf(`arg = "/b", const = %s`, oneOf(r, "true", "false")) },
		func() string { return fmt.Sprintf(`arg = "/l", const = %q`, oneOf(r, "x", "y")) },
		func() string { return fmt.Sprintf(`arg = "/l", min_items = %s`, oneOf(r, "0", "1", "2")) },
		func() string { return fmt.Sprintf(`arg = "/l", max_items = %s`, oneOf(r, "0", "1")) },
		func() string {
			return fmt.Sprintf(`arg = "/%s", present = %s`, oneOf(r, "a", "b", "l"), oneOf(r, "true", "false"))
		},
	}
	mode := func() string { return oneOf(r, "unattended", "unattended", "ask", "ask", "deny", "edit") }
	var b strings.Builder
	fmt.Fprintf(&b, "version = 1\n[tools.t.parameters]\na = { type = \"string\", required = %t }\nb = { type = \"boolean\" }\nl = { type = \"array\", items = { type = \"string\" } }\n[tools.t.policy]\nrun = [\n", r.IntN(3) == 0)
	seen := map[string]bool{}
	for range 1 + r.IntN(4) {
		k := matchers[r.IntN(len(matchers))]()
		if r.IntN(4) == 0 {
			k = "all = [{ " + k + " }, { " + matchers[r.IntN(len(matchers))]() + " }]"
		}
		if !seen[k] {
			seen[k] = true
			fmt.Fprintf(&b, "  { %s, mode = %q },\n", k, mode())
		}
	}
	if r.IntN(2) == 0 {
		fmt.Fprintf(&b, "  { mode = %q },\n", mode())
	}
	return b.String() + "]\n"
}

// stringRule returns a list with one rule, or a mixture, on a string that decides alone.
func stringRule(r *rand.Rand) string {
	matchers := []string{
		`const = "xy"`, `prefix = "xy"`, `enum = ["x", "yx"]`, `glob = "x*"`, `glob = "*y"`, `glob = "?"`, `pattern = "^x+$"`, `pattern = "xy"`, `pattern = "^y"`,
		`pattern = "y$"`, `suffix = "y"`,
	}
	var b strings.Builder
	b.WriteString("version = 1\n[tools.t.parameters]\na = { type = \"string\", required = true }\n[tools.t.policy]\nrun = [\n")
	k := 1 + r.IntN(3)
	for _, i := range r.Perm(len(matchers))[:k] {
		fmt.Fprintf(&b, "  { arg = \"/a\", %s, mode = \"deny\" },\n", matchers[i])
	}
	return b.String() + "  { mode = \"unattended\" },\n]\n"
}

// Proves K10, D25-41: with const, enum, prefix, suffix, glob, pattern and mixtures of them a denial
// comes with the first code point that determines it: an oracle tries every continuation of every
// prefix over a small alphabet. If several rules together determine the result, each of them on its
// own may still wait (K10); the resulting delay is printed.
func TestDecidedInsideAValue(t *testing.T) {
	var values []string
	var grow func(v string)
	grow = func(v string) {
		values = append(values, v)
		if len(v) < 6 {
			grow(v + "x")
			grow(v + "y")
			grow(v + "z")
		}
	}
	grow("")
	const head = `{"a":"`
	verdicts, late := 0, 0
	for seed := range uint64(30) {
		text := stringRule(rand.New(rand.NewPCG(seed, 9)))
		b := prepare(t, condition.Env{}, gen.File{Name: "p", Text: text, Trusted: true}).Bind(stopgate.Call{Tool: "t"})
		e := b.Evaluate()
		decided := make(map[string]int)         // the code points of a value after which its verdict was known, one more: at its end
		modes := make(map[string]map[bool]bool) // modes of all values with a prefix: denied or not
		for _, v := range values {
			e.Reset(b)
			trace := run(e, head+v+`"}`, 1)
			last := trace[len(trace)-1]
			decided[v] = int(last.DecidedAt) - len(head)
			for n := range len(v) + 1 {
				if modes[v[:n]] == nil {
					modes[v[:n]] = make(map[bool]bool)
				}
				modes[v[:n]][last.Mode == stopgate.Deny] = true
			}
		}
		for _, v := range values {
			if len(v) > 3 { // continuations of three code points suffice to distinguish these rules' values
				continue
			}
			determined := 0
			for determined < len(v) && len(modes[v[:determined]]) > 1 {
				determined++
			}
			if len(modes[v[:determined]]) > 1 {
				determined++ // the closing quote
			}
			if at := max(decided[v], 0); at < determined {
				t.Fatalf("%s\n%q is known behind %d code points, determined behind %d", text, v, at, determined)
			} else if at > determined {
				if late += at - determined; strings.Count(text, "deny") == 1 {
					t.Errorf("%s\n%q is known behind %d code points, determined behind %d", text, v, at, determined)
				}
			}
			verdicts++
		}
	}
	t.Logf("%d verdicts, late by %d code points in all", verdicts, late)
}

func oneOf(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// Proves D25-41, I2, K10, D26-01, D26-31: a verdict is never published before it is determined: the
// first byte after which all accepted completions have one mode. The delay of verdicts is printed.
func TestK10NeverBeforeTheYardstick(t *testing.T) {
	documents := smallDocuments()
	n, seed := drawn(t)
	verdicts, exact, late, bytes := 0, 0, 0, 0
	for i := range max(n/100, 20) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		text := smallPolicy(r)
		b := prepare(t, condition.Env{}, gen.File{Name: "p", Text: text, Trusted: true}).Bind(stopgate.Call{Tool: "t"})
		e := b.Evaluate()
		finals := make(map[string]stopgate.Verdict)
		modes := make(map[string]uint8) // of the completions of every prefix
		for _, d := range documents {
			e.Reset(b)
			trace := run(e, d, 1)
			v := trace[len(trace)-1]
			if v.Layer == stopgate.LayerIntegrity {
				continue
			}
			if trace[0].Mode != v.Mode {
				t.Fatalf("%s\n%s: %s was published, then %s", text, d, spell(trace[0]), spell(v))
			}
			finals[d] = v
			for n := range len(d) + 1 {
				modes[d[:n]] |= 1 << v.Mode
			}
		}
		for d, v := range finals {
			determined := 0
			for modes[d[:determined]] != 1<<v.Mode {
				determined++
			}
			delay := int(v.DecidedAt) - determined
			if delay < 0 {
				t.Fatalf("%s\n%s is known with byte %d of %s, determined with %d", text, v.Mode, v.DecidedAt, d, determined)
			}
			verdicts++
			bytes += delay
			late = max(late, delay)
			if delay == 0 {
				exact++
			}
		}
	}
	t.Logf("%d verdicts, %.1f %% of them with the first byte that determines them, the others %.1f bytes later on average, %d at most",
		verdicts, 100*float64(exact)/float64(verdicts), float64(bytes)/float64(max(1, verdicts-exact)), late)
}
