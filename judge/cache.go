package judge

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"
)

// cacheKey contains everything that a response depends on (S27).
type cacheKey struct{ input, definition, args, model, endpoint, prompt string }

// hash identifies the key across processes.
func (k cacheKey) hash() [32]byte {
	h := sha256.New()
	for _, part := range []string{k.input, k.definition, k.args, k.model, k.endpoint, k.prompt} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return [32]byte(h.Sum(nil))
}

// lookup returns a cached response of this process, or an objection that another process stored.
func (j *judge) lookup(ctx context.Context, k cacheKey, maxAge time.Duration) (assessment, bool) {
	now := j.factory.o.Now()
	if a, ok := j.factory.known.get(k, now, maxAge); ok || maxAge <= 0 || j.factory.o.Objections == nil {
		return a, ok
	}
	p, why, at, found, err := j.factory.o.Objections.Objection(ctx, k.hash())
	// An objection that cannot be read is evaluated again: the model objects as before, or the
	// judge fails.
	if age := now.Sub(at); err != nil || !found || age < 0 || age >= maxAge || !(p >= 0 && p <= 1) || p < j.table.Threshold {
		return assessment{}, false
	}
	return assessment{p, why}, true
}

// save caches a response, and stores an objection for other processes.
func (j *judge) save(ctx context.Context, k cacheKey, a assessment, maxAge time.Duration) {
	if maxAge <= 0 {
		return
	}
	now := j.factory.o.Now()
	j.factory.known.put(k, a, now)
	if o := j.factory.o.Objections; o != nil && a.probability >= j.table.Threshold {
		_ = o.SaveObjection(ctx, k.hash(), a.probability, a.explanation, now) // without the stored objection the call is still denied
	}
}

// cached is a response and its time.
type cached struct {
	assessment
	at time.Time
}

// maxCached limits the number of cached responses. The newest are kept, in two generations.
const maxCached = 8192

// cache holds responses, never failures.
type cache struct {
	mu         sync.Mutex
	young, old map[cacheKey]cached
}

// get returns a response that is not older than maxAge.
func (c *cache) get(k cacheKey, now time.Time, maxAge time.Duration) (assessment, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.young[k]
	if !ok {
		r, ok = c.old[k]
	}
	if age := now.Sub(r.at); !ok || age < 0 || age >= maxAge {
		return assessment{}, false
	}
	return r.assessment, true
}

func (c *cache) put(k cacheKey, a assessment, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young) >= maxCached/2 {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = map[cacheKey]cached{}
	}
	c.young[k] = cached{a, now}
}
