package gate_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
)

// faulty is a policy whose views panic in one of their methods.
type faulty struct {
	gate.Policy
	method string
}

func (f faulty) Reader() flow.Reader { return faultyReader{f.method} }

type faultyReader struct{ method string }

func (r faultyReader) Meaning() string                                          { return "faulty" }
func (r faultyReader) NewIndex([]byte) flow.Index                               { return faultyIndex{r.method} }
func (r faultyReader) Knows(flow.Index, flow.Knowledge) []byte                  { return nil }
func (r faultyReader) Message(flow.Index, *flow.Message) []byte                 { return []byte{1} }
func (r faultyReader) Call(flow.Index, stopgate.ToolName, []byte) (none []byte) { return nil }
func (r faultyReader) Result(flow.Index, *flow.Result) []byte                   { return nil }

type faultyIndex struct{ method string }

func (x faultyIndex) View() flow.View           { return faultyView(x) }
func (x faultyIndex) Size() (index, text int64) { return 1, 1 }
func (x faultyIndex) Restore([]byte) error      { return nil }

type faultyView struct{ method string }

func (v faultyView) fault(method string) {
	if v.method == method {
		panic("view")
	}
}

func (v faultyView) Find([]byte, *flow.Query) flow.Finding {
	v.fault("Find")
	return flow.Finding{Certain: true, Possible: true, Texts: []int{1}}
}

func (v faultyView) Carries([]byte, *flow.Query) flow.Finding {
	v.fault("Carries")
	return flow.Finding{}
}

func (v faultyView) Origin([]byte, flow.Kind) flow.Ref { v.fault("Origin"); return flow.Ref{} }
func (v faultyView) Said(string) bool                  { v.fault("Said"); return true }

func (v faultyView) Read(*flow.Query, func(string) bool, bool) bool {
	v.fault("Read")
	return false
}

// A view that panics denies the call, wherever it is asked.
func TestFaultyViewsDeny(t *testing.T) {
	const text = `version = 1
[sources.web]
tool = "fetch"
[tools.fetch]
[tools.send.parameters]
to = { type = "string" }
[tools.send.policy]
run = [ { when = { says = "send" }, arg = "/to", from = ["user"], mode = "unattended" }, { mode = "unattended" } ]
[[guard]]
on = "string"
carries = ["web"]
mode = "deny"
[[session]]
type = "flow"
after = ["web"]
before = ["send"]
`
	for _, method := range []string{"", "Find", "Carries", "Said", "Read"} {
		g, err := gate.New(faulty{compile(t, text), method})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.AddTexts(ctx, ownerOf("s"), "", gate.Texts{Known: flow.KnowsUser, List: []gate.Text{user("send it to ann")}}); err != nil {
			t.Fatal(err)
		}
		out, err := g.Decide(ctx, stopgate.Call{Tool: "send", ID: "call_1", Session: "s", Principal: "p", Args: []byte(`{"to":"ann"}`)})
		if method == "" {
			if err != nil || !out.Allowed() {
				t.Fatalf("%v %v", out.Verdict, err)
			}
			continue
		}
		if out.Allowed() || out.Verdict.Mode != stopgate.Deny || out.Verdict.Code != stopgate.CodePolicyError {
			t.Errorf("%s: %v %v", method, out.Verdict, err)
		}
	}
}
