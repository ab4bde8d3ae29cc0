package gate

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// The limit on denials (S28).
const (
	denialLimit    = 25
	identicalLimit = 5
)

// denialCount is the effect of a denial on its session.
type denialCount struct {
	limited bool // the limit of denials in a row is reached
	first   bool // by this denial for the first time
	denials int  // with this one
	wrote   bool // a journal has the row
}

// countDenial appends the fact of a denial and reports whether the session reached the limit
// of denials in a row. A journal writes the row in the same step. Failures, skips and asks
// do not count.
func (p *pending) countDenial(ctx context.Context, row *stopgate.Record) denialCount {
	g := p.g
	p.mu.Lock()
	v, kept := p.verdict(), p.heldRows
	p.mu.Unlock()
	counts := v.Mode == stopgate.Deny && v.Layer != stopgate.LayerFailure && v.Code != stopgate.CodeLockdown &&
		(v.Layer != stopgate.LayerApproval || v.Code == stopgate.CodeApprovalDeclined)
	if g.store == nil || p.call.Session == "" || !counts {
		return denialCount{}
	}
	fact := session.Fact{
		At: g.now().UnixMilli(), Kind: session.Denied, Proposal: p.id, Tool: p.tool, CallID: p.call.ID, Agent: p.call.Agent,
		Turn: p.call.Turn, ArgsHash: p.denialIdentity(&v), Code: v.Code,
	}
	if v.Code == stopgate.CodeApprovalDeclined && p.hash != "" {
		fact.Key = p.stickyKey()
	}
	limit := p.under.denialLimit
	ctx, cancel := outlive(ctx)
	defer cancel()
	r := update(ctx, g, owner(&p.call), fact.Keys(), func(s session.State) (Change, denialCount, error) {
		self, _ := s.Cell(session.Self)
		now, same := self.Condition(), min(limit, identicalLimit)
		alike := 0
		if now.LastHash == fact.ArgsHash {
			alike = now.Same
		}
		c := denialCount{denials: now.Denials + 1, wrote: g.journal}
		c.limited = limit > 0 && (now.Denials >= limit || alike >= same)
		c.first = c.limited && now.Denials <= limit && alike <= same
		change := Change{Facts: []session.Fact{fact}}
		if g.journal {
			r := *row
			if r.FactsAt == 0 {
				r.FactsAt = s.Head
			}
			if c.limited {
				r.Cause, r.Code = strings.TrimSpace(string(r.Code)+" "+r.Cause), stopgate.CodeDenialLimit
			}
			change.Rows = append(appendCopies(nil, kept), &r)
		}
		return change, c, nil
	})
	return r.value
}

// denialIdentity identifies a call for the count of identical denials: by the tool and the
// arguments, or, if it was denied before they were complete, by the tool, the code, the rule
// and the position of the denial.
func (p *pending) denialIdentity(v *stopgate.Verdict) string {
	if p.hash != "" {
		return string(p.tool) + " " + p.hash
	}
	rule := ""
	if v.Rule != nil {
		rule = string(v.Rule.ID) + " " + strconv.Itoa(v.Rule.Index)
	}
	return strings.Join([]string{string(p.tool), string(v.Code), rule, v.Pointer, strconv.FormatInt(v.DecidedAt, 10)}, " ")
}

// Alerter is implemented by an [Approver] that also notifies people of stopped sessions
// (H22). r is the event row.
type Alerter interface {
	Alert(ctx context.Context, r stopgate.Record)
}

// alertLimit bounds the time that a denial waits for [Alerter.Alert], once in a row of
// denials.
const alertLimit = 2 * time.Second

// notifyStopped reports to operators that a session had too many denials in a row: by an event
// row, and through an approver that is an [Alerter].
func (p *pending) notifyStopped(ctx context.Context, c denialCount, because stopgate.Code) {
	p.mu.Lock()
	r := p.identity()
	p.mu.Unlock()
	r.Event, r.Code, r.Cause, r.Count = stopgate.AuditStopped, stopgate.CodeDenialLimit, string(because), int64(c.denials)
	ctx = context.WithoutCancel(ctx)
	_ = p.g.audit.note(ctx, r) // one that is lost is counted
	if a, ok := p.g.approver.(Alerter); ok {
		p.g.audit.complete(&r)
		invoke(ctx, &p.g.ports.approver, alertLimit, func(ctx context.Context) (struct{}, error) {
			a.Alert(ctx, r)
			return struct{}{}, nil
		})
	}
}
