package judge

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"sync"
	"time"
)

// cacheKey is everything that an answer depends on (DECISIONS S27).
type cacheKey struct{ input, definition, args, model, endpoint, prompt string }

// hash identifies the key outside of the process.
func (k cacheKey) hash() [32]byte {
	h := sha256.New()
	for _, part := range []string{k.input, k.definition, k.args, k.model, k.endpoint, k.prompt} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write([]byte(part))
	}
	return [32]byte(h.Sum(nil))
}

// recall finds an answer: one that this process had, or an objection of another.
func (j *judge) recall(ctx context.Context, k cacheKey, keep time.Duration) (answer, bool) {
	now := j.bench.o.Now()
	if said, ok := j.bench.known.get(k, now, keep); ok || keep <= 0 || j.bench.o.Objections == nil {
		return said, ok
	}
	p, why, at, found, err := j.bench.o.Objections.Objection(ctx, k.hash())
	// One that cannot be read is asked for again: the model denies as before, or fails.
	if age := now.Sub(at); err != nil || !found || age < 0 || age >= keep || !(p >= 0 && p <= 1) || p < j.table.Threshold {
		return answer{}, false
	}
	return answer{p, why}, true
}

// remember keeps an answer, an objection also for others.
func (j *judge) remember(ctx context.Context, k cacheKey, said answer, keep time.Duration) {
	if keep <= 0 {
		return
	}
	now := j.bench.o.Now()
	j.bench.known.put(k, said, now)
	if o := j.bench.o.Objections; o != nil && said.probability >= j.table.Threshold {
		_ = o.KeepObjection(ctx, k.hash(), said.probability, said.explanation, now) // the call is denied all the same
	}
}

// remembered is an answer and when it was given.
type remembered struct {
	answer
	at time.Time
}

// maxRemembered is how many answers are kept: the newest, in two generations.
const maxRemembered = 8192

// cache remembers answers, never failures.
type cache struct {
	mu         sync.Mutex
	young, old map[cacheKey]remembered
}

// get finds an answer that is not older than keep.
func (c *cache) get(k cacheKey, now time.Time, keep time.Duration) (answer, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.young[k]
	if !ok {
		r, ok = c.old[k]
	}
	if age := now.Sub(r.at); !ok || age < 0 || age >= keep {
		return answer{}, false
	}
	return r.answer, true
}

func (c *cache) put(k cacheKey, a answer, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.young) >= maxRemembered/2 {
		c.young, c.old = nil, c.young
	}
	if c.young == nil {
		c.young = map[cacheKey]remembered{}
	}
	c.young[k] = remembered{a, now}
}
