package approve_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/store/mem"
)

// forgetful is a store without the arguments of questions that are over, as the audit log may demand.
type forgetful struct{ approve.Store }

func (s forgetful) ChangeEntry(ctx context.Context, id string, change func(approve.Entry) (approve.Entry, error)) (whole approve.Entry, err error) {
	_, err = s.Store.ChangeEntry(ctx, id, func(e approve.Entry) (approve.Entry, error) {
		e, err := change(e)
		if whole = e; e.Over() {
			e.Args, e.Edit, e.Leaves, e.Segment = "", "", nil, nil
		}
		return e, err
	})
	return whole, err
}

// Proves I16, S13: an approval with edited arguments that is returned still approves those only, also
// if the store removed them when it was used.
func TestReturnedEditIsWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := new(mem.Approvals)
		d := newFixture(t, forgetful{store}, quiet)
		broken := true
		d.records.Fault = func(_ context.Context, _ int, r *stopgate.Record) error {
			if broken && r.Kind == stopgate.RecordDecision && r.ReleasedHash != "" {
				return errors.New("disk full")
			}
			return nil
		}
		done := d.decide(t.Context(), call("write", page))
		e := d.asked()
		d.answer(e.ID, approve.Reply{Kind: approve.With, Args: []byte(`{"path":"lib/b"}`)})
		if out := <-done; out.Allowed() {
			t.Fatal("released without a record")
		}
		got, err := store.Entry(t.Context(), e.ID)
		if err != nil || got.State != approve.Edited || got.Edit != `{"path":"lib/b"}` || got.Args != e.Args || len(got.Leaves) != len(e.Leaves) {
			t.Errorf("returned as %s of %q, edited %q: %v", got.State, got.Args, got.Edit, err)
		}
		broken = false
		again := d.decide(t.Context(), call("write", page))
		select {
		case out := <-again:
			if !out.Allowed() || string(out.Args) != `{"path":"lib/b"}` {
				t.Errorf("released %s: %+v", out.Args, out.Verdict)
			}
		default:
			t.Error("the edit does not serve the call again")
		}
	})
}
