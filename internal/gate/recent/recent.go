// Package recent has a bounded map that forgets the entries that were not used lately.
//
//	var m recent.Map[string, int]
//	m.Put("a", 1)
//	n, ok := m.Get("a")
package recent

import (
	"sync"
)

// Generation is how many entries one of the two generations holds.
const Generation = 1024

// Map is a bounded map that forgets the entries that were not used lately: it has two
// generations, and the older is dropped when the younger is full. It is safe for concurrent
// use, and its zero value is ready.
type Map[K comparable, V any] struct {
	mu         sync.Mutex
	young, old map[K]V
}

// Get returns the entry of k.
func (r *Map[K, V]) Get(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if v, ok := r.young[k]; ok {
		return v, true
	}
	v, ok := r.old[k]
	if ok {
		delete(r.old, k)
		r.add(k, v)
	}
	return v, ok
}

// GetOrPut returns the entry, made if there is none.
func (r *Map[K, V]) GetOrPut(k K, make func() V) V {
	if v, ok := r.Get(k); ok {
		return v
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.young[k]
	if !ok {
		v = make()
		r.add(k, v)
	}
	return v
}

// Put sets the entry of k.
func (r *Map[K, V]) Put(k K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(k, v)
}

// Take removes an entry and returns it.
func (r *Map[K, V]) Take(k K) (V, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	v, ok := r.young[k]
	if !ok {
		v, ok = r.old[k]
	}
	delete(r.young, k)
	delete(r.old, k)
	return v, ok
}

func (r *Map[K, V]) add(k K, v V) {
	if len(r.young) >= Generation {
		r.young, r.old = nil, r.young
	}
	if r.young == nil {
		r.young = make(map[K]V)
	}
	r.young[k] = v
}
