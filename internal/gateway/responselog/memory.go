package responselog

import (
	"context"
	"sync"

	"github.com/stopgate/stopgate"
)

// Memory is a store in memory that evicts the oldest entries first. The zero Memory is empty and
// ready to use.
type Memory struct {
	mu      sync.Mutex
	entries map[memoryKey][]byte
	order   []memoryKey // oldest first
	size    int         // bytes
}

type memoryKey struct {
	principal stopgate.Principal
	key       string
}

// Bounds of a Memory, in entries and in bytes.
const (
	MaxEntries = 50_000
	MaxBytes   = 32 << 20
)

var _ Store = (*Memory)(nil)

// PutLogEntries implements [Store].
func (m *Memory) PutLogEntries(_ context.Context, p stopgate.Principal, entries map[string][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.entries == nil {
		m.entries = map[memoryKey][]byte{}
	}
	for key, entry := range entries {
		k := memoryKey{p, key}
		old, known := m.entries[k]
		if !known {
			m.order = append(m.order, k)
			m.size += len(key)
		}
		m.size += len(entry) - len(old)
		m.entries[k] = entry
	}
	for len(m.order) > MaxEntries || m.size > MaxBytes && len(m.order) > 1 {
		k := m.order[0]
		m.order = m.order[1:]
		m.size -= len(k.key) + len(m.entries[k])
		delete(m.entries, k)
	}
	return nil
}

// LogEntry implements [Store].
func (m *Memory) LogEntry(_ context.Context, p stopgate.Principal, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.entries[memoryKey{p, key}], nil
}
