package gate_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// Proves FM16: above so many open questions a call that would be asked about is denied
// overloaded, with its row; one that needs nobody is not, and when questions are answered
// others are asked.
func TestTooManyQuestions(t *testing.T) {
	var rec ports.Recorder
	asked, answer := make(chan struct{}, 2*gate.MaxQuestions), make(chan struct{})
	g := newGate(t, gate.WithRecorder(&rec), gate.WithApprover(ports.Approver(func(ctx context.Context, q *gate.Question) (gate.Answer, error) {
		asked <- struct{}{}
		select {
		case <-answer:
			return ports.Yes(ctx, q)
		case <-ctx.Done():
			return gate.Answer{}, ctx.Err()
		}
	})))
	var all sync.WaitGroup
	for i := range gate.MaxQuestions {
		all.Go(func() {
			if out := decide(t, g, "asked", fmt.Sprintf(`{"n":%d}`, i)); !out.Allowed() {
				t.Errorf("call %d: %v", i, out.Verdict)
			}
		})
	}
	for range gate.MaxQuestions {
		<-asked
	}
	want(t, decide(t, g, "asked", `{"n":-1}`), stopgate.Denied, stopgate.CodeOverloaded)
	if out := decide(t, g, "free", `{}`); !out.Allowed() {
		t.Errorf("a call that needs nobody: %v", out.Verdict)
	}
	rows := rec.Decisions()
	if len(rows) != 2 || rows[0].Code != stopgate.CodeOverloaded || rows[0].Status != stopgate.StatusDenied || rows[1].Status != stopgate.StatusAllowed {
		t.Errorf("rows %+v", rows)
	}
	close(answer)
	all.Wait()
	if out := decide(t, g, "asked", `{"n":-2}`); !out.Allowed() {
		t.Errorf("afterwards: %v", out.Verdict)
	}
	if n := len(rec.Decisions()); n != gate.MaxQuestions+3 {
		t.Errorf("%d rows of %d calls", n, gate.MaxQuestions+3)
	}
}
