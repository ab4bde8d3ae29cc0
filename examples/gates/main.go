// Command gates is a program whose tools and handoffs are decided by policies in Go. The model proposes, and a
// policy allows or denies with a reason; calls without a decision do not run.
//
//	go run ./examples/gates
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// refunds is the tool policy: refunds up to 100 are allowed, larger ones denied for the model
// to read, and refunds without an order end the run.
type refunds struct{}

var limit, _ = jsonstream.ParseDecimal([]byte("100"))

func (refunds) Name() string { return "refunds" }

func (refunds) Check(_ context.Context, p gate.Proposal) (gate.Decision, error) {
	if p.Call.Tool != "refund" {
		return gate.Decision{Kind: gate.NoOpinion}, nil
	}
	args, err := p.Parsed()
	if err != nil {
		return gate.Decision{}, err // denied with policy_error
	}
	if _, ok := args.Get("order"); !ok {
		return gate.Decision{Kind: gate.Forbid, Reason: "order_missing", DenyMode: gate.DenyThrow}, nil
	}
	amount, _ := args.Get("amount")
	if n, ok := amount.Decimal(); !ok || n.Cmp(limit) > 0 {
		return gate.Decision{
			Kind: gate.Forbid, Reason: "refund_too_large", Public: "Refunds above 100 need a person.", DenyMode: gate.DenyToolResult,
			Metadata: map[string]string{"limit": "100"},
		}, nil
	}
	return gate.Decision{Kind: gate.Permit, Reason: "small_refund", Metadata: map[string]string{"version": "2026-02"}}, nil
}

// teams is the handoff policy.
type teams struct{}

func (teams) Name() string { return "teams" }

func (teams) CheckHandoff(_ context.Context, p gate.Proposal) (gate.Decision, error) {
	if p.Call.Agent == "triage" && p.To == "billing" {
		return gate.Decision{Kind: gate.Permit, Reason: "billing_open"}, nil
	}
	return gate.Decision{Kind: gate.Forbid, Reason: "team_closed"}, nil
}

// traces prints the trace events.
type traces struct{ to io.Writer }

func (t traces) Trace(_ context.Context, e gate.TraceEvent) {
	fmt.Fprintf(t.to, "  %s %s%s: %s %s\n", e.Name, e.Tool, e.Handoff, e.Decision, e.Reason)
}

func run(ctx context.Context, out io.Writer) error {
	program, found := policy.Compile([]policy.Source{{Name: "empty.toml", Text: []byte("version = 1\n"), Trusted: true}}, policy.Options{})
	if program == nil {
		return found.Err()
	}
	g, err := gate.New(program, gate.WithToolPolicies(refunds{}), gate.WithHandoffPolicies(teams{}), gate.WithTracer(traces{out}))
	if err != nil {
		return err
	}
	pay := func(_ context.Context, args []byte) ([]byte, error) { return []byte(`{"paid":true}`), nil }
	for _, call := range []stopgate.Call{
		{Tool: "refund", Args: []byte(`{"order":"A-17","amount":20}`)},
		{Tool: "refund", Args: []byte(`{"order":"A-17","amount":500}`)},
		{Tool: "refund", Args: []byte(`{"amount":20}`)},
		{Tool: "delete_account", Args: []byte(`{}`)},
	} {
		call.Agent, call.Turn = "triage", "turn-1"
		ran, err := g.Run(ctx, call, pay)
		report(out, ran.Envelope, err)
	}
	for _, to := range []stopgate.AgentName{"billing", "legal"} {
		done, err := g.Handoff(ctx, gate.HandoffCall{From: "triage", To: to, Payload: []byte(`{"order":"A-17"}`)})
		report(out, done.Envelope().WithData(done.Args), err)
	}
	return nil
}

// report prints the envelope for the model, or the typed error that ends the run.
func report(out io.Writer, e stopgate.Envelope, err error) {
	var denied *gate.Denied
	if errors.As(err, &denied) {
		fmt.Fprintln(out, "error:", denied)
		return
	}
	text, _ := e.MarshalJSON()
	fmt.Fprintf(out, "%s\n", text)
}
