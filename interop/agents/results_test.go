package agents

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/interop/gate"
)

// withholding lets every call run and shows no result.
const withholding = `version = 1

[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
result = [ { mode = "skip" } ]
`

// With a rule on results the agent's model does not read what a call printed, but that it
// was withheld. A host that cannot do this says so in its holes.
func TestHookKeepsResults(t *testing.T) {
	binary := gate.BuildBoth(t)
	each(t, func(t *testing.T, a *agent) {
		m := newModel(t, a, []string{"touch one; echo what-the-call-''printed"})
		home, work := t.TempDir(), t.TempDir()
		a.settings(t, home, m.URL)
		a.install(t, binary, home, withholding)
		out := a.run(t, home, work, m.URL)
		kept := a != qwen && a != cline
		if got := m.asked(); !exists(work, "one") || strings.Contains(got, "what-the-call-printed") == kept || strings.Contains(got, "result is withheld") != kept {
			t.Errorf("the call ran: %v; the model read its result: %v; it was told that it is withheld: %v\n%s",
				exists(work, "one"), strings.Contains(got, "what-the-call-printed"), strings.Contains(got, "result is withheld"), out)
		}
	})
}

// asking asks about every command.
const asking = `version = 1

[tools."*".policy]
run = "ask"
`

// What the policy wants asked does not run where nobody sits before the agent.
func TestHookAsksNobody(t *testing.T) {
	binary := gate.BuildBoth(t)
	each(t, func(t *testing.T, a *agent) {
		m := newModel(t, a, []string{"touch one"})
		home, work := t.TempDir(), t.TempDir()
		a.settings(t, home, m.URL)
		a.install(t, binary, home, asking)
		if out := a.run(t, home, work, m.URL); exists(work, "one") {
			t.Errorf("a call ran that nobody was asked about\n%s", out)
		}
	})
}
