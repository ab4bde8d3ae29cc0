// Command library is a small program that gates its own tools: three tools, one
// handoff, a policy file, and one example of every kind of policy that is written in
// Go. It plays fixed calls instead of a model and prints the gate's decisions.
//
//	go run ./examples/library
package main

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/judge"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
	"github.com/stopgate/stopgate/store"
)

//go:embed stopgate.toml
var policyText []byte

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	g, err := newGate()
	if err != nil {
		return err
	}
	a := &agent{gate: g, out: out, owner: session.Owner{Principal: "local", Session: "demo"}, name: "triage"}
	a.tools = map[stopgate.ToolName]func(string) string{
		"lookup": func(string) string { return `{"order":"A-17","total":80}` },
		"refund": func(string) string { return `{"status":"ok"}` },
		"mail":   func(string) string { return `{"sent":true}` },
	}

	// The first refund comes before the lookup and is denied.
	a.call(ctx, "refund", `{"order":"A-17","amount":80}`)
	a.call(ctx, "lookup", `{"order":"A-17"}`)
	a.call(ctx, "refund", `{"order":"A-17","amount":80}`)
	a.call(ctx, "refund", `{"order":"A-17","amount":30}`) // above the daily limit of 100
	a.call(ctx, "mail", `{"to":"eve@example.net","text":"refunded"}`)
	a.call(ctx, "mail", `{"to":"ann@example.com","text":"refunded"}`)
	a.handoff(ctx, "billing", `{"order":"A-17"}`)
	a.handoff(ctx, "legal", `{"order":"A-17"}`)
	return nil
}

// newGate wires the gate: the file's policies, the policies in Go, and a store.
func newGate() (*gate.Gate, error) {
	program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: policyText, Trusted: true}}, policy.Options{})
	if program == nil {
		return nil, found.Err()
	}
	registry := session.NewRegistry()
	for _, p := range []session.Policy{
		// A ready-made policy, built in Go, wrapped in middleware that may only tighten.
		session.Wrap(policies.Limit("mail").Calls(3).Within(time.Hour), session.Tighten(sundays)),
		lookedUp{},
	} {
		if err := registry.Register(p); err != nil {
			return nil, err
		}
	}
	return gate.New(program,
		gate.WithStore(store.Memory()),
		gate.WithSessionPolicies(registry),
		gate.WithToolPolicies(ourDomain{}),
		gate.WithHandoffPolicies(openDesks{}),
		gate.WithJudges(judge.New(judge.Options{}).Judge), // the models that [judge] names, if the file has it
		gate.WithDenyMode(gate.DenyToolResult),
	)
}

// ourDomain is a tool policy: a function of one call (G2-05).
type ourDomain struct{}

func (ourDomain) Name() string { return "our_domain" }

func (ourDomain) Check(_ context.Context, p gate.Proposal) (gate.Decision, error) {
	if p.Call.Tool != "mail" {
		return gate.Decision{Kind: gate.NoOpinion}, nil
	}
	args, err := p.Parsed()
	if err != nil {
		return gate.Decision{}, err
	}
	if to, _ := args.Get("to"); strings.HasSuffix(to.Text(), "@example.com") {
		return gate.Decision{Kind: gate.Permit, Reason: "inside"}, nil
	}
	return gate.Decision{Kind: gate.Forbid, Reason: "outside", Public: "Mail goes to example.com only."}, nil
}

// openDesks is a handoff policy.
type openDesks struct{}

func (openDesks) Name() string { return "open_desks" }

func (openDesks) CheckHandoff(_ context.Context, p gate.Proposal) (gate.Decision, error) {
	if p.To == "legal" {
		return gate.Decision{Kind: gate.Forbid, Reason: "closed", Public: "The legal desk is closed."}, nil
	}
	return gate.Decision{Kind: gate.Permit, Reason: "open"}, nil
}

// lookedUp is a session policy with state: it denies a refund before the order was
// looked up. Its state is a note, which is a fact of the session.
type lookedUp struct{}

func (lookedUp) Name() string            { return "looked_up" }
func (lookedUp) Tools() session.Selector { return session.Select("lookup", "refund") }
func (l lookedUp) Needs(session.Call) []session.Key {
	return []session.Key{session.NoteKey(l.Name(), "total")}
}

func (l lookedUp) Check(v session.View, c session.Call) session.Decision {
	if c.Tool != "refund" {
		return session.Allow()
	}
	amount, _ := c.Args.Get("amount")
	total, _ := v.Note(l.Name(), "total")
	if total == "" || string(amount.Raw()) == "" {
		return session.Deny("not_looked_up", "Look the order up first.")
	}
	return session.Allow()
}

func (l lookedUp) OnResult(_ session.View, r session.Result) []session.Fact {
	if r.Call.Tool != "lookup" {
		return nil
	}
	return []session.Fact{session.Note(l.Name(), "total", string(r.Data))}
}

// closedOnSundays is off, so that the output is the same every day.
const closedOnSundays = false

// sundays is middleware: it sees every decision and may object.
func sundays(v session.View, _ session.Call, d session.Decision) session.Decision {
	if weekday := time.UnixMilli(v.Now).UTC().Weekday(); weekday == time.Sunday && closedOnSundays {
		return session.Deny("closed", "No mail on Sundays.")
	}
	return d
}

// agent passes the calls of a model to the gate and runs those that the gate allows.
type agent struct {
	gate  *gate.Gate
	out   io.Writer
	owner session.Owner
	name  stopgate.AgentName
	tools map[stopgate.ToolName]func(args string) string
	calls int
}

func (a *agent) call(ctx context.Context, tool stopgate.ToolName, args string) {
	a.calls++
	ran, err := a.gate.Run(ctx, stopgate.Call{
		Tool: tool, ID: stopgate.CallID(fmt.Sprint("call_", a.calls)), Agent: a.name,
		Session: a.owner.Session, Principal: a.owner.Principal, Args: []byte(args),
	}, func(_ context.Context, args []byte) ([]byte, error) { // exactly these bytes run
		return []byte(a.tools[tool](string(args))), nil
	})
	switch {
	case err != nil:
		fmt.Fprintf(a.out, "%-8s %v\n", tool, err)
	case !ran.Outcome.Allowed():
		e := ran.Outcome.Envelope()
		fmt.Fprintf(a.out, "%-8s %s: %s\n", tool, e.Code, e.PublicReason)
	default:
		fmt.Fprintf(a.out, "%-8s -> %s\n", tool, ran.Data)
	}
}

func (a *agent) handoff(ctx context.Context, to stopgate.AgentName, payload string) {
	out, err := a.gate.Handoff(ctx, gate.HandoffCall{
		From: a.name, To: to, Session: a.owner.Session, Principal: a.owner.Principal, Payload: []byte(payload),
	})
	switch {
	case err != nil:
		fmt.Fprintf(a.out, "to %-8s %v\n", to, err)
	case !out.Allowed():
		fmt.Fprintf(a.out, "to %-8s %s: %s\n", to, out.Verdict.Code, out.Envelope().PublicReason)
	default:
		a.name = to
		fmt.Fprintf(a.out, "to %-8s with %s\n", to, out.Args)
	}
}
