package judge

import (
	"sync"
	"time"
)

// cacheKey is everything that an answer depends on (DECISIONS S27).
type cacheKey struct{ input, definition, args, model, endpoint, prompt string }

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
