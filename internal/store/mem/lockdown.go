package mem

import (
	"context"

	"github.com/stopgate/stopgate/gate"
)

var _ gate.Lockdowns = (*Store)(nil)

// Lockdown implements [gate.Lockdowns].
func (s *Store) Lockdown(context.Context) (gate.Lockdown, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.lockdown, nil
}

// SetLockdown implements [gate.Lockdowns].
func (s *Store) SetLockdown(_ context.Context, l gate.Lockdown) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lockdown = l
	return nil
}
