package session

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
)

// Mistakes of registration.
var (
	ErrName    = errors.New("session: a policy needs a name of its own")
	errNoTools = errors.New("no tool is selected: name at least one tool")
)

// Registry holds the session policies in force (TPS-10). It is safe for concurrent
// use; every change makes a new [Set], and whoever began with the old one goes on
// with it (S37).
type Registry struct {
	mu      sync.Mutex
	current atomic.Pointer[Set]
	watch   func(change string)
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	r := new(Registry)
	r.current.Store(&Set{})
	return r
}

// valid is implemented by policies that can be built with mistakes.
type valid interface{ Valid() error }

// Register adds a policy behind the others. A name that is taken, a selector that
// selects nothing (H10) and a policy that is not complete are errors.
func (r *Registry) Register(p Policy) error {
	if p == nil || p.Name() == "" {
		return ErrName
	}
	if err := p.Tools().Err(); err != nil {
		return fmt.Errorf("session policy %q: %w", p.Name(), err)
	}
	if v, ok := as[valid](p); ok {
		if err := v.Valid(); err != nil {
			return fmt.Errorf("session policy %q: %w", p.Name(), err)
		}
	}
	if p.Tools().Empty() {
		return fmt.Errorf("session policy %q: %w", p.Name(), errNoTools)
	}
	return r.change("register "+p.Name(), func(s *Set) (*Set, bool) {
		if s.index(p.Name()) >= 0 {
			return nil, false
		}
		return &Set{policies: append(slices.Clip(s.policies), entry{policy: p, enabled: true})}, true
	})
}

// Unregister removes a policy and reports whether it was there. Its facts stay.
func (r *Registry) Unregister(name string) bool {
	return r.change("unregister "+name, func(s *Set) (*Set, bool) {
		i := s.index(name)
		if i < 0 {
			return nil, false
		}
		return &Set{policies: slices.Delete(slices.Clone(s.policies), i, i+1)}, true
	}) == nil
}

// Enable turns a policy on or off and reports whether it is registered (TPS-28). A
// policy that is off has no objection, and its facts are recorded all the same.
func (r *Registry) Enable(name string, on bool) bool {
	what := "disable "
	if on {
		what = "enable "
	}
	return r.change(what+name, func(s *Set) (*Set, bool) {
		i := s.index(name)
		if i < 0 {
			return nil, false
		}
		next := slices.Clone(s.policies)
		next[i].enabled = on
		return &Set{policies: next}, true
	}) == nil
}

// Watch sets the function that is told of every change, before it holds. There is
// one; the gate makes an event row of it.
func (r *Registry) Watch(f func(change string)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch = f
}

func (r *Registry) change(what string, f func(*Set) (*Set, bool)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, ok := f(r.current.Load())
	if !ok {
		return fmt.Errorf("%w: %s: the name is taken, or nobody has it", ErrName, what)
	}
	next.tools = make(map[stopgate.ToolName]*governed)
	if r.watch != nil {
		r.watch(what)
	}
	r.current.Store(next)
	return nil
}

// Set returns the policies as they are now, for good.
func (r *Registry) Set() *Set { return r.current.Load() }

// PoliciesFor returns the policies that hear of a tool, in registration order.
func (r *Registry) PoliciesFor(tool stopgate.ToolName) []Policy { return r.Set().PoliciesFor(tool) }

// CheckAll asks every policy that governs the call; see [Set.CheckAll].
func (r *Registry) CheckAll(v View, c Call) (primary Decision, all []Decision) {
	return r.Set().CheckAll(v, c)
}

// NotifyResult lets the policies note a result; see [Set.NotifyResult].
func (r *Registry) NotifyResult(v View, res Result) []Fact { return r.Set().NotifyResult(v, res) }
