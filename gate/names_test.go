package gate_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/encoding"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves H17: a call with a name that nobody bounds is denied limit_exceeded, whichever it
// is and however it comes, and nothing keeps the name; ids as long as providers make them
// pass.
func TestH17_LongNames(t *testing.T) {
	long, id := strings.Repeat("n", 1025), strings.Repeat("i", 64<<10+1)
	for name, call := range map[string]stopgate.Call{
		"tool": {Tool: stopgate.ToolName("free" + long), Session: "s"}, "id": {Tool: "free", Session: "s", ID: stopgate.CallID(id)},
		"session": {Tool: "free", Session: stopgate.SessionID(long)}, "agent": {Tool: "free", Session: "s", Agent: stopgate.AgentName(long)},
		"turn": {Tool: "free", Session: "s", Turn: stopgate.TurnID(long)}, "server": {Tool: "free", Session: "s", Server: stopgate.ServerID(long)},
	} {
		for _, governed := range []string{"", "[[session]]\ntype = \"limit\"\ntools = \"*\"\nmax_calls = 100\n"} {
			store, rec := mem.New(), new(ports.Recorder)
			g := fileGate(t, "version = 1\n[gate]\ndeny_mode = \"tool_result\"\n[tools.\"free*\"]\nuncovered = \"allow\"\n[tools.\"free*\".policy]\nrun = \"unattended\"\n[tools.free.policy]\nrun = \"unattended\"\n"+governed,
				gate.WithStore(store), gate.WithRecorder(rec))
			check := func(how string, out stopgate.Outcome, err error) {
				t.Helper()
				if err != nil || out.Status != stopgate.Denied || out.Verdict.Code != stopgate.CodeLimitExceeded && !(name == "tool" && out.Verdict.Code == stopgate.CodePolicyNotConfigured) {
					t.Errorf("%s, %s: %s %s, %v", name, how, out.Status, out.Verdict.Code, err)
				}
			}
			whole := call
			whole.Args = []byte("{}")
			out, err := g.Decide(ctx, whole)
			check("at once", out, err)
			opened := call
			opened.ID = ""
			p, err := g.Open(ctx, opened)
			if err != nil {
				t.Fatal(err)
			}
			p.Feed([]byte("{}"))
			p.Identify(call.ID)
			p.Close(stopgate.Ended)
			out, err = p.Resolve(ctx)
			check("in parts", out, err)
			if rows := rec.Rows(); len(rows) != 2 {
				t.Errorf("%s: %d rows", name, len(rows))
			}
			sessions, err := store.Sessions(ctx, "", 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, of := range sessions {
				facts, err := store.Facts(ctx, of.Owner, 0, 10)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range facts {
					if n := len(of.Owner.Session) + len(encoding.MarshalFact(&f, nil)); n > 4<<10 {
						t.Errorf("%s: %d bytes are kept", name, n)
					}
				}
			}
		}
	}
	g := newGate(t, gate.WithStore(mem.New()), gate.WithDenyMode(gate.DenyToolResult))
	out, err := g.Decide(ctx, stopgate.Call{Tool: "free", Session: stopgate.SessionID(long[1:]), ID: stopgate.CallID(id[1:]), Args: []byte("{}")})
	if err != nil || !out.Allowed() {
		t.Error(out.Verdict.Code, err)
	}
	out, err = g.Handoff(ctx, gate.HandoffCall{To: stopgate.AgentName(long), Session: "s"})
	if err != nil || out.Verdict.Code != stopgate.CodeLimitExceeded && out.Verdict.Code != stopgate.CodePolicyNotConfigured || out.Allowed() {
		t.Error(out.Verdict.Code, err)
	}
}
