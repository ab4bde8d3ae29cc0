package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves K60, K0c: the result of every matcher on a session's data, for restrictive and permissive
// rules. "?" is unknown: the restrictive rule holds then, the permissive one does not.
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
			program := compile(t, "version = 1\n[tools.t.policy]\nrun = [ { when = { session = \"/v\", "+c.condition+" }, mode = \""+mode+"\" }, { mode = \""+rest+"\" } ]\n")
			if !program.LooksAtSessions() {
				t.Fatal("no rule looks at the session")
			}
			e := program.BindUnder(stopgate.Call{Tool: "t"}, eval.Circumstances{Situation: program.Situation(stopgate.Groups{}, data, nil)}).Evaluate()
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

// Proves K60: without knowledge of the session, and with that of other conditions, the result is
// unknown; the pointer may lead to many values.
func TestUnknownSituation(t *testing.T) {
	program := compile(t, `version = 1
[[guard]]
when = { session = "/teams/*/frozen", const = true }
mode = "deny"
[tools.t.policy]
run = [ { when = { session = "/teams/*/open", const = true, agent = "main" }, mode = "unattended" }, { mode = "skip" } ]
result = [ { when = { session = "/secret", const = true }, mode = "skip" } ]
`)
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
		var s eval.Situation
		if c.data != "" {
			v, err := jsonstream.Parse([]byte(c.data), jsonstream.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s = program.Situation(stopgate.Groups{}, v, nil)
		}
		b := program.BindUnder(stopgate.Call{Tool: "t", Agent: "main"}, eval.Circumstances{Situation: s})
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
