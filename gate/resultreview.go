package gate

import (
	"context"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
)

// review asks the approver about a result (D25-43): an approved result is delivered, an edited
// one is replaced, and every other answer withholds it. A gateway does not ask, because the
// client has the result already (S11).
func (rel *release) review(ctx context.Context, g *Gate, r stopgate.Result) Delivery {
	v := rel.result
	if g.approver == nil || rel.call.Surface == stopgate.SurfaceGateway {
		return withheld(v.Mode)
	}
	able := port.Invoke(ctx, &g.guards.approver, g.limits.Abilities, func(ctx context.Context) (Abilities, error) {
		return g.approver.Abilities(ctx, &rel.call), nil
	})
	if able.Fault != port.None || !able.Value.Reachable || v.Mode == stopgate.Edit && !able.Value.CanEdit {
		return withheld(v.Mode)
	}
	asked, began := g.now(), time.Now()
	b := Binding{
		Args: rel.hash, Tool: rel.call.Tool, Policy: rel.policy, Session: rel.call.Session, Principal: rel.call.Principal,
		Result: contentHash(stopgate.Result{Data: r.Data}),
	}
	q := newQuestion(View{
		Proposal: r.Proposal, Call: rel.call, Verdict: v, Args: string(rel.args), Complete: true, Result: string(r.Data), OfResult: true,
		Binding: b, Expires: asked.Add(g.limits.Approval),
	})
	note := func(event stopgate.AuditEvent, code stopgate.Code, a *stopgate.Approval) {
		row := rel.row()
		row.Event, row.Code, row.Approval, row.Cause = event, code, a, "result"
		g.audit.Note(ctx, row)
	}
	note(stopgate.AuditAsked, "", nil)
	hold, cancel := context.WithTimeoutCause(ctx, g.limits.Hold, ErrHold)
	defer cancel()
	reply := port.Invoke(hold, &g.guards.approver, 0, func(ctx context.Context) (Answer, error) {
		return g.approver.Approve(ctx, q)
	})
	answered := prompt{asked: asked, began: began, able: able.Value, answer: reply.Value}
	code, a := answered.codeOf(reply), reply.Value
	switch {
	case code != "":
	case answered.expired(g.now(), g.limits.Approval):
		code = stopgate.CodeApprovalTimeout
	case a.Binding != b, a.ID != "" && !g.used.use(a.ID, g.now(), asked.Add(g.limits.Approval)):
		code = stopgate.CodeApprovalStale
	}
	note(stopgate.AuditAnswered, code, &stopgate.Approval{ID: a.ID, By: a.By, Edited: a.Kind == Edited})
	switch {
	case code != "":
		return withheld(v.Mode)
	case a.Kind == Edited:
		return Delivery{Mode: stopgate.Edit, Code: v.Code, Data: a.Args, shown: true}
	}
	return Delivery{Mode: v.Mode, Code: v.Code, Data: r.Data, shown: true}
}
