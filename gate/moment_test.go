package gate_test

import (
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
)

// Proves S44: a release is written at the time when the call leaves, however long somebody
// was waited for; the limits of time count from there.
func TestReleaseHasItsTime(t *testing.T) {
	start := time.UnixMilli(1_700_000_000_000)
	for name, governed := range map[string]string{
		"no session policies": "",
		"a limit": `
[[session]]
type = "limit"
tools = "*"
max_calls = 10
within = "1h"
`,
	} {
		t.Run(name, func(t *testing.T) {
			now := start
			store, o := mem.New(), session.Owner{Principal: "p", Session: "s"}
			g := fileGate(t, `version = 1
[tools.now.policy]
run = "unattended"
[tools.later.policy]
run = "ask"
`+governed, gate.WithStore(store), gate.WithClock(func() time.Time { return now }),
				answers(func(v gate.View) gate.Answer {
					now = now.Add(10 * time.Minute)
					return v.Approve("ann")
				}))
			for _, c := range []struct {
				tool stopgate.ToolName
				at   time.Time
			}{{"now", start}, {"later", start.Add(10 * time.Minute)}, {"now", start.Add(10 * time.Minute)}} {
				out, err := g.Decide(ctx, stopgate.Call{Tool: c.tool, Principal: o.Principal, Session: o.Session, Args: []byte(`{}`)})
				if err != nil || !out.Allowed() {
					t.Fatal(out, err)
				}
				k := session.CallKey(out.Proposal)
				state, err := store.Load(ctx, o, []session.Key{k})
				if err != nil {
					t.Fatal(err)
				}
				if cell, _ := state.Cell(k); cell.At != c.at.UnixMilli() {
					t.Errorf("%s left at %d, and is written at %d", c.tool, c.at.UnixMilli(), cell.At)
				}
			}
		})
	}
}
