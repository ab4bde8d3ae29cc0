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

	"github.com/stopgate/stopgate/audit/live"
)

// maxWatchers is how many may watch events at once.
const maxWatchers = 100

// heartbeat is how often a watcher of events hears something.
const heartbeat = 15 * time.Second

// eventWrite is how long one event may take to a watcher: who does not read is let go.
const eventWrite = 30 * time.Second

// events answers GET /v1/events: what happens, as server-sent events. Who comes back
// with the id of the last event goes on behind it, as far as it is kept.
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
		if err != nil { // nothing happened for a while
			text = ": alive\n\n"
		}
		if text != "" && out.send(text) != nil {
			return nil
		}
	}
}

// eventBatch is how many events are written at once.
const eventBatch = 64

// nextEvents waits for events, no longer than a heartbeat.
func (s *Server) nextEvents(ctx context.Context, r *live.Reader) ([]live.Event, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	return r.Batch(ctx, make([]live.Event, 0, eventBatch))
}

// eventText is one event as it is sent.
func (s *Server) eventText(e *live.Event) string {
	data, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("id: %s.%d\nevent: %s\ndata: %s\n\n", s.options.Events.Epoch(), e.Seq, e.Type, data)
}

// eventWriter sends to a watcher, who must take it in time.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (o eventWriter) send(text string) error {
	_ = o.control.SetWriteDeadline(time.Now().Add(eventWrite)) // a writer without deadlines is no connection
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.control.Flush()
}

// eventPosition is where a watcher begins: now, or behind the event that it saw last. An
// id of a process that ended is older than everything that is kept.
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

// eventFilter says which events a watcher wants; empty lists want all.
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
	case e.Said != nil:
		session = string(e.Said.Session)
	}
	in := func(list []string, word string) bool { return len(list) == 0 || slices.Contains(list, word) }
	return in(f.types, string(e.Type)) && in(f.tools, tool) && in(f.sessions, session)
}
