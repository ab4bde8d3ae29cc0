package decide

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/record/live"
)

// maxWatchers limits the number of concurrent event streams.
const maxWatchers = 100

// heartbeat is the interval of comments in an event stream without events.
const heartbeat = 15 * time.Second

// eventWrite limits the time of writing one event. Slow clients are disconnected.
const eventWrite = 30 * time.Second

// events handles GET /v1/events: a stream of server-sent events. A client that reconnects with the
// id of its last event continues after it, as far as events are still buffered.
func (s *Server) events(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	after, bad := s.eventPosition(r)
	if bad != nil {
		return bad
	}
	if s.watchers.Add(1) > maxWatchers {
		s.watchers.Add(-1)
		return unavailable("the list of watchers")
	}
	defer s.watchers.Add(-1)
	wanted := filterOf(r)
	ctx, stop := context.WithCancel(r.Context())
	defer stop()
	defer context.AfterFunc(s.life, stop)()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	out := eventWriter{w: w, control: http.NewResponseController(w)}
	reader := s.options.Events.Read(after)
	if out.send(": stopgate\n\n") != nil {
		return nil
	}
	for {
		list, missed, err := s.nextEvents(ctx, reader)
		if ctx.Err() != nil {
			return nil
		}
		text := ""
		if missed > 0 {
			text = fmt.Sprintf("event: missed\ndata: {\"missed\":%d}\n\n", missed)
		}
		for _, e := range list {
			if wanted.has(&e) {
				text += s.eventText(&e)
			}
		}
		if err != nil { // no events since the last heartbeat
			text = ": alive\n\n"
		}
		if text != "" && out.send(text) != nil {
			return nil
		}
	}
}

// eventBatch is the number of events that are written at once.
const eventBatch = 64

// nextEvents waits for events, at most for one heartbeat.
func (s *Server) nextEvents(ctx context.Context, r *live.Reader) ([]live.Event, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	return r.Batch(ctx, make([]live.Event, 0, eventBatch))
}

// eventText encodes one event.
func (s *Server) eventText(e *live.Event) string {
	data, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("id: %s.%d\nevent: %s\ndata: %s\n\n", s.options.Events.Epoch(), e.Seq, e.Type, data)
}

// eventWriter writes to a client with a deadline.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (o eventWriter) send(text string) error {
	_ = o.control.SetWriteDeadline(time.Now().Add(eventWrite)) // a writer without deadlines is not a connection
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.control.Flush()
}

// eventPosition returns the start of a stream: now, or after the last event that the client
// received. The id of an event of an earlier process counts as older than all buffered events.
func (s *Server) eventPosition(r *http.Request) (uint64, *problem) {
	text := r.Header.Get("Last-Event-ID")
	if after := r.URL.Query().Get("after"); text == "" {
		text = after
	}
	switch text {
	case "":
		return live.Now, nil
	case "0":
		return 0, nil
	}
	epoch, seq, _ := strings.Cut(text, ".")
	n, err := strconv.ParseUint(seq, 10, 63)
	if err != nil {
		return 0, badRequest("bad_position", "after must be the id of an event, or 0 for everything that is kept")
	}
	if epoch != s.options.Events.Epoch() {
		return 0, nil
	}
	return n, nil
}

// eventFilter selects events. Empty lists select all.
type eventFilter struct{ types, tools, sessions []string }

func filterOf(r *http.Request) eventFilter {
	q := r.URL.Query()
	list := func(key string) (words []string) {
		for _, v := range q[key] {
			words = append(words, strings.Split(v, ",")...)
		}
		return words
	}
	return eventFilter{list("type"), list("tool"), list("session")}
}

func (f eventFilter) has(e *live.Event) bool {
	tool, session := "", ""
	switch {
	case e.Record != nil:
		tool, session = string(e.Record.Tool), string(e.Record.Session)
	case e.Policy != nil:
		session = string(e.Policy.Session)
	}
	in := func(list []string, word string) bool { return len(list) == 0 || slices.Contains(list, word) }
	return in(f.types, string(e.Type)) && in(f.tools, tool) && in(f.sessions, session)
}
