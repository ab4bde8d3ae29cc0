package learn

import (
	"fmt"

	"github.com/stopgate/stopgate"
)

// prove replays all calls of the rows under a policy with proposals. Its error names the first call that it asks
// about although a proposal covers it, that it permits although it was refused, or whose verdict it loosens in
// another way than from a question to a permit.
func (r *Result) prove(j *judge, list []Proposal) error {
	covered := map[stopgate.ProposalID]bool{}
	for _, p := range list {
		for _, id := range p.Covers {
			covered[id] = true
		}
	}
	for _, t := range r.sorted() {
		for _, k := range t.calls {
			if id := k.row.Record.ID; covered[id] && j.mode(k.call, k.args) != stopgate.Unattended {
				return fmt.Errorf("the rules together still ask about %s, which one of them permits: choose fewer", id)
			}
		}
	}
	for _, e := range r.refused {
		if e.args != nil && r.permits(j.mode, e) {
			return fmt.Errorf("the rules together permit %s, which was refused: choose fewer", e.row.Record.ID)
		}
	}
	for _, row := range r.decided {
		call := row.call()
		was, now := r.base.mode(call, row.Args), j.mode(call, row.Args)
		if stopgate.Strictest(was, now) != now && (was != stopgate.Ask || now != stopgate.Unattended) {
			return fmt.Errorf("the rules together loosen the verdict on %s from %s to %s: choose fewer", row.Record.ID, was, now)
		}
	}
	return nil
}
