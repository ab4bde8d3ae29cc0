package decide_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// ruling is a policy in Go of one function, for tools and handoffs.
type ruling func() (gate.Decision, error)

func (ruling) Name() string { return "go" }

func (r ruling) Check(context.Context, gate.Proposal) (gate.Decision, error) { return r() }

func (r ruling) CheckHandoff(context.Context, gate.Proposal) (gate.Decision, error) { return r() }

// Proves G2-02, G2-08, G2-09, G2-10, G2-11, G2-13, G2-14, G2-15, G2-21: the matrix of ten over the
// decision API. A denial is the same answer whether the gate's own callers get an error or not.
func TestG2Matrix(t *testing.T) {
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte("version = 1\n")}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	const denied = `"envelope":{"status":"denied","code":%q,"publicReason":%q,"data":null}`
	const refunds, failed = "Refunds are closed.", "The policy failed while it looked at this call."
	forbid := gate.Decision{Kind: gate.Forbid, Reason: "no_refunds", Public: refunds}
	for _, c := range []struct {
		name         string
		ruling       ruling // nil: no policy
		code, public string // "" of an allowed call
		handoff      string // public text of a handoff, if it differs
	}{
		{name: "allow", ruling: func() (gate.Decision, error) { return gate.Decision{Kind: gate.Permit, Reason: "fine"}, nil }},
		{name: "deny", ruling: func() (gate.Decision, error) { return forbid, nil }, code: "no_refunds", public: refunds},
		{name: "no public text", ruling: func() (gate.Decision, error) { return gate.Decision{Kind: gate.Forbid, Reason: "internal"}, nil }, code: "internal", public: "A policy does not allow this call."},
		{name: "missing", code: "policy_not_configured", public: "No policy covers this tool.", handoff: "No policy covers this handoff."},
		{name: "throws", ruling: func() (gate.Decision, error) { return gate.Decision{}, errors.New("AKIA") }, code: "policy_error", public: failed},
		{name: "panics", ruling: func() (gate.Decision, error) { panic("AKIA") }, code: "policy_error", public: failed},
		{name: "invalid", ruling: func() (gate.Decision, error) { return gate.Decision{}, nil }, code: "invalid_policy_result", public: "The policy gave an invalid answer."},
	} {
		for mode, denyMode := range map[string]gate.DenyMode{"hard": gate.DenyThrow, "soft": gate.DenyToolResult} {
			t.Run(c.name+"/"+mode, func(t *testing.T) {
				records := new(ports.Recorder)
				d := newFixture(t, func(o *decide.Options) {
					options := []gate.Option{gate.WithRecorder(records), gate.WithDenyMode(denyMode)}
					if c.ruling != nil {
						options = append(options, gate.WithToolPolicies(c.ruling), gate.WithHandoffPolicies(c.ruling))
					}
					g, err := gate.New(program, options...)
					if err != nil {
						t.Fatal(err)
					}
					*o = decide.Options{Gate: g, Tokens: o.Tokens}
				})
				if c.code == "" {
					a := d.wants(d.do("seer", "POST", "/v1/calls", `{"tool":"refund","args":{"n":1}}`), 200, `"status":"allowed"`, `"args":{"n":1}`,
						`"envelope":{"status":"ok","code":null,"publicReason":null,"data":null}`)
					d.wants(d.do("seer", "POST", "/v1/calls/"+a.get("id").(string)+"/result", `{"data":"paid"}`), 200,
						`"envelope":{"status":"ok","code":null,"publicReason":null,"data":"paid"}`)
					d.wants(d.do("seer", "POST", "/v1/handoffs", `{"from":"triage","to":"billing","payload":{"n":1}}`), 200, `"status":"allowed"`,
						`"envelope":{"status":"ok","code":null,"publicReason":null,"data":{"n":1}}`)
				} else {
					d.wants(d.do("seer", "POST", "/v1/calls", `{"tool":"refund","args":{"n":1}}`), 200, `"status":"denied"`, fmt.Sprintf(denied, c.code, c.public))
					d.wants(d.do("seer", "POST", "/v1/handoffs", `{"from":"triage","to":"billing","payload":{"n":1}}`), 200, `"status":"denied"`, fmt.Sprintf(denied, c.code, cmp.Or(c.handoff, c.public)))
				}
				if rows := records.Decisions(); len(rows) != 2 {
					t.Errorf("%d rows", len(rows))
				}
			})
		}
	}
}
