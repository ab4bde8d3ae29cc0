package mem

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/stopgate/stopgate/approve"
)

// Approvals stores questions and grants in memory, for tests and for programs whose
// approvals need not outlive the process. The zero Approvals are empty and ready for use.
type Approvals struct {
	mu       sync.Mutex
	entries  []approve.Entry // oldest first
	grants   []approve.Grant
	attended time.Time
}

// AddEntry implements [approve.Store].
func (a *Approvals) AddEntry(_ context.Context, e approve.Entry, same func(approve.Entry) bool) (approve.Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.entries) - 1; i >= 0 && e.Complete; i-- {
		if old := a.entries[i]; old.Complete && old.Binding == e.Binding && same(old) {
			return old, nil
		}
	}
	for _, old := range a.entries {
		if old.ID == e.ID {
			return approve.Entry{}, fmt.Errorf("mem: the question %s is there already", e.ID)
		}
	}
	a.entries = append(a.entries, e)
	return e, nil
}

// Entry implements [approve.Store].
func (a *Approvals) Entry(_ context.Context, id string) (approve.Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, e := range a.entries {
		if e.ID == id {
			return e, nil
		}
	}
	return approve.Entry{}, approve.ErrUnknown
}

// Entries implements [approve.Store].
func (a *Approvals) Entries(_ context.Context, f approve.Filter) (out []approve.Entry, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.entries) - 1; i >= 0 && (f.Limit <= 0 || len(out) < f.Limit); i-- {
		if f.Matches(a.entries[i]) {
			out = append(out, a.entries[i])
		}
	}
	return out, nil
}

// ChangeEntry implements [approve.Store].
func (a *Approvals) ChangeEntry(_ context.Context, id string, change func(approve.Entry) (approve.Entry, error)) (approve.Entry, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.entries {
		if a.entries[i].ID == id {
			return update(&a.entries[i], change)
		}
	}
	return approve.Entry{}, approve.ErrUnknown
}

// AddGrant implements [approve.Store].
func (a *Approvals) AddGrant(_ context.Context, g approve.Grant) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, old := range a.grants {
		if old.ID == g.ID {
			return fmt.Errorf("mem: the grant %s is there already", g.ID)
		}
	}
	a.grants = append(a.grants, g)
	return nil
}

// Grants implements [approve.Store].
func (a *Approvals) Grants(_ context.Context, f approve.GrantFilter) (out []approve.Grant, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := len(a.grants) - 1; i >= 0; i-- {
		if f.Matches(a.grants[i]) {
			out = append(out, a.grants[i])
		}
	}
	return out, nil
}

// ChangeGrant implements [approve.Store].
func (a *Approvals) ChangeGrant(_ context.Context, id string, change func(approve.Grant) (approve.Grant, error)) (approve.Grant, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.grants {
		if a.grants[i].ID == id {
			return update(&a.grants[i], change)
		}
	}
	return approve.Grant{}, approve.ErrUnknown
}

// update changes one element in place.
func update[T any](at *T, change func(T) (T, error)) (T, error) {
	next, err := change(*at)
	if err != nil {
		var none T
		return none, err
	}
	*at = next
	return next, nil
}

// Attend implements [approve.Store].
func (a *Approvals) Attend(_ context.Context, until time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if until.After(a.attended) || a.attended.Sub(until) > approve.MaxAttendance {
		a.attended = until
	}
	return nil
}

// Attended implements [approve.Store].
func (a *Approvals) Attended(context.Context) (time.Time, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.attended, nil
}

// Prune implements [approve.Store].
func (a *Approvals) Prune(_ context.Context, before time.Time) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := len(a.entries) + len(a.grants)
	a.entries = filter(a.entries, func(e approve.Entry) bool { return !e.Expires.Before(before) })
	a.grants = filter(a.grants, func(g approve.Grant) bool { return !g.Expires.Before(before) })
	return n - len(a.entries) - len(a.grants), nil
}

func filter[T any](list []T, wanted func(T) bool) (kept []T) {
	for _, x := range list {
		if wanted(x) {
			kept = append(kept, x)
		}
	}
	return kept
}

var _ approve.Store = (*Approvals)(nil)
