package gateway

import (
	"fmt"
	"time"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/visible"
)

// judged counts the judges' opinions in an exchange.
type judged struct {
	judged, blocked, skipped int
	reason                   string
}

// emit reports an event of the judges.
func (n *judged) emit(x *exchange, typ, summary string, severity events.Severity, details map[string]any) {
	x.emit(events.Event{
		Type: typ, Summary: summary, Severity: severity, Details: details,
		Policy: "judge", Exchange: string(x.turnID), Session: x.session, Time: time.Now(),
	})
}

// report reports the judges' opinions on the calls of a round.
func (n *judged) report(x *exchange) {
	if x.g.events == nil || !x.calls.Judged() {
		return
	}
	for i := range x.calls.List {
		tc := &x.calls.List[i]
		name, review := visible.Text(string(tc.Tool)), tc.Outcome.Judge
		details := map[string]any{"tool": string(tc.Tool), "proposal": string(tc.Outcome.Proposal)}
		switch {
		case review == nil:
			n.skipped++
			n.emit(x, "judge.skipped", "skipped "+name, events.Info, details)
			continue
		case review.Probability != nil:
			details["probability"] = *review.Probability
		default:
			details["fault"] = review.Fault
		}
		n.judged++
		details["model"], details["cached"], details["ms"] = review.Model, review.Cached, review.Millis
		if review.Mode.Permissive() {
			n.emit(x, "judge.passed", "passed "+name, events.Info, details)
			continue
		}
		n.blocked++
		if n.reason = name + ": " + review.Explanation; review.Fault != "" {
			n.reason = name + ": " + review.Fault
		}
		n.emit(x, "judge.blocked", "blocked "+name, events.Warning, details)
	}
}

// summarize reports the opinions on the last round, and the sum of all.
func (n *judged) summarize(x *exchange) {
	n.report(x)
	if n.judged == 0 {
		return
	}
	details := map[string]any{"judged": n.judged, "blocked": n.blocked, "skipped": n.skipped}
	if n.reason != "" {
		details["block_reason"] = n.reason
	}
	n.emit(x, "judge.summary", fmt.Sprintf("%d judged, %d blocked, %d skipped", n.judged, n.blocked, n.skipped), events.Info, details)
}
