package gate

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/rows"
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
func (c *commitment) countDenial(ctx context.Context) denialCount {
	p, row := c.p, c.row
	g := p.g
	p.mu.Lock()
	v, kept := *p.verdicts.latest(), p.heldRows
	p.mu.Unlock()
	counts := v.Mode == stopgate.Deny && v.Layer != stopgate.LayerFailure && v.Code != stopgate.CodeLockdown &&
		(v.Layer != stopgate.LayerApproval || v.Code == stopgate.CodeApprovalDeclined)
	if !g.sessions.exists() || p.call.Session == "" || !counts {
		return denialCount{}
	}
	fact := session.Fact{
		At: g.now().UnixMilli(), Kind: session.Denied, Proposal: p.id, Tool: p.sessions.tool, CallID: p.call.ID, Agent: p.call.Agent,
		Turn: p.call.Turn, ArgsHash: c.denialIdentity(&v), Code: v.Code,
	}
	if v.Code == stopgate.CodeApprovalDeclined && p.args.hash != "" {
		fact.Key = p.sessions.stickyKey()
	}
	limit := p.under.denialLimit
	ctx, cancel := port.Detached(ctx)
	defer cancel()
	r := update(ctx, g.sessions, owner(&p.call), fact.Keys(), func(s session.State) (Change, denialCount, error) {
		self, _ := s.Cell(session.Self)
		now, same := self.Condition(), min(limit, identicalLimit)
		alike := 0
		if now.LastHash == fact.ArgsHash {
			alike = now.Same
		}
		n := denialCount{denials: now.Denials + 1, wrote: g.sessions.journal}
		n.limited = limit > 0 && (now.Denials >= limit || alike >= same)
		n.first = n.limited && now.Denials <= limit && alike <= same
		change := Change{Facts: []session.Fact{fact}}
		if g.sessions.journal {
			r := *row
			if r.FactsAt == 0 {
				r.FactsAt = s.Head
			}
			if n.limited {
				r.Cause, r.Code = strings.TrimSpace(string(r.Code)+" "+r.Cause), stopgate.CodeDenialLimit
			}
			change.Rows = append(appendCopies(nil, kept), &r)
		}
		return change, n, nil
	})
	return r.Value
}

// denialIdentity identifies a call for the count of identical denials: by the tool and the
// arguments, or, if it was denied before they were complete, by the tool, the code, the rule
// and the position of the denial.
func (c *commitment) denialIdentity(v *stopgate.Verdict) string {
	p := c.p
	if p.args.hash != "" {
		return string(p.sessions.tool) + " " + p.args.hash
	}
	rule := ""
	if v.Rule != nil {
		rule = string(v.Rule.ID) + " " + strconv.Itoa(v.Rule.Index)
	}
	return strings.Join([]string{string(p.sessions.tool), string(v.Code), rule, v.Pointer, strconv.FormatInt(v.DecidedAt, 10)}, " ")
}

// Alerter notifies people of stopped sessions (H22). r is the event row.
type Alerter interface {
	Alert(ctx context.Context, r stopgate.Record)
}

// alertLimit bounds the time that a denial waits for [Alerter.Alert], once in a row of
// denials.
const alertLimit = 2 * time.Second

// applyDenialLimit replaces the code of a denial where there were too many in a row: it is
// denied as it was, and the turn is over (S28).
func (c *commitment) applyDenialLimit() {
	p := c.p
	p.mu.Lock()
	defer p.mu.Unlock()
	v := *p.verdicts.latest()
	if c.row != nil {
		c.row.Cause, c.row.Code = rows.Word(string(v.Code)+" "+c.row.Cause), stopgate.CodeDenialLimit
	}
	c.denialCode = v.Code
	v.Code, v.Public = stopgate.CodeDenialLimit, stopgate.CodeDenialLimit.Public()
	p.verdicts.layers = append(p.verdicts.layers, v)
}

// notifyStopped reports to operators that a session had too many denials in a row: by an event
// row, and through the [Alerter].
func (c *commitment) notifyStopped(ctx context.Context) {
	p, g := c.p, c.p.g
	p.mu.Lock()
	r := p.identity()
	p.mu.Unlock()
	r.Event, r.Code, r.Cause, r.Count = stopgate.AuditStopped, stopgate.CodeDenialLimit, string(c.denialCode), int64(c.denial.denials)
	ctx = context.WithoutCancel(ctx)
	_ = g.audit.Note(ctx, r) // one that is lost is counted
	if a := g.alerter; a != nil {
		g.audit.Complete(&r)
		port.Invoke(ctx, &g.guards.approver, alertLimit, func(ctx context.Context) (struct{}, error) {
			a.Alert(ctx, r)
			return struct{}{}, nil
		})
	}
}
