// Package once lets one call be decided once, however many hooks are asked about it:
// Cursor and Copilot CLI run the hooks of Claude Code too, and a hook can stand in the
// settings of the user and of the project (S49).
//
//	desk := once.At("/home/u/.local/state/stopgate/hooks", policy)
//	turn, said, err := desk.Enter(ctx, once.Call{...})
//	switch {
//	case err != nil: // nothing may run
//	case turn == nil: // another process has decided: said is its answer
//	default: // decide, then
//		err = turn.Settle(answer)
//	}
//
// Calls stand in a few tables, which stay: to make and remove a file for each call took longer
// than to decide it. Who decides has the lock of a file of its own meanwhile, its lane. So the
// end of that process is seen at once, whatever ended it: whoever waits then finds no answer,
// and gets an error (FM9).
//
// Two processes are about one call if rules, principal, tool, directory and arguments are the same, and
// the host gave the call one id; or, where the hosts differ, if the second comes while
// the first decides, or within [Window] of its end. An answer is given away once to each
// other host, so that a call that is repeated is not taken for the one before.
package once

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Window is how long after its decision another process may be about the same call.
const Window = 2 * time.Second

// ErrUnanswered says that the process that had to decide ended without an answer.
var ErrUnanswered = errors.New("another hook was deciding about the same call and ended without an answer")

// Call says what a hook is asked about.
type Call struct {
	Principal, Tool string
	Hash            [32]byte // of the arguments
	Dir             string   // where relative paths begin
	// Host, Session and ID are how this hook's host calls itself, the session, the call.
	Host, Session, ID string
	// Waits is told that another process decides, whose answer may take minutes; nil for
	// nobody.
	Waits func()
}

// Desk is a directory of calls that are being decided. It is safe for concurrent use.
type Desk struct {
	dir   string
	under string
	now   func() time.Time

	tables sync.Pool // of *table: room
}

// At returns the desk in a directory, which is made when it is needed. Processes that
// decide under other rules, of which under is a name, answer for themselves.
func At(dir, under string) *Desk { return &Desk{dir: dir, under: under, now: time.Now} }

// Turn is the duty to decide.
type Turn struct {
	table *table // nil once it is over
	key   key
	lane  int
	mine  *os.File // the lane
	now   func() time.Time
}

// Enter waits until it is known who decides. With a Turn it is the caller; without one
// said is what another process has answered. The end of ctx is an error.
func (d *Desk) Enter(ctx context.Context, c Call) (turn *Turn, said []byte, err error) {
	k := c.key(d.under)
	var waited caller
	for wait := patience; ; wait = min(wait+wait/16, impatience) {
		t, err := d.open(ctx, k)
		if err != nil {
			return nil, nil, err
		}
		other := t.find(k, c, waited)
		if other == nil || !t.decides(other) {
			turn, said, err := d.owned(t, other, k, c, waited)
			if turn == nil {
				t.close()
			}
			return turn, said, err
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

// patience is how long who waits for an answer does not look, and impatience where that
// takes long, because a person is asked: then looking would cost more than it gains.
const (
	patience   = 2 * time.Millisecond
	impatience = 32 * time.Millisecond
)

// owned decides while nobody else decides about the call. The table is in hand.
func (d *Desk) owned(t *table, other *claim, k key, c Call, waited caller) (*Turn, []byte, error) {
	switch {
	case other == nil && waited != (caller{}): // it was decided, and how is not known any more
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
		return nil, other.said, err
	}
	if t.size == 0 { // the first one, it may be after an update
		d.sweep()
	}
	t.forget(d.now(), k, c.caller())
	lane, mine, err := t.lane()
	if err != nil {
		return nil, nil, err
	}
	t.claims = append(t.claims, claim{key: k, lane: lane, at: d.now(), caller: c.caller()})
	if err := errors.Join(t.write(), t.unlock()); err != nil {
		mine.Close()
		return nil, nil, err
	}
	return &Turn{table: t, key: k, lane: lane, mine: mine, now: d.now}, nil, nil
}

// Settle leaves the answer, which is JSON, to whoever else is asked.
func (t *Turn) Settle(answer []byte) error {
	if t.table == nil {
		return nil
	}
	return errors.Join(t.settle(answer), t.Leave())
}

func (t *Turn) settle(answer []byte) error {
	ctx, cancel := context.WithTimeout(context.Background(), Window)
	defer cancel()
	if err := t.table.lock(ctx); err != nil {
		return err
	}
	mine := t.table.of(t.key, t.lane)
	if mine == nil {
		return fmt.Errorf("%s does not have the call any more", t.table.file.Name())
	}
	mine.said, mine.at, mine.lane = answer, t.now(), answered
	return t.table.write()
}

// Leave gives up the turn. Without an answer, whoever waits gets [ErrUnanswered].
func (t *Turn) Leave() error {
	if t.table == nil {
		return nil
	}
	err := errors.Join(t.mine.Close(), t.table.close())
	t.table = nil
	return err
}

// caller is who asks, by what hosts say of themselves.
type caller struct{ host, session, id string }

func (c Call) caller() caller { return caller{c.Host, c.Session, c.ID} }

// key is what the calls have in common that may be one.
func (c Call) key(under string) (k key) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %x", under, c.Principal, c.Tool, c.Dir, c.Hash))
	hex.Encode(k[:], sum[:len(k)/2])
	return k
}

// twin is the file that says that a call was given another's answer.
func (c Call) twin() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %x", c.Principal, c.Host, c.Session, c.ID, c.Tool, c.Hash))
	return fmt.Sprintf("%x.twin", sum[:16])
}

// Gave reports whether Enter gave another's answer for a call: then the other hears of
// its result.
func (d *Desk) Gave(c Call) bool {
	_, err := os.Stat(filepath.Join(d.dir, c.twin()))
	return err == nil
}

// twins is how long it is remembered that a call was given another's answer.
const twins = time.Hour

// remember makes the twin of a call, and removes what nobody asks for any more.
func (d *Desk) remember(c Call) error {
	d.sweep()
	return os.WriteFile(filepath.Join(d.dir, c.twin()), nil, 0o600)
}

// pause waits for a moment.
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

// sweep removes old twins, and the files that older versions made for each call. What
// cannot be removed stays.
func (d *Desk) sweep() {
	entries, err := os.ReadDir(d.dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		age, ours := map[string]time.Duration{".twin": twins, ".call": 2 * Window}[filepath.Ext(e.Name())]
		if !ours {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && d.now().Sub(info.ModTime()) >= age {
			_ = os.Remove(filepath.Join(d.dir, e.Name()))
		}
	}
}
