package decide

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/stopgate/stopgate/internal/record/live"
)

// maxWatchers limits the number of concurrent event streams.
const maxWatchers = 100

// eventRoute serves the stream of events.
type eventRoute struct {
	stream   http.Handler
	life     context.Context // canceled when the server closes
	watchers atomic.Int64    // number of open streams
}

func (s *eventRoute) add(route addRoute) {
	route("GET /v1/events", Operate|onSocket, s.events, "after", "type", "tool", "session", "rule")
}

// events handles GET /v1/events until the client leaves or the server closes.
func (s *eventRoute) events(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	if !live.ValidPosition(r) {
		return badRequest("bad_position", "after must be the id of an event, or 0 for everything that is kept")
	}
	if s.watchers.Add(1) > maxWatchers {
		s.watchers.Add(-1)
		return unavailable("the list of watchers")
	}
	defer s.watchers.Add(-1)
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	defer context.AfterFunc(s.life, stop)()
	s.stream.ServeHTTP(w, r.WithContext(ctx))
	return nil
}
