package decide

import (
	"net/http"
	"sync"
	"time"
)

// activity counts the requests that are being answered, and knows when the last one ended.
type activity struct {
	mu   sync.Mutex
	open int
	last time.Time
}

func (a *activity) add(n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.open += n
	a.last = time.Now()
}

// count counts the requests of a handler.
func (a *activity) count(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.add(1)
		defer a.add(-1)
		h.ServeHTTP(w, r)
	})
}

// Idle returns the time since the last request ended, 0 while there is one, and while a call waits
// for approval.
func (s *Server) Idle() time.Duration {
	s.busy.mu.Lock()
	defer s.busy.mu.Unlock()
	if s.busy.open > 0 || s.calls.waiting.Load() > 0 {
		return 0
	}
	return time.Since(s.busy.last)
}
