package process

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/once"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/location"
	"github.com/stopgate/stopgate/internal/visible"
)

// wiring creates the gate of one event.
type wiring struct {
	program Program
	host    *hook.Host
	flags   *Flags
	log     io.Writer
	event   bytes.Buffer // the part that was read, for the full program
	began   time.Time
	store   backend.Store // nil: there is none, and neither of the next two
	once    *once.Registry
	asking  *lockdownApprover

	settings atomic.Pointer[place.Settings] // nil before they are known
}

func (w *wiring) open(ctx context.Context, e *hook.Event) (*hook.Backend, error) {
	set, dir, err := w.policies(ctx, e)
	if err != nil {
		return nil, err
	}
	if id := w.program.Caller.Env("STOPGATE_SESSION"); id != "" {
		e.Call.Session = stopgate.SessionID(id)
	}
	o := w.program.Caller.Options(set, dir, e, w.flags.Place.Store)
	if set, err = w.withBundle(ctx, set, o, e.Call.Session); err != nil {
		return nil, err
	}
	set.Say(w.log)
	program, bindings, err := w.compile(ctx, set, o)
	if err != nil {
		return nil, err
	}
	if w.flags.Place.Store == "" && w.program.Caller.Stored(&o, program) {
		if program, bindings, err = w.compile(ctx, set, o); err != nil {
			return nil, err
		}
	}
	allows, list := hookTable(program.Settings().Tables["hook"])
	if list.HasErrors() {
		io.WriteString(w.log, visible.Lines(diag.Text(list, set.Text)))
		return nil, config.MistakesError{List: list, Set: set}
	}
	b := &hook.Backend{Allow: allows, SessionPolicies: len(program.SessionPolicies()) > 0 || learnsElsewhere(program)}
	b.ObservesResults = b.SessionPolicies || program.WithholdsResults() || program.Reader() != nil
	if e.Kind == hook.After && !b.ObservesResults && len(program.Externals()) == 0 {
		b.Gate, err = gate.New(program)
		return b, err
	}
	if err := w.leave(ctx, program); err != nil {
		return nil, err
	}
	options, queue, err := w.state(ctx, program, set)
	if err != nil {
		return nil, err
	}
	b.Approver = w.host.Approver(e, queue)
	if require := required(program); require != nil { // the prompt of the host asks the caller himself
		b.Approver.ByOthers()
	}
	b.Once = w.once
	if w.program.delegated != nil {
		b.OnWait = w.program.delegated.waits
	}
	if w.program.Judges != nil {
		options = append(options, w.program.Judges(w.store))
	}
	if w.program.External != nil {
		options = append(options, w.program.External())
	}
	b.Gate, err = gate.New(program, append(options,
		gate.WithApprover(b.Approver), gate.WithBindings(bindings), gate.WithDenyMode(gate.DenyToolResult), gate.WithLimits(w.limits()))...)
	if err != nil || w.store == nil {
		return b, err
	}
	standing, err := w.store.Lockdown(ctx)
	if err != nil {
		return nil, unusable{err}
	}
	b.Gate.Lock(standing)
	w.asking.gate = b.Gate
	return b, nil
}

// compile compiles the policy files, or returns their mistakes. A program without proofs leaves files
// that need one to the full program.
func (w *wiring) compile(ctx context.Context, set config.Set, o policy.Options) (*policy.Program, *gate.Bindings, error) {
	var unproved error
	o.Rollout = policy.Rollout{}
	if set.Rollout != nil {
		o.Rollout.Bundle = set.Rollout.Ref()
	}
	program, bindings, mistakes := w.kept().compile(set, o, func() (*policy.Program, diag.List) {
		known := remember(o, w.program)
		o.Checked, o.Known = known.knows, knowntools.Recognise
		if w.program.Compile == nil {
			if slices.ContainsFunc(set.Sources(), func(s policy.Source) bool { return !known.knows(s) && policy.NeedsProof(s) }) {
				unproved = w.full(ctx)
				return nil, nil
			}
			return policy.Compile(set.Sources(), o)
		}
		program, mistakes := w.program.Compile(set.Sources(), o)
		if program != nil && !mistakes.HasErrors() {
			known.keep()
		}
		return program, mistakes
	})
	if unproved != nil {
		return nil, nil, unproved
	}
	if program == nil || mistakes.HasErrors() {
		io.WriteString(w.log, visible.Lines(diag.Text(mistakes.Errors(), set.Text)))
		return nil, nil, config.MistakesError{List: mistakes, Set: set}
	}
	if set.Rollout == nil && program.Settings().Tables["policy"] != nil {
		return nil, nil, errUnread
	}
	return program, bindings, nil
}

// limits returns the limits for a machine on which many hooks start at once, within the deadline
// (FM9): the margin is 20 % of it, 5 s at most. A store that makes progress is waited for until
// then, one that does not for its own limit.
func (w *wiring) limits() gate.Limits {
	left := w.flags.Deadline - min(w.flags.Deadline/5, 5*time.Second)
	return gate.Limits{Policy: min(left, 2*time.Second), Record: min(left, 8*time.Second), Hold: left}
}

// state opens the gate's state. The store is not closed: that would write more than the call needs,
// and every row is already durable.
func (w *wiring) state(ctx context.Context, program *policy.Program, set config.Set) ([]gate.Option, gate.Approver, error) {
	settings, err := place.Of(program.Settings().Tables, set, w.flags.Place)
	if err != nil {
		return nil, nil, err
	}
	w.settings.Store(&settings)
	if w.program.delegated != nil && location.IsFile(settings.Store) && !filepath.IsAbs(settings.Store) {
		return nil, nil, w.program.delegated.decline()
	}
	if w.program.Open == nil && !location.IsFile(settings.Store) {
		return nil, nil, w.full(ctx)
	}
	if settings.Store == place.Memory {
		// Memory ends with the process. Without a store calls that session policies govern are
		// denied.
		lines, err := openLines(ctx, settings)
		if err != nil {
			return nil, nil, err
		}
		return []gate.Option{gate.WithRecorder(lines)}, nil, nil
	}
	store, err := w.openStore(ctx, settings)
	if err != nil {
		return nil, nil, unusable{err}
	}
	w.store, w.once = store, once.At(filepath.Join(filepath.Dir(settings.Local), hooksDir), w.rules(set))
	questions, err := approve.New(store, w.questions(program))
	if err != nil {
		return nil, nil, err
	}
	var queue gate.Approver = questions
	if w.program.delegated != nil {
		queue = waiting{queue, w.program.delegated.waits}
	}
	w.asking = &lockdownApprover{Approver: queue, orders: store}
	return []gate.Option{gate.WithStore(store), gate.WithRecorder(store.Recorder()), gate.WithAlerter(questions)}, w.asking, nil
}

// openStore opens the store, or takes it from the cache.
func (w *wiring) openStore(ctx context.Context, settings place.Settings) (backend.Store, error) {
	if w.program.delegated != nil {
		return w.program.delegated.open(ctx, settings)
	}
	return settings.Open(ctx)
}

// unusable is the error of state that cannot be used, as opposed to a mistake in a policy.
type unusable struct{ error }

// Code is the code of the denial.
func (unusable) Code() stopgate.Code { return stopgate.CodeStoreUnavailable }

// Unwrap returns the cause.
func (u unusable) Unwrap() error { return u.error }

// kept returns the cache, nil without one.
func (w *wiring) kept() *Cache {
	if w.program.delegated == nil {
		return nil
	}
	return w.program.delegated.kept
}

// rules identifies the policy files and flags of a decision.
func (w *wiring) rules(set config.Set) string {
	sum := sha256.New()
	for _, f := range set.Files {
		fmt.Fprintf(sum, "%q %t %s ", f.Path, f.Trusted, f.Hash)
	}
	fmt.Fprintf(sum, "%t %t", w.flags.Allow, w.flags.Observe)
	return fmt.Sprintf("%x", sum.Sum(nil))
}
