package approve_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
)

// hinting is a store that another process shares.
type hinting struct {
	mem.Approvals
	mu    sync.Mutex
	next  chan struct{}
	ahead time.Duration // of the clock
}

func (h *hinting) Hints() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next == nil {
		h.next = make(chan struct{})
	}
	return h.next
}

func (h *hinting) Clock() time.Time { return time.Now().Add(h.ahead) }

func (h *hinting) hint() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.next != nil {
		close(h.next)
		h.next = nil
	}
}

// Questions expire by the time of the store, whatever the clock of the gate is.
func TestTimeOfTheStore(t *testing.T) {
	store := &hinting{ahead: 24 * time.Hour}
	q, err := approve.New(store, quiet)
	if err != nil {
		t.Fatal(err)
	}
	for id, expires := range map[string]time.Duration{"past": time.Hour, "live": 25 * time.Hour} {
		e := approvals.Entry(id)
		e.Asked, e.Until, e.Expires = time.Now(), time.Now().Add(expires), time.Now().Add(expires)
		if _, err := store.AddEntry(t.Context(), e, func(approve.Entry) bool { return false }); err != nil {
			t.Fatal(err)
		}
		_, err := q.Answer(t.Context(), id, approve.Reply{Kind: approve.Yes, By: "bob", Via: "test"})
		if (err == nil) != (id == "live") {
			t.Errorf("%s: %v", id, err)
		}
	}
}

// An answer that another process gives wakes a call at the hint, and without one at the interval.
func TestHints(t *testing.T) {
	for _, hints := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			store := new(hinting)
			o := quiet
			o.Poll = time.Minute
			f := newFixture(t, store, o)
			other, err := approve.New(&store.Approvals, quiet)
			if err != nil {
				t.Fatal(err)
			}
			answered := make(chan time.Time, 1)
			go func() {
				f.gate.Decide(t.Context(), stopgate.Call{Tool: "run", ID: "c", Session: "s", Args: []byte(`{"command":"ls"}`)})
				answered <- time.Now()
			}()
			synctest.Wait()
			entries, err := store.Entries(t.Context(), approve.Filter{State: approve.Waiting})
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}
			if _, err := other.Answer(t.Context(), entries[0].ID, approve.Reply{Kind: approve.Yes, By: "ann", Via: "test"}); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if hints {
				store.hint()
			}
			if waited := (<-answered).Sub(began); waited != 0 && hints || waited < 30*time.Second && !hints {
				t.Errorf("hints %v: the call waits %v for the answer", hints, waited)
			}
		})
	}
}
