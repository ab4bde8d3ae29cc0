package agent

import (
	"testing"

	"github.com/stopgate/stopgate/gate"
)

// A call whose question was declined, or answered elsewhere, is not shown as approved by the
// person.
func TestAgreed(t *testing.T) {
	for _, c := range []struct {
		kind  gate.AnswerKind
		armed *seen
		want  bool
	}{
		{gate.Unanswered, nil, false}, {gate.Unanswered, &seen{}, true},
		{gate.Approved, nil, true}, {gate.Edited, &seen{}, true},
		{gate.Declined, nil, false}, {gate.Declined, &seen{}, false}, {gate.Deferred, &seen{}, false},
	} {
		q := &Question{answer: make(chan gate.Answer, 1), armed: c.armed}
		if c.kind != gate.Unanswered {
			q.sendAnswer(gate.Answer{Kind: c.kind})
		}
		if got := q.agreed(); got != c.want {
			t.Errorf("answer %d, armed %v: agreed %v", c.kind, c.armed != nil, got)
		}
	}
}
