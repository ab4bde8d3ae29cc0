package policy_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/policy/syntax"
)

// Proves K60, K0c: what every matcher says of a session's data, for rules that restrict
// and rules that permit. "?" is in doubt: the one holds then, the other does not.
func TestSituations(t *testing.T) {
	for _, c := range []struct {
		condition, data    string
		restricts, permits bool
	}{
		{`const = "strict"`, `{"v":"strict"}`, true, true},
		{`const = "strict"`, `{"v":"lax"}`, false, false},
		{`const = "strict"`, `{"v":7}`, false, false},
		{`const = "strict"`, `{}`, true, false},
		{`const = "strict"`, `{"v":null}`, true, false},
		{`const = "strict"`, `{"v":["strict"]}`, true, true},
		{`const = "strict"`, `{"v":["strict","lax"]}`, true, false},
		{`const = "strict"`, `{"v":[]}`, false, false},
		{`const = "strict"`, `{"v":{"strict":1}}`, false, false},
		{`const = true`, `{"v":true}`, true, true},
		{`const = true`, `{"v":false}`, false, false},
		{`minimum = 3`, `{"v":3}`, true, true},
		{`minimum = 3`, `{"v":2.9}`, false, false},
		{`enum = ["a", "b"]`, `{"v":"b"}`, true, true},
		{`pattern = "^x+$"`, `{"v":"xx"}`, true, true},
		{`pattern = "^x+$"`, `{"v":"xy"}`, false, false},
		{`min_items = 2`, `{"v":[1,2]}`, true, true},
		{`min_items = 2`, `{"v":[1]}`, false, false},
		{`present = true`, `{"v":1}`, true, true},
		{`present = true`, `{}`, false, false},
		{`present = false`, `{}`, true, true},
		{`present = false`, `{"v":null}`, true, true},
		{`present = false`, `{"v":0}`, false, false},
		{`const = "strict"`, `[]`, true, false},
		{`present = true`, `7`, true, false},
		{`present = true`, ``, true, false},
	} {
		data := jsonstream.Value{}
		if c.data != "" {
			v, err := jsonstream.Parse([]byte(c.data), jsonstream.Options{})
			if err != nil {
				t.Fatal(err)
			}
			data = v
		}
		for mode, holds := range map[string]bool{"deny": c.restricts, "ask": c.restricts, "unattended": c.permits} {
			rest := map[string]string{"deny": "unattended", "ask": "unattended", "unattended": "deny"}[mode]
			program, list := compileOne("version = 1\n[tools.t.policy]\nrun = [ { when = { session = \"/v\", " + c.condition + " }, mode = \"" + mode + "\" }, { mode = \"" + rest + "\" } ]\n")
			if program == nil {
				t.Fatal(list)
			}
			if !program.LooksAtSessions() {
				t.Fatal("no rule looks at the session")
			}
			e := program.BindUnder(stopgate.Call{Tool: "t"}, policy.Circumstances{Situation: program.Situation(data)}).Evaluate()
			e.Feed([]byte(`{}`))
			want := rest
			if holds {
				want = mode
			}
			if got := e.Close(stopgate.Ended).Mode.String(); got != want {
				t.Errorf("%s of %s on %q: %s, want %s", mode, c.condition, c.data, got, want)
			}
		}
	}
}

func compileOne(text string) (*policy.Program, error) {
	p, list := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	return p, list.Err()
}

// Proves K60: without knowledge of the session, and with that of another program's
// conditions, rules are as in doubt; the pointer may name many values.
func TestInDoubt(t *testing.T) {
	program, err := compileOne(`version = 1
[[guard]]
when = { session = "/teams/*/frozen", const = true }
mode = "deny"
[tools.t.policy]
run = [ { when = { session = "/teams/*/open", const = true, agent = "main" }, mode = "unattended" }, { mode = "skip" } ]
result = [ { when = { session = "/secret", const = true }, mode = "skip" } ]
`)
	if program == nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ data, run, result string }{
		{``, "deny", "skip"},
		{`{"teams":[{"frozen":false,"open":true},{"frozen":false,"open":true}],"secret":false}`, "unattended", "ask"},
		{`{"teams":[{"frozen":false,"open":true},{"frozen":false,"open":false}]}`, "skip", "skip"},
		{`{"teams":[{"frozen":false,"open":true},{"frozen":false}]}`, "skip", "skip"},
		{`{"teams":[{"frozen":false,"open":true},{"frozen":true,"open":true}]}`, "deny", "skip"},
		{`{"teams":[{"frozen":false},{}]}`, "deny", "skip"},
		{`{"teams":[]}`, "deny", "skip"},
		{`{"teams":"none"}`, "deny", "skip"},
	} {
		var s policy.Situation
		if c.data != "" {
			v, err := jsonstream.Parse([]byte(c.data), jsonstream.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s = program.Situation(v)
		}
		b := program.BindUnder(stopgate.Call{Tool: "t", Agent: "main"}, policy.Circumstances{Situation: s})
		e := b.Evaluate()
		e.Feed([]byte(`{}`))
		if got := e.Close(stopgate.Ended).Mode.String(); got != c.run {
			t.Errorf("%q: %s, want %s", c.data, got, c.run)
		}
		var doc jsonstream.Document
		if err := doc.Scan([]byte(`{}`), jsonstream.Options{}); err != nil {
			t.Fatal(err)
		}
		if got := b.ResultMode(&doc).Mode.String(); got != c.result {
			t.Errorf("result on %q: %s, want %s", c.data, got, c.result)
		}
	}
}

// Proves K60, D25-39: what check and diff say of rules for some sessions is true: a rule
// is dead behind one with the same condition, and behind none with another.
func TestSessionsInAnalysis(t *testing.T) {
	const strict, lax = `when = { session = "/mode", const = "strict" }`, `when = { session = "/mode", const = "lax" }`
	file := func(rules string) string { return "version = 1\n[tools.t.policy]\nrun = [" + rules + "]\n" }
	for _, c := range []struct {
		name, rules string
		dead        bool
	}{
		{"the same", `{ ` + strict + `, mode = "deny" }, { ` + strict + `, mode = "ask" }, { mode = "skip" }`, true},
		{"another value", `{ ` + strict + `, mode = "deny" }, { ` + lax + `, mode = "ask" }, { mode = "skip" }`, false},
		{"everywhere, behind", `{ ` + strict + `, mode = "deny" }, { mode = "skip" }`, false},
		{"everywhere, above", `{ mode = "skip" }, { ` + strict + `, mode = "deny" }`, true},
		{"behind a permission", `{ ` + strict + `, mode = "unattended" }, { ` + strict + `, mode = "deny" }, { mode = "skip" }`, false},
	} {
		p, list := syntax.Parse("stopgate.toml", []byte(file(c.rules)))
		if p == nil || list.HasErrors() {
			t.Fatal(list)
		}
		dead := false
		for _, d := range policy.Check(p, policy.Options{}) {
			dead = dead || strings.Contains(d.Message, "can never match")
		}
		if dead != c.dead {
			t.Errorf("%s: dead %t, want %t", c.name, dead, c.dead)
		}
		for _, r := range policy.Reach(p, policy.Options{}) {
			if (r.Answer == match.No) != (c.dead && r.Index == 1) {
				t.Errorf("%s: rule %d: %v", c.name, r.Index, r.Answer)
			}
		}
	}
}

// Proves K60, D25-28: mistakes in conditions on sessions are reported where they are.
func TestMistakesInSessionConditions(t *testing.T) {
	for _, c := range []struct{ when, want string }{
		{`{ session = "/mode" }`, "one matcher"},
		{`{ session = "mode", const = 1 }`, "not a JSON Pointer"},
		{`{ session = 7, const = 1 }`, "`session`"},
		{`{ session = "/mode", const = 1, minimum = 2 }`, "exactly one matcher"},
		{`{ session = "/mode", pattern = "(" }`, "not closed"},
		{`{ agent = "a", const = 1 }`, "const"},
		{`{ session = "/mode", const_in = "modes" }`, "no list"},
	} {
		_, err := compileOne("version = 1\n[[guard]]\nwhen = " + c.when + "\nmode = \"deny\"\n")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.when, err)
		}
	}
	one, _ := compileOne("version = 1\n[[guard]]\nwhen = { session = \"/a\", const = 1 }\nmode = \"deny\"\n")
	two, _ := compileOne("version = 1\n[[guard]]\nwhen = { session = \"/a\", const = 2 }\nmode = \"deny\"\n")
	if one == nil || two == nil || one.Hash() == two.Hash() {
		t.Error("the condition does not enter the hash")
	}
	const listed = "version = 1\n[lists]\nmodes = [\"a\", \"b\"]\n[[guard]]\non = \"path\"\nglob = \"x\"\nwhen = { agent = \"main\", session = \"/a\", const_in = \"modes\" }\nmode = \"deny\"\n"
	if p, err := compileOne(listed); p == nil || p.Hash() == one.Hash() {
		t.Error(err)
	}
}
