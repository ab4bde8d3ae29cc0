package eval_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/testkit/gen"
	"github.com/stopgate/stopgate/jsonstream"
)

// showExplanation formats an explanation as text.
func showExplanation(x eval.Explanation) string {
	var b strings.Builder
	for _, l := range x.Lists {
		answer := "nothing"
		if l.Decided {
			answer = l.Mode.String()
		}
		fmt.Fprintf(&b, "%s %s [%s] says %s named=%t lowered=%t\n", l.Layer, l.File, l.Table, answer, l.Named, l.Lowered)
		for _, r := range l.Rules {
			fmt.Fprintf(&b, " %d %s %s at %d named=%t %s\n", r.Ref.Index, r.Mode, r.Status, r.At, r.Named, r.Skipped)
			for _, c := range r.Conditions {
				fmt.Fprintf(&b, "   %s%s %s %s at %d %s %q\n", c.On, c.Arg, c.Matcher, c.Status, c.At, c.Pointer, c.Readings)
			}
		}
	}
	return b.String()
}

// Proves D25-51, Q1, Q2, K0b, K56, I25: an explanation has the result of every rule, with its byte, its
// value and its reading.
func TestExplain(t *testing.T) {
	b := layers(t, condition.Env{Root: "/srv/proj"}, `
[tools.t.parameters]
path = { type = "path" }
edits = { type = "array", items = { type = "object", properties = { at = { type = "path" } } } }
n = { type = "integer" }
[tools."*".policy]
run = [
  { arg = "/gone", const = 1, mode = "deny" },
  { when = { agent = "x" }, mode = "skip" },
  { arg = "/n", minimum = 5, mode = "edit" },
  { all = [{ arg = "/edits/at", const = ".env" }, { arg = "/path", prefix = "src" }], mode = "ask" },
  { arg = "/n", const = 2, mode = "deny" },
  { mode = "unattended" },
]
[[guard]]
on = "path"
glob = "**/*.pem"
mode = "skip"
`).Bind(stopgate.Call{Tool: "t"})
	e := b.Evaluate()
	e.Feed([]byte(`{"n":1,"path":"src/a","edits":[{"at":"src/%2e%2e/.env"}]}`))
	e.Close(stopgate.Ended)
	const want = `guard user0 [] says nothing named=false lowered=false
 0 skip eliminated at 56 named=false 
   path glob fails at 56 /edits []
rules user0 [*] says ask named=true lowered=false
 2 edit eliminated at 7 named=false 
   /n minimum fails at 7 /n []
 3 ask matched at 54 named=true 
   /edits/*/at const holds at 54 /edits/0/at [".env (percent-decoded)"]
   /path prefix holds at 21 /path ["src/a (as written)"]
 4 deny not reached at 0 named=false 
   /n const fails at 7 /n []
 5 unattended not reached at 0 named=false 
 0 deny skipped at 0 named=false the tool has no parameter /gone
 1 skip skipped at 0 named=false its conditions on the call do not hold
`
	if got := showExplanation(e.Explain()); got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
	if x := e.Explain(); brief(x.Verdict) != "ask rule_matched rule 3" || x.Bytes != 57 || len(x.Trace) != 1 {
		t.Fatalf("%s, %d bytes, %d verdicts", spell(x.Verdict), x.Bytes, len(x.Trace))
	}
}

// Proves K0a, K56, F19: a guard on paths that matches a command line names the word; its public
// text states, without the word, when only a shell expansion is such a file.
func TestExplainCommandWord(t *testing.T) {
	const hint = "keys (the shell may make such a file of a word with wildcards or variables: write the names out)"
	policy := layers(t, condition.Env{}, `
[tools.t]
parameters.command = { type = "command" }
policy.run = "unattended"
[[guard]]
on = "path"
glob = "**/*.pem"
mode = "deny"
reason = "keys"
`, `
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
[[guard]]
on = "path"
glob = "**/*.secret"
mode = "deny"
`)
	for _, c := range []struct{ line, public, reading string }{
		{"cat v*", hint, "v* (a word of the command, which the shell may expand to such a file)"},
		{"ls && rm x* src", hint, "x* (a word of the command, which the shell may expand to such a file)"},
		{"cat v* a.pem", "keys", "a.pem (a word of the command)"},
		{"cat src/../a.pem", "keys", "src/../a.pem (a word of the command)"},
		{"cat ~/a.pem", "keys", "~/a.pem (a word of the command)"},
		{"cp ~/a.pem x", "keys", "~/a.pem (a word of the command)"},
		{"cat ~/v*", hint, "~/v* (a word of the command, which the shell may expand to such a file)"},
		{"echo '*'; cat < a.pem", "keys", "a.pem (a word of the command)"},
	} {
		e := policy.Bind(stopgate.Call{Tool: "t"}).Evaluate()
		e.Feed([]byte(`{"command":` + string(jsonstream.AppendQuote(nil, c.line)) + `}`))
		v := e.Close(stopgate.Ended)
		if v.Mode != stopgate.Deny || v.Public != c.public || strings.Contains(v.Public, c.reading) {
			t.Errorf("%s: %s, %q", c.line, v.Mode, v.Public)
		}
		found := ""
		for _, l := range e.Explain().Lists {
			for _, r := range l.Rules {
				if r.Named && len(r.Conditions) == 1 {
					found = strings.Join(r.Conditions[0].Readings, ", ")
				}
			}
		}
		if found != c.reading {
			t.Errorf("%s is read as %q, want %q", c.line, found, c.reading)
		}
	}
}

// A text that matches as written has no other reading, and a command line that a condition on
// commands matches has no readings as a path.
func TestExplainPlainMatch(t *testing.T) {
	for _, c := range []struct{ kind, matcher, value, reading string }{
		{"command", `pattern = "^rm"`, "rm   -rf ", ""},
		{"path", `pattern = "^rm"`, "rm   -rf ", "rm   -rf  (as written)"},
		{"path", `glob = "rm *"`, "rm   -rf ", "rm   -rf  (as written)"},
		{"path", `suffix = "rf"`, "rm   -rf ", "rm   -rf (trailing characters trimmed)"},
	} {
		b := layers(t, condition.Env{}, `[tools.t.parameters]
command = { type = "`+c.kind+`" }
[tools.t.policy]
run = [ { arg = "/command", `+c.matcher+`, mode = "deny" } ]
`).Bind(stopgate.Call{Tool: "t"})
		e := b.Evaluate()
		e.Feed([]byte(`{"command":` + string(jsonstream.AppendQuote(nil, c.value)) + `}`))
		if v := e.Close(stopgate.Ended); v.Mode != stopgate.Deny {
			t.Fatal(c, v)
		}
		r := e.Explain().Lists[0].Rules[0]
		if got := strings.Join(r.Conditions[0].Readings, ", "); !r.Named || got != c.reading {
			t.Errorf("%s %s: read as %q, want %q", c.kind, c.matcher, got, c.reading)
		}
	}
}

// Proves K9, K35: an explanation of a verdict without a rule, and of a project's file.
func TestExplainWithoutRule(t *testing.T) {
	b := layers(t, condition.Env{}, "project\n[tools.t.policy]\nrun = [ { arg = \"/n\", const = 1, mode = \"unattended\" } ]\n").Bind(stopgate.Call{Tool: "t"})
	e := b.Evaluate()
	e.Feed([]byte(`{"n":`))
	const want = `rules project0 [t] says ask named=true lowered=true
 0 ask waiting at 0 named=false 
   /n const waiting at 0  []
`
	if got := showExplanation(e.Explain()); got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
}

// Proves I25: without the rule that an explanation names, another one decides.
func TestI25NamedRuleDecides(t *testing.T) {
	named := 0
	documents, seed := drawn(t)
	for i := range documents / 50 {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		c := gen.Draw(r)
		b := bind(t, c)
		for range 10 {
			text := c.Document(r)
			e := b.Evaluate()
			trace := run(e, text, len(text)+1)
			v := trace[len(trace)-1]
			var refs []stopgate.RuleRef
			for _, l := range e.Explain().Lists {
				for _, rule := range l.Rules {
					if rule.Named {
						refs = append(refs, rule.Ref)
					}
				}
			}
			if v.Rule == nil {
				if len(refs) != 0 {
					t.Fatalf("%s names %v", spell(v), refs)
				}
				continue
			}
			if len(refs) != 1 || refs[0] != *v.Rule {
				t.Fatalf("%s names %v", spell(v), refs)
			}
			named++
			without := *c
			without.Files = append([]gen.File(nil), c.Files...)
			for k := range without.Files {
				if f := &without.Files[k]; f.Name == v.Rule.File {
					f.Text = withoutLine(f.Text, v.Rule.Line)
				}
			}
			if other := final(t, bind(t, &without), text); other.Rule != nil && other.Rule.ID == v.Rule.ID && other.Layer == v.Layer && other.Rule.File == v.Rule.File {
				t.Fatalf("%s\narguments %q\nwith: %s\nwithout line %d: %s", dump(c), text, spell(v), v.Rule.Line, spell(other))
			}
		}
	}
	if named == 0 {
		t.Error("nothing was named")
	}
}

// withoutLine removes the rule that begins at a line: the line of a list, the four lines of a
// guard.
func withoutLine(text string, line int) string {
	lines := strings.SplitAfter(text, "\n")
	n := 1
	if strings.HasPrefix(lines[line-1], "[[guard]]") {
		for n = 1; line-1+n < len(lines) && !strings.HasPrefix(lines[line-1+n], "[["); {
			n++
		}
	}
	return strings.Join(append(append([]string{}, lines[:line-1]...), lines[line-1+n:]...), "")
}
