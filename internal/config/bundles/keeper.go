// Package bundles finds the policy bundle that applies: the table [policy] of the operator's files
// names its channel, the newest bundle of that is fetched and verified, and the last good one is kept
// in the state directory.
//
//	settings, ok, err := bundles.Of(set)
//	k, err := bundles.New(settings, config.Account{}, fetch)
//	set, err = k.Add(set)            // with the candidate, else with the last good bundle
//	... compile ...
//	err = k.Conclude(err)            // a candidate becomes the last good bundle, or is refused
//
// A bundle is refused if it is not signed with a key of the settings, has another form than the one
// that stopgate bundle build writes, is older than one that was accepted, or has mistakes. The last
// good one stays in force then, until it is older than the settings accept.
package bundles

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/config"
)

// Errors of bundles.
var (
	// ErrOlder is the error for a bundle of an older generation than one that was accepted.
	ErrOlder = errors.New("an older generation than the one that was accepted")
	// ErrUnreachable is the error of a channel that cannot be read.
	ErrUnreachable = errors.New("channel cannot be read")
)

// Fetch returns the newest bundle of a channel unless it is the one with the tag; see package
// internal/bundle/channel.
type Fetch func(ctx context.Context, tag string) (bundle.Signed, error)

// Keeper keeps the bundle of one channel. It is safe for concurrent use.
type Keeper struct {
	Settings
	// Newest returns the newest bundle that any gate of the store accepted, zero for none; nil
	// without a store.
	Newest func(ctx context.Context) (stopgate.Bundle, error)

	kept  kept
	fetch Fetch
	now   func() time.Time

	mu        sync.Mutex
	candidate *candidate
	refused   error  // of the newest bundle of the channel; nil if it is in force
	seen      string // the tag of the bundle that was refused
}

type candidate struct {
	bundle *bundle.Bundle
	signed bundle.Signed
}

// New returns the keeper of a channel for a user. A program that cannot fetch passes nil: it uses the
// last good bundle, and [Keeper.Due] reports when another program has to fetch.
func New(s Settings, a config.Account, fetch Fetch) (*Keeper, error) {
	dir, err := keptAt(s.Channel, a)
	if err != nil {
		return nil, err
	}
	return &Keeper{Settings: s, kept: dir, fetch: fetch, now: time.Now}, nil
}

// Due reports whether the channel has to be asked: it was not for the interval of the settings, by any
// process of this user.
func (k *Keeper) Due() bool {
	at, _ := k.kept.marked("tried")
	since := k.now().Sub(at)
	return since >= k.Every || since < 0
}

// Poll asks the channel. After nil a new bundle may be a candidate: see [Keeper.Candidate].
func (k *Keeper) Poll(ctx context.Context) error {
	now := k.now()
	_ = k.kept.mark("tried", "", now) // only limits how often other processes ask
	last, err := k.kept.read(k.Keys)
	tag := ""
	if err == nil {
		_, tag = k.kept.marked("checked")
	}
	k.mu.Lock()
	if k.refused != nil && k.seen != "" {
		tag = k.seen
	}
	k.mu.Unlock()
	s, err := k.fetch(ctx, tag)
	k.mu.Lock()
	defer k.mu.Unlock()
	if errors.Is(err, bundle.ErrUnchanged) {
		if k.seen != "" && tag == k.seen {
			return k.refused
		}
		k.candidate, k.refused = nil, nil
		return k.kept.mark("checked", tag, now)
	}
	if err != nil {
		k.candidate = nil
		return k.refuse("", fmt.Errorf("fetch bundle from %s: %w: %w", k.Channel, ErrUnreachable, err))
	}
	b, err := bundle.Open(s.Archive, s.Signature, k.Keys)
	if err == nil {
		err = k.newer(ctx, b, last)
	}
	if err != nil {
		k.candidate = nil
		return k.refuse(s.Tag, fmt.Errorf("refuse bundle of %s: %w", k.Channel, err))
	}
	if last != nil && last.Digest == b.Digest {
		k.candidate, k.refused = nil, nil
		return k.kept.mark("checked", s.Tag, now)
	}
	k.candidate = &candidate{b, s}
	return nil
}

// refuse remembers why the newest bundle of the channel is not in force; k.mu is held.
func (k *Keeper) refuse(tag string, err error) error {
	k.refused, k.seen = err, tag
	return err
}

// newer refuses a bundle that is older than the last good one of this user, or than one that a gate of
// the store accepted, or another one of the same generation.
func (k *Keeper) newer(ctx context.Context, b, last *bundle.Bundle) error {
	known := stopgate.Bundle{}
	if last != nil {
		known = stopgate.Bundle{Generation: last.Generation, Digest: last.Digest}
	}
	if k.Newest != nil {
		other, err := k.Newest(ctx)
		if err != nil {
			return fmt.Errorf("find the newest generation in the store: %w", err)
		}
		if other.Generation > known.Generation {
			known = other
		}
	}
	return Newer(stopgate.Bundle{Generation: b.Generation, Digest: b.Digest}, known)
}

// Newer returns an error if a bundle must not follow one that was accepted.
func Newer(b, accepted stopgate.Bundle) error {
	switch {
	case b.Generation < accepted.Generation:
		return fmt.Errorf("%w: generation %d, after generation %d", ErrOlder, b.Generation, accepted.Generation)
	case b.Generation == accepted.Generation && b.Digest != accepted.Digest:
		return fmt.Errorf("%w: another bundle is generation %d: %.12s, not %.12s", ErrOlder, b.Generation, accepted.Digest, b.Digest)
	}
	return nil
}

// Candidate reports whether there is a bundle to try.
func (k *Keeper) Candidate() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.candidate != nil
}

// Conclude ends the trial of a candidate with the error of compiling it: it becomes the last good
// bundle, or is refused. Without a candidate it returns err.
func (k *Keeper) Conclude(err error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.candidate
	k.candidate = nil
	if c == nil {
		return err
	}
	if err == nil {
		last, _ := k.kept.read(k.Keys)
		if last != nil && last.Generation > c.bundle.Generation { // another process was faster
			return k.refuse("", fmt.Errorf("refuse bundle of %s: %w", k.Channel, ErrOlder))
		}
		err = k.kept.write(c.signed)
	}
	if err != nil {
		k.refuse(c.signed.Tag, fmt.Errorf("refuse bundle of %s, generation %d: %w", k.Channel, c.bundle.Generation, err))
		return err
	}
	k.refused = nil
	return k.kept.mark("checked", c.signed.Tag, k.now())
}

// Retry forgets the refusal, so that the next Poll fetches the bundle again: the files that it was
// compiled with have changed.
func (k *Keeper) Retry() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.seen = ""
}

// Add adds the candidate to a set, or without one the last good bundle. The error is bundle.ErrNone if
// there is neither.
func (k *Keeper) Add(set config.Set) (config.Set, error) {
	k.mu.Lock()
	c := k.candidate
	k.mu.Unlock()
	if c != nil {
		return set.WithBundle(config.Rollout{Bundle: c.bundle}), nil
	}
	b, err := k.kept.read(k.Keys)
	if err != nil {
		return set, err
	}
	return set.WithBundle(config.Rollout{Bundle: b, Stale: k.Stale() && !k.Continue}), nil
}

// Stale reports whether the last good bundle is older than the settings accept. A clock that went back
// makes it stale, too.
func (k *Keeper) Stale() bool {
	if k.MaxAge == 0 {
		return false
	}
	at, _ := k.kept.marked("checked")
	age := k.now().Sub(at)
	return age > k.MaxAge || age < -clockSlack
}

// clockSlack is how far a file may be ahead of the clock.
const clockSlack = time.Minute

// Status describes a channel as this user's gates have it.
type Status struct {
	Bundle  *bundle.Bundle // the last good one, nil for none
	Since   time.Time      // when it was accepted
	Checked time.Time      // when the channel was last seen to have no other one
	Stale   bool
	Refused error // why the newest bundle of the channel is not in force
}

// Status returns the state of the channel.
func (k *Keeper) Status() (Status, error) {
	var s Status
	var err error
	if s.Bundle, err = k.kept.read(k.Keys); err != nil && !errors.Is(err, bundle.ErrNone) {
		return s, err
	}
	s.Since = k.kept.since()
	s.Checked, _ = k.kept.marked("checked")
	s.Stale = k.Stale()
	k.mu.Lock()
	defer k.mu.Unlock()
	s.Refused = k.refused
	return s, nil
}

// State changes whenever [Keeper.Add] would add something else.
func (k *Keeper) State() string {
	return fmt.Sprint(k.kept.since().UnixNano(), k.Stale(), k.Candidate())
}

// Figures returns the generation of the last good bundle, 0 for none, when the channel was last seen to
// have no other one, and whether the newest bundle of the channel was refused.
func (k *Keeper) Figures() (generation uint64, checked time.Time, refused bool) {
	s, err := k.Status()
	if s.Bundle != nil {
		generation = s.Bundle.Generation
	}
	return generation, s.Checked, err != nil || s.Refused != nil
}
