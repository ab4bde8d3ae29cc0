package live

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// heartbeat is the interval of comments in a response without events.
const heartbeat = 15 * time.Second

// writeTimeout limits the time of writing one event. Slow clients are disconnected.
const writeTimeout = 30 * time.Second

// batch is the number of events that are written at once.
const batch = 64

// ServeHTTP writes the stream as server-sent events until the request's context ends. The query
// parameters type, tool, session and rule (by its id) select events. A client that reconnects with the id of its last
// event continues after it, as far as events are still buffered.
func (s *Stream) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	wanted := filterOf(r)
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	out := eventWriter{w: w, control: http.NewResponseController(w)}
	reader := s.Read(s.after(r))
	if out.send(": stopgate\n\n") != nil {
		return
	}
	for {
		list, missed, err := next(r.Context(), reader)
		if r.Context().Err() != nil {
			return
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
			return
		}
	}
}

// next waits for events, at most for one heartbeat.
func next(ctx context.Context, r *Reader) ([]Event, uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, heartbeat)
	defer cancel()
	return r.Batch(ctx, make([]Event, 0, batch))
}

// eventText encodes one event.
func (s *Stream) eventText(e *Event) string {
	data, err := json.Marshal(e)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("id: %s.%d\nevent: %s\ndata: %s\n\n", s.Epoch(), e.Seq, e.Type, data)
}

// eventWriter writes to a client with a deadline.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
}

func (o eventWriter) send(text string) error {
	_ = o.control.SetWriteDeadline(time.Now().Add(writeTimeout)) // a writer without deadlines is not a connection
	if _, err := o.w.Write([]byte(text)); err != nil {
		return err
	}
	return o.control.Flush()
}

// position returns the position that a request names: the id of an event, 0 for all buffered
// events, or "" for later events only.
func position(r *http.Request) string {
	if after := r.URL.Query().Get("after"); r.Header.Get("Last-Event-ID") == "" {
		return after
	}
	return r.Header.Get("Last-Event-ID")
}

// ValidPosition reports whether the position that a request names is one.
func ValidPosition(r *http.Request) bool {
	text := position(r)
	_, ok := sequence(text)
	return ok || text == "" || text == "0"
}

// sequence returns the number in the id of an event.
func sequence(id string) (n uint64, ok bool) {
	_, seq, _ := strings.Cut(id, ".")
	n, err := strconv.ParseUint(seq, 10, 63)
	return n, err == nil
}

// after returns the position after which a request reads. The id of an event of an earlier process
// counts as older than all buffered events.
func (s *Stream) after(r *http.Request) uint64 {
	text := position(r)
	if text == "" {
		return Now
	}
	if n, ok := sequence(text); ok && strings.HasPrefix(text, s.Epoch()+".") {
		return n
	}
	return 0
}

// eventFilter selects events. Empty lists select all.
type eventFilter struct{ types, tools, sessions, rules []string }

func filterOf(r *http.Request) eventFilter {
	q := r.URL.Query()
	list := func(key string) (words []string) {
		for _, v := range q[key] {
			words = append(words, strings.Split(v, ",")...)
		}
		return words
	}
	return eventFilter{list("type"), list("tool"), list("session"), list("rule")}
}

func (f eventFilter) has(e *Event) bool {
	tool, session, rule := "", "", ""
	switch {
	case e.Record != nil:
		tool, session, rule = string(e.Record.Tool), string(e.Record.Session), e.rule()
	case e.Policy != nil:
		session = string(e.Policy.Session)
	}
	in := func(list []string, word string) bool { return len(list) == 0 || slices.Contains(list, word) }
	return in(f.types, string(e.Type)) && in(f.tools, tool) && in(f.sessions, session) && in(f.rules, rule)
}

// rule returns the id of the rule that decided, "" without one.
func (e *Event) rule() string {
	if e.Record.Rule == nil {
		return ""
	}
	return string(e.Record.Rule.ID)
}
