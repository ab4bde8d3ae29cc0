package session

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate"
)

// Errors of registration.
var (
	ErrName    = errors.New("session: policy without a unique name")
	errNoTools = errors.New("no tool is selected: name at least one tool")
)

// Registry holds the session policies in force (TPS-10). It is safe for concurrent use.
// Every change makes a new [Set]; calls that began with the old one keep it (S37).
type Registry struct {
	mu      sync.Mutex
	current atomic.Pointer[Set]
	watch   func(change string, next *Set)
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry {
	r := new(Registry)
	r.current.Store(&Set{})
	return r
}

// valid is implemented by policies whose builders can produce an invalid policy.
type valid interface{ Valid() error }

// Register adds a policy after the others. A name that is taken, a selector without tools
// (H10) and an invalid policy are errors.
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

// Unregister removes a policy and reports whether it was registered. Its facts are kept.
func (r *Registry) Unregister(name string) bool {
	return r.change("unregister "+name, func(s *Set) (*Set, bool) {
		i := s.index(name)
		if i < 0 {
			return nil, false
		}
		return &Set{policies: slices.Delete(slices.Clone(s.policies), i, i+1)}, true
	}) == nil
}

// Enable turns a policy on or off and reports whether it is registered (TPS-28). A policy
// that is off does not object, and its facts are still recorded.
func (r *Registry) Enable(name string, on bool) bool {
	operation := "disable "
	if on {
		operation = "enable "
	}
	return r.change(operation+name, func(s *Set) (*Set, bool) {
		i := s.index(name)
		if i < 0 {
			return nil, false
		}
		next := slices.Clone(s.policies)
		next[i].enabled = on
		return &Set{policies: next}, true
	}) == nil
}

// Watch sets the function that is called before every change, with the policies after it.
// There is only one; the gate sets it and writes an event row for every change.
func (r *Registry) Watch(f func(change string, next *Set)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch = f
}

func (r *Registry) change(operation string, f func(*Set) (*Set, bool)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next, ok := f(r.current.Load())
	if !ok {
		return fmt.Errorf("%w: %s: the name is taken or not registered", ErrName, operation)
	}
	next.tools = make(map[stopgate.ToolName]*governed)
	if r.watch != nil {
		r.watch(operation, next)
	}
	r.current.Store(next)
	return nil
}

// Set returns the current policies. The set does not change.
func (r *Registry) Set() *Set { return r.current.Load() }

// PoliciesFor returns the policies that govern a tool, in registration order.
func (r *Registry) PoliciesFor(tool stopgate.ToolName) []Policy { return r.Set().PoliciesFor(tool) }

// CheckAll asks every policy that governs the call; see [Set.CheckAll].
func (r *Registry) CheckAll(v View, c Call) (primary Decision, all []Decision) {
	return r.Set().CheckAll(v, c)
}

// NotifyResult calls the observers of a result; see [Set.NotifyResult].
func (r *Registry) NotifyResult(v View, res Result) []Fact { return r.Set().NotifyResult(v, res) }
