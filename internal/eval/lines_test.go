package eval_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/testkit/gen"
)

// Rules on command lines have the same effect as the same rules with a second condition that always
// holds: these are evaluated one by one, the others by an index.
func TestManyCommandRules(t *testing.T) {
	documents, seed := drawn(t)
	const tool = "version = 1\n[tools.t]\nunknown_params = \"allow\"\nuncovered = %q\n[tools.t.policy]\nrun = [\n%s]\n[tools.t.parameters]\nx = { type = \"string\" }\nc = %s\nd = { type = \"command\", required = false }\n"
	bindings := func(r *rand.Rand) (text [2]string, all [2]*eval.Binding) {
		var rules [2]strings.Builder
		written := make(map[string]bool)
		for range 5 + r.IntN(160) {
			k := drawCommandRule(r)
			if written[k] {
				continue
			}
			written[k] = true
			mode := choose(r, "unattended", "unattended", "unattended", "unattended", "ask", "edit", "skip", "deny")
			fmt.Fprintf(&rules[0], "  { %s, mode = %q },\n", k, mode)
			fmt.Fprintf(&rules[1], "  { all = [{ %s }, { arg = \"/x\", const = \"a\" }], mode = %q },\n", k, mode)
		}
		uncovered := choose(r, "allow", "ask", "deny")
		kind := choose(r, `{ type = "command" }`, `{ type = "command" }`, `{ type = "argv" }`, `{ type = "array", items = { type = "command" } }`)
		for i := range text {
			text[i] = fmt.Sprintf(tool, uncovered, rules[i].String(), kind)
			all[i] = prepare(t, project, gen.File{Name: "p", Text: text[i], Trusted: true}).Bind(stopgate.Call{Tool: "t"})
		}
		return text, all
	}
	modes := make(map[stopgate.Mode]int)
	for i := range documents / 50 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		text, bound := bindings(r)
		list := strings.Contains(text[0], "array") || strings.Contains(text[0], "argv")
		e := [2]*eval.Evaluation{bound[0].Evaluate(), bound[1].Evaluate()}
		for range 50 {
			args := drawCommandArguments(r, list)
			var traces, explained [2]string
			for n := range e {
				e[n].Reset(bound[n])
				traces[n] = spellAll(run(e[n], args, len(args)+1), spellLine)
				explained[n] = fmt.Sprint(len(e[n].Asking()))
				for _, l := range e[n].Explain().Lists {
					for _, k := range l.Rules {
						explained[n] += fmt.Sprintf("\n%d %s %s %d", k.Ref.Index, k.Status, k.Mode, k.At)
					}
				}
			}
			modes[e[0].Verdict().Mode]++
			if traces[0] != traces[1] || explained[0] != explained[1] {
				t.Fatalf("policy %d of seed %d\n%s\narguments %s\ntogether:\n%s\n%s\none by one:\n%s\n%s", i, seed, text[0], args, traces[0], explained[0], traces[1], explained[1])
			}
		}
	}
	t.Log(modes)
	for _, m := range []stopgate.Mode{stopgate.Unattended, stopgate.Ask, stopgate.Edit, stopgate.Skip, stopgate.Deny} {
		if modes[m]*100 < documents {
			t.Errorf("the generator has gone stale: %d of %d documents end with %v", modes[m], documents, m)
		}
	}
}

// Rules on command lines are compiled by the first evaluations that need them, which share a binding.
func TestCommandRulesConcurrently(t *testing.T) {
	const rules = 200
	var b strings.Builder
	for i := range rules {
		fmt.Fprintf(&b, "{ arg = \"/c\", usage = \"tool%d status **\", mode = \"deny\" },\n", i)
	}
	bound := compile(t, "version = 1\n[tools.t.policy]\nrun = [\n"+b.String()+"]\n[tools.t.parameters]\nc = { type = \"command\" }\n").Bind(stopgate.Call{Tool: "t"})
	var all sync.WaitGroup
	for from := range 4 {
		all.Go(func() {
			for i := range rules {
				n := (i + from*7) % rules
				e := bound.Evaluate()
				e.Feed(fmt.Appendf(nil, `{"c":"git log && tool%d status; $X a"}`, n))
				if v := e.Close(stopgate.Ended); v.Mode != stopgate.Deny || v.Rule == nil || v.Rule.Index != n {
					t.Errorf("rule %d: %v", n, v)
					return
				}
			}
		})
	}
	all.Wait()
}

func spellLine(v stopgate.Verdict) string {
	return fmt.Sprintf("%s pointer %q", spell(v), v.Pointer)
}

func choose(r *rand.Rand, from ...string) string { return from[r.IntN(len(from))] }

// drawCommandRule writes a condition on command lines.
func drawCommandRule(r *rand.Rand) string {
	words := choose(r, "git", "rm", "make", "npm", "sh", "cat", "tool") + choose(r, "", " status", " -rf x", " run x", " push origin main", " a")
	key := choose(r, "usage", "usage", "usage", "glob", "const", "prefix", "prefix", "pattern", "suffix", "enum")
	value := fmt.Sprintf("%q", words)
	switch key {
	case "usage":
		value = fmt.Sprintf("%q", words+choose(r, "", " **", " *", " [-f] **"))
	case "glob":
		value = fmt.Sprintf("%q", words+choose(r, " *", "*", " * x"))
	case "enum":
		value = fmt.Sprintf("[%q, %q]", words, choose(r, "ls", "git log", "rm x"))
	case "pattern":
		value = choose(r, `"^git "`, `"rm"`, `"^(npm|make)"`)
	case "suffix":
		value = choose(r, `"x"`, `"status"`)
	}
	arg := choose(r, "/c", "/c", "/c", "/d")
	match := choose(r, "", "", "", "", `, match = "any"`, `, match = "all"`)
	return fmt.Sprintf("arg = %q, %s = %s%s", arg, key, value, match)
}

// drawCommandArguments writes arguments with command lines.
func drawCommandArguments(r *rand.Rand, list bool) string {
	plain := r.IntN(2) == 0
	line := func() string {
		var b strings.Builder
		for i := range 1 + r.IntN(3) {
			if i > 0 {
				b.WriteString(choose(r, " && ", " | ", "; "))
			}
			if !plain {
				b.WriteString(choose(r, "", "timeout 1 ", "xargs ", "env A=1 ", "sh -c '", "A=1 "))
			}
			b.WriteString(choose(r, "git", "rm", "make", "npm", "cat", "tool"))
			if !plain {
				b.WriteString(choose(r, "", ".exe", "*", "$P", ""))
			}
			for range r.IntN(4) {
				b.WriteString(choose(r, " status", " -rf x", " run x", " push origin main", " x", " a", " -f", " main"))
			}
			if !plain {
				b.WriteString(choose(r, "", " 'a b'", " $X", " *", "'", " > f"))
			}
		}
		return b.String()
	}
	value := fmt.Sprintf("%q", line())
	if list {
		value = fmt.Sprintf("[%q, %q]", line(), line())
	}
	if r.IntN(6) == 0 {
		value = choose(r, "null", "1", `{"a":"git status"}`, `["git","status"]`, "[]", `["rm","-rf","x"]`, `"git status"`)
	}
	other := ""
	switch r.IntN(6) {
	case 0, 1:
		other = fmt.Sprintf(`,"d":%q`, line())
	case 2:
		other = `,"d":` + choose(r, "null", "7", `["rm x"]`, `{"c":"rm x"}`)
	}
	return `{"x":"a","c":` + value + other + choose(r, "", "", "", `,"u":"z"`) + "}"
}
