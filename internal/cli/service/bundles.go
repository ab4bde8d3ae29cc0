package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/store/fleet"
)

// Bundles asks the channel of a running gate for new policy bundles, and reports what is in force to
// the fleet. A nil *Bundles has no channel.
type Bundles struct {
	keeper *bundles.Keeper
	fleet  fleet.Store // nil: there is no store for it
	gate   *gate.Gate
	name   string
	log    *slog.Logger
	signal chan struct{} // a reload is due

	mu       sync.Mutex
	trouble  string          // of the last poll, "" for none
	accepted stopgate.Bundle // that the fleet knows of
}

// Bundles returns the bundles of a gate on this state; command is its name within this machine. It
// fails if the bundle that the gate begins with is older than one that a gate of the store accepted,
// unless the settings accept old ones.
func (st *State) Bundles(ctx context.Context, k *bundles.Keeper, g *gate.Gate, command string, log *slog.Logger) (*Bundles, error) {
	if k == nil {
		return nil, nil
	}
	b := &Bundles{keeper: k, gate: g, name: gateName(command), log: log, signal: make(chan struct{}, 1)}
	if st.Store == nil {
		return b, nil
	}
	b.fleet = st.Store
	k.Newest = func(ctx context.Context) (stopgate.Bundle, error) {
		return b.fleet.AcceptBundle(ctx, k.Channel, stopgate.Bundle{}, time.Now())
	}
	newest, err := k.Newest(ctx)
	if err != nil {
		return nil, err
	}
	if err := b.check(newest); err != nil {
		if !k.Continue {
			return nil, err
		}
		log.Warn("the bundle that the gate begins with is old", "error", err)
	}
	return b, b.put(ctx)
}

// gateName names a process of this machine in the fleet.
func gateName(command string) string {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return fmt.Sprintf("%s/%s/%d", host, command, os.Getpid())
}

// check compares the last good bundle with the newest one of the store.
func (b *Bundles) check(newest stopgate.Bundle) error {
	s, err := b.keeper.Status()
	if err != nil || s.Bundle == nil {
		return err
	}
	return bundles.Newer(stopgate.Bundle{Generation: s.Bundle.Generation, Digest: s.Bundle.Digest}, newest)
}

// poll asks the channel at the interval of its settings until ctx ends.
func (b *Bundles) poll(ctx context.Context) {
	if b == nil {
		return
	}
	for {
		err := b.keeper.Poll(ctx)
		if ctx.Err() != nil {
			return
		}
		if b.report(ctx, err) || b.keeper.Candidate() {
			select {
			case b.signal <- struct{}{}:
			default: // it is due already
			}
		} else if err := b.put(ctx); err != nil {
			b.log.Warn("the fleet does not learn which bundle is in force", "error", err)
		}
		every := b.keeper.Every
		select {
		case <-time.After(every - every/8 + time.Duration(rand.Int64N(int64(every/8)+1))): // gates that began together part
		case <-ctx.Done():
			return
		}
	}
}

// Follow asks the channel until ctx ends, and calls reload when another bundle is to be in force, or none
// because the last good one is too old: for a program whose other files are not reloaded.
func (b *Bundles) Follow(ctx context.Context, reload func() error) {
	if b == nil {
		return
	}
	polled := make(chan struct{})
	go func() {
		defer close(polled)
		b.poll(ctx)
	}()
	defer func() { <-polled }()
	ticker := time.NewTicker(reloadPoll)
	defer ticker.Stop()
	for seen := b.keeper.State(); ; seen = b.keeper.State() {
		select {
		case <-b.signal:
		case <-ticker.C:
			if b.keeper.State() == seen {
				continue
			}
		case <-ctx.Done():
			return
		}
		if err := reload(); err != nil {
			b.log.Error("reload refused: what was in force stays", "error", err)
			b.gate.Reject(ctx, "unreadable")
		}
		b.concluded(ctx)
	}
}

// report logs a change of the trouble with the channel, and tells the gate of a bundle that was
// refused. It reports whether trouble ended, so that a reload has to clear it.
func (b *Bundles) report(ctx context.Context, err error) (ended bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := b.trouble
	b.trouble = ""
	if err != nil {
		b.trouble = err.Error()
	}
	switch {
	case b.trouble == before:
	case err == nil:
		b.log.Info("the channel of the policy bundle is good again", "channel", b.keeper.Channel)
		return true
	case errors.Is(err, bundles.ErrUnreachable):
		b.log.Warn("the channel of the policy bundle cannot be read: the last good bundle stays in force", "error", err)
	default:
		b.log.Error("policy bundle refused: the last good one stays in force", "error", err)
		b.gate.Reject(ctx, b.trouble)
	}
	return false
}

// concluded ends a reload that a candidate caused.
func (b *Bundles) concluded(ctx context.Context) {
	if err := b.put(ctx); err != nil {
		b.log.Warn("the fleet does not learn which bundle is in force", "error", err)
	}
}

// wake returns the channel on which reloads are asked for.
func (b *Bundles) wake() <-chan struct{} {
	if b == nil {
		return nil
	}
	return b.signal
}

// retry forgets refusals: other files have changed.
func (b *Bundles) retry() {
	if b != nil {
		b.keeper.Retry()
	}
}

// put records which bundle is in force.
func (b *Bundles) put(ctx context.Context) error {
	if b.fleet == nil {
		return nil
	}
	s, err := b.keeper.Status()
	if err != nil || s.Bundle == nil {
		return err
	}
	now, in := time.Now(), stopgate.Bundle{Generation: s.Bundle.Generation, Digest: s.Bundle.Digest}
	b.mu.Lock()
	known := b.accepted == in
	b.mu.Unlock()
	if !known {
		if _, err := b.fleet.AcceptBundle(ctx, b.keeper.Channel, in, now); err != nil {
			return err
		}
		b.mu.Lock()
		b.accepted = in
		b.mu.Unlock()
	}
	state := fleet.Gate{
		Name: b.name, Version: release.Version(), Channel: b.keeper.Channel, Bundle: in, Canary: s.Bundle.Canary.String(), Since: s.Since, Seen: now,
	}
	if s.Refused != nil {
		state.Refused = s.Refused.Error()
	}
	return b.fleet.PutGate(ctx, state)
}
