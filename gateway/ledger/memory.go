package ledger

import (
	"context"
	"sync"

	"github.com/stopgate/stopgate"
)

// Memory is a store that forgets the oldest texts first. The zero Memory is empty.
type Memory struct {
	mu    sync.Mutex
	texts map[memoryKey][]byte
	order []memoryKey // oldest first
	size  int         // bytes
}

type memoryKey struct {
	principal stopgate.Principal
	key       string
}

// The bounds of a Memory.
const (
	MaxTexts = 50_000
	MaxBytes = 32 << 20
)

var _ Store = (*Memory)(nil)

// Keep implements [Store].
func (m *Memory) Keep(_ context.Context, p stopgate.Principal, texts map[string][]byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.texts == nil {
		m.texts = map[memoryKey][]byte{}
	}
	for key, text := range texts {
		k := memoryKey{p, key}
		old, known := m.texts[k]
		if !known {
			m.order = append(m.order, k)
			m.size += len(key)
		}
		m.size += len(text) - len(old)
		m.texts[k] = text
	}
	for len(m.order) > MaxTexts || m.size > MaxBytes && len(m.order) > 1 {
		k := m.order[0]
		m.order = m.order[1:]
		m.size -= len(k.key) + len(m.texts[k])
		delete(m.texts, k)
	}
	return nil
}

// Find implements [Store].
func (m *Memory) Find(_ context.Context, p stopgate.Principal, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.texts[memoryKey{p, key}], nil
}
