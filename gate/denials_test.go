package gate_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// alarmed is an approver that hears of stopped sessions.
type alarmed struct {
	ports.Approver
	heard []stopgate.Record
	after func()
}

func (a *alarmed) Alert(_ context.Context, r stopgate.Record) {
	a.heard = append(a.heard, r)
	a.after()
}

// Proves H22: whoever is asked is told that a session was stopped, once in a row of
// denials, also where the row of it cannot be written; one that breaks changes nothing.
func TestThreatH22AnOperatorIsTold(t *testing.T) {
	for _, after := range []func(){func() {}, func() { panic("told") }} {
		told := &alarmed{Approver: func(context.Context, *gate.Question) (gate.Answer, error) { return gate.Answer{}, errors.New("nobody") }, after: after}
		b := newBench(t, gate.WithApprover(told))
		for range 5 {
			b.expect("denied", `{}`, stopgate.CodeRuleMatched)
		}
		if len(told.heard) != 0 {
			t.Fatal("told too early")
		}
		for range 5 {
			b.expect("denied", `{}`, stopgate.CodeDenialLimit)
		}
		if len(told.heard) != 1 {
			t.Fatalf("told %d times", len(told.heard))
		}
		r := told.heard[0]
		if r.Event != stopgate.AuditStopped || r.Count != 6 || r.Cause != "rule_matched" || r.Session != "s" || r.Principal != "ann" || r.Tool != "denied" || r.Kind != stopgate.RecordEvent || r.Time.IsZero() {
			t.Errorf("%+v", r)
		}
		b.expect("other", `{}`, "")
		for range 6 {
			b.decide("denied", `{}`)
		}
		if len(told.heard) != 2 {
			t.Errorf("told %d times after a second row of denials", len(told.heard))
		}
	}
}

// Proves H22: a call that is refused before its arguments are complete is identical to one
// that the same rule refused at the same byte, whatever would have come behind it.
func TestThreatH22RefusedEarly(t *testing.T) {
	g := fileGate(t, filePolicy, gate.WithStore(&ports.Store{Memory: true}), gate.WithDenyMode(gate.DenyToolResult))
	refuse := func(text string) stopgate.Code {
		p, err := g.Open(ctx, stopgate.Call{Tool: "fs_write", Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		if !p.Feed([]byte(text)).Terminal() {
			t.Fatalf("%s is not refused", text)
		}
		p.Close(stopgate.Cancelled)
		out, err := p.Resolve(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return out.Verdict.Code
	}
	for i, text := range []string{`{"path":"a/.env"`, `{"path":"b/.env"`, `{"path":"c/.env","content":"x`, `{"path":"d/.env",`, `{"path":"e/.env" `} {
		if code := refuse(text); code != stopgate.CodeRuleMatched {
			t.Errorf("%d: %s", i, code)
		}
	}
	if code := refuse(`{"path":"aaaa/.env"`); code != stopgate.CodeRuleMatched {
		t.Errorf("at another byte: %s", code)
	}
	for i := range 6 {
		if code := refuse(`{"path":"f/.env"`); (code == stopgate.CodeDenialLimit) != (i == 5) {
			t.Errorf("%d: %s", i, code)
		}
	}
}
