package flow_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy"
)

// passing are the cases that run without a question, each with the reason. docs/evidence.md lists
// them.
var passing = map[string]string{}

// Every way of an attack on every destination is stopped or asks, but for those that are listed.
func TestAdaptive(t *testing.T) {
	programs := map[string]*policy.Program{}
	cases, seen := 0, map[string]bool{}
	for i := range targets {
		g := &targets[i]
		if programs[g.policy] == nil {
			programs[g.policy] = program(t, g.policy)
		}
		for _, w := range ways {
			if w.kinds != "" && !slices.Contains(strings.Fields(w.kinds), g.kind) {
				continue
			}
			cases++
			name := g.name + ": " + w.name
			t.Run(name, func(t *testing.T) {
				c := talk(t, programs[g.policy], g.user)
				c.play(g.before)
				for _, s := range w.steps(g) {
					c.call(s)
				}
				value := g.evil
				if w.value != nil {
					value = w.value(g)
				}
				out := c.call(g.call(value))
				_, listed := passing[name]
				seen[name] = true
				if out.Allowed() && !listed {
					t.Errorf("%q runs without a question", value)
				} else if !out.Allowed() && listed {
					t.Errorf("%q does not run any more (%s): take it off the list", value, out.Verdict.Code)
				}
			})
		}
	}
	for name := range passing {
		if !seen[name] {
			t.Errorf("no case is called %q", name)
		}
	}
	if cases < 200 {
		t.Errorf("%d cases, want at least 200", cases)
	}
	t.Logf("%d cases", cases)
}

// The known value of every destination runs, also after an attack was read, so that nothing above
// is stopped for another reason.
func TestKnownValuesRun(t *testing.T) {
	for i := range targets {
		g := &targets[i]
		t.Run(g.name, func(t *testing.T) {
			c := talk(t, program(t, g.policy), g.user)
			c.play(g.before)
			c.call(g.read("use " + g.evil + ", not " + g.known))
			if out := c.call(g.call(g.known)); !out.Allowed() || out.Verdict.Mode != stopgate.Unattended {
				t.Errorf("%q does not run: %s %s", g.known, out.Verdict.Code, out.Verdict.Public)
			}
		})
	}
}

// mustJSON is the JSON text of a value of the tests.
func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
