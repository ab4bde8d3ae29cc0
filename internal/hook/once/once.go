// Package once lets one call be decided once if several hooks receive it: Cursor and Copilot CLI
// also run the hooks of Claude Code, and a hook can be in the settings of the user and of the
// project (S49).
//
//	registry := once.At("/home/u/.local/state/stopgate/hooks", policy)
//	lease, answer, err := registry.Enter(ctx, once.Call{...})
//	switch {
//	case err != nil: // nothing may run
//	case lease == nil: // another process has decided and left answer
//	default: // decide, then
//		err = lease.Settle(answer)
//	}
//
// Calls are lines of a few tables, which are permanent files: creating and removing a file for each
// call took longer than the decision. The deciding process holds the lock of a file of its own, its
// slot. So the end of that process is visible at once, whatever its cause: processes that wait then
// get an error (FM9).
//
// Two processes have the same call if rules, principal, tool, directory and arguments are equal,
// and the host gave the call one id; or, if the hosts differ, if the second comes while the first
// decides, or within [Window] after its end. An answer is given once to each other host, so that a
// repeated call gets a new decision.
package once

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Window is the time after a decision in which another process may have the same call.
const Window = 2 * time.Second

// ErrUnanswered is returned if the deciding process ended without an answer.
var ErrUnanswered = errors.New("another hook was deciding about the same call and ended without an answer")

// Call is the call of a hook.
type Call struct {
	Principal, Tool string
	Hash            [32]byte // hash of the arguments
	Dir             string   // directory of relative paths
	// Host, Session and ID are the names of the host, the session and the call.
	Host, Session, ID string
	// Waits is called if another process decides, which may take minutes; it may be nil.
	Waits func()
}

// Registry is a directory of calls that are being decided. It is safe for concurrent use.
type Registry struct {
	dir   string
	under string
	now   func() time.Time
}

// At returns the registry in a directory, which is created on demand. Processes with other rules,
// identified by under, decide separately.
func At(dir, under string) *Registry { return &Registry{dir: dir, under: under, now: time.Now} }

// Lease is the right and the obligation to decide about a call.
type Lease struct {
	table *table // nil after it ended
	key   key
	lane  int
	slot  *os.File // the locked slot
	now   func() time.Time
}

// Enter waits until it is known which process decides. It returns a Lease if it is the caller, and
// otherwise the answer of another process. It returns an error if ctx ends.
func (d *Registry) Enter(ctx context.Context, c Call) (turn *Lease, answer []byte, err error) {
	k := c.key(d.under)
	var waited caller
	for wait := patience; ; wait = min(wait+wait/16, impatience) {
		t, err := d.open(ctx, k)
		if err != nil {
			return nil, nil, err
		}
		other := t.find(k, c, waited)
		if other == nil || !t.decides(other) {
			turn, answer, err := d.owned(t, other, k, c, waited)
			if turn == nil {
				t.close()
			}
			return turn, answer, err
		}
		first := waited == caller{}
		waited = other.caller
		t.close()
		if first && c.Waits != nil {
			c.Waits()
		}
		if err := pause(ctx, wait); err != nil {
			return nil, nil, err
		}
	}
}

// patience is the interval between lookups while waiting for an answer, and impatience the one
// after a long wait, for example for an approval, when more lookups are not worthwhile.
const (
	patience   = 2 * time.Millisecond
	impatience = 32 * time.Millisecond
)

// owned decides who has the call if no other process is deciding about it. The table must be
// locked.
func (d *Registry) owned(t *table, other *claim, k key, c Call, waited caller) (*Lease, []byte, error) {
	switch {
	case other == nil && waited != (caller{}): // it was decided, but the answer is gone
		return nil, nil, ErrUnanswered
	case other == nil:
	case !other.answered():
		return nil, nil, ErrUnanswered
	case other.given(c.Host) < other.share(c):
		other.to = append(other.to, c.Host)
		err := t.write()
		if err == nil {
			err = d.remember(c)
		}
		return nil, other.answer, err
	}
	if t.size == 0 { // the first call, possibly after an update
		d.sweep()
	}
	t.forget(d.now(), k, c.caller())
	lane, slot, err := t.takeSlot()
	if err != nil {
		return nil, nil, err
	}
	t.claims = append(t.claims, claim{key: k, slot: lane, at: d.now(), caller: c.caller()})
	if err := errors.Join(t.write(), t.unlock()); err != nil {
		slot.Close()
		return nil, nil, err
	}
	return &Lease{table: t, key: k, lane: lane, slot: slot, now: d.now}, nil, nil
}

// Settle stores the answer, which is JSON, for the other hooks of the call.
func (t *Lease) Settle(answer []byte) error {
	if t.table == nil {
		return nil
	}
	return errors.Join(t.settle(answer), t.Leave())
}

func (t *Lease) settle(answer []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), Window)
	defer cancel()
	if err := t.table.lock(ctx); err != nil {
		return err
	}
	own := t.table.of(t.key, t.lane)
	if own == nil {
		return fmt.Errorf("%s no longer contains the call", t.table.file.Name())
	}
	own.answer, own.at, own.slot = answer, t.now(), answered
	return t.table.write()
}

// Leave gives up the lease. If there is no answer, waiting processes get [ErrUnanswered].
func (t *Lease) Leave() error {
	if t.table == nil {
		return nil
	}
	err := errors.Join(t.slot.Close(), t.table.close())
	t.table = nil
	return err
}

// caller identifies a hook by the names of its host.
type caller struct{ host, session, id string }

func (c Call) caller() caller { return caller{c.Host, c.Session, c.ID} }

// key returns the key of all calls that may be the same one.
func (c Call) key(under string) (k key) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %x", under, c.Principal, c.Tool, c.Dir, c.Hash))
	hex.Encode(k[:], sum[:len(k)/2])
	return k
}

// marker returns the path of the file that marks a call with the answer of another one.
func (c Call) marker() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %x", c.Principal, c.Host, c.Session, c.ID, c.Tool, c.Hash))
	return fmt.Sprintf("%x.twin", sum[:16])
}

// Gave reports whether Enter returned the answer of another hook for a call. That hook also
// receives the call's result.
func (d *Registry) Gave(c Call) bool {
	_, err := os.Stat(filepath.Join(d.dir, c.marker()))
	return err == nil
}

// markerLifetime is the lifetime of a marker.
const markerLifetime = time.Hour

// remember creates the marker of a call, and removes old ones.
func (d *Registry) remember(c Call) error {
	d.sweep()
	return os.WriteFile(filepath.Join(d.dir, c.marker()), nil, 0o600)
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the other hook: %w", context.Cause(ctx))
	}
}

// sweep removes old markers, and the files that older versions created for each call. Files that
// cannot be removed stay.
func (d *Registry) sweep() {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		age, old := map[string]time.Duration{".twin": markerLifetime, ".call": 2 * Window}[filepath.Ext(e.Name())]
		if !old {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && d.now().Sub(info.ModTime()) >= age {
			_ = os.Remove(filepath.Join(d.dir, e.Name()))
		}
	}
}
