package mcpgate

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// eventLog stores the events of one request's stream, so that a disconnected client can
// resume the stream (Last-Event-ID). It belongs to one session.
type eventLog struct {
	id      string
	session *httpSession
	prime   bool // the stream starts with an event that has an id and no data

	mu         sync.Mutex
	events     [][]byte
	size       int
	complete   bool          // the response is stored
	overflowed bool          // the log exceeded its limit: the stream cannot be resumed
	changed    chan struct{} // closed when an event is added
}

// Limits of the logs of one session.
const (
	maxLogs       = 32
	maxLogBytes   = 1 << 20
	primedVersion = "2025-11-25" // the first revision whose clients expect an event without data
)

// newEventLog returns the log for one request's stream.
func (h *httpSession) newEventLog() *eventLog {
	h.client.mu.Lock()
	prime := h.client.version >= primedVersion
	h.client.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams++
	return &eventLog{id: "s" + strconv.Itoa(h.streams), session: h, prime: prime, changed: make(chan struct{})}
}

// register makes the stream resumable. It evicts the oldest complete log, or the oldest
// one, if there are too many.
func (r *eventLog) register() {
	if r == nil {
		return
	}
	h := r.session
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.logs = append(h.logs, r); len(h.logs) > maxLogs {
		at := max(slices.IndexFunc(h.logs, func(r *eventLog) bool { return r.isComplete() }), 0)
		h.logs = slices.Delete(h.logs, at, at+1)
	}
}

func (r *eventLog) isComplete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.complete
}

// findLog returns the log of an event id and the number of the event.
func (h *httpSession) findLog(event string) (*eventLog, int) {
	id, number, ok := strings.Cut(event, "-")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 {
		return nil, 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.logs {
		if r.id == id {
			return r, n
		}
	}
	return nil, 0
}

// add stores an event and returns its number. A nil log stores nothing.
func (r *eventLog) add(text []byte, last bool) int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, append([]byte(nil), text...))
	r.complete = last
	n := len(r.events)
	if r.size += len(text); r.size > maxLogBytes {
		r.overflowed, r.events = true, make([][]byte, n)
	}
	close(r.changed)
	r.changed = make(chan struct{})
	return n
}

// event formats the n-th event of a stream. Events of a nil log have no id.
func (r *eventLog) event(n int, text []byte) []byte {
	var dst []byte
	if r != nil {
		dst = append(append(dst, "id: "+r.id+"-"...), strconv.Itoa(n)+"\n"...)
	}
	return sse.AppendEventEnd(append(sse.AppendEventStart(dst, ""), jsonrpc.SingleLine(text)...))
}

// primer returns the first event, which allows to resume the stream from its start.
func (r *eventLog) primer() []byte {
	if r == nil || !r.prime {
		return nil
	}
	return []byte("id: " + r.id + "-0\nretry: 1000\ndata: \n\n")
}

// after returns the events after the n-th, whether they include the response, and a channel
// that is closed when an event is added. ok is false if the events are not available.
func (r *eventLog) after(n int) (events [][]byte, over bool, grown <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.overflowed || n > len(r.events) {
		return nil, false, nil, false
	}
	return r.events[n:], r.complete, r.changed, true
}

// resume sends the events after the n-th, up to the response.
func (h *httpSession) resume(ctx context.Context, w http.ResponseWriter, r *eventLog, n int) {
	events, over, grown, ok := r.after(n)
	if !ok {
		http.Error(w, "this stream cannot be resumed", http.StatusBadRequest)
		return
	}
	out := newResponder(w, false)
	out.open()
	tick := time.NewTicker(keepaliveInterval)
	defer tick.Stop()
	for {
		for _, text := range events {
			n++
			if !out.writeEvent(r.event(n, text)) {
				return
			}
		}
		if over {
			return
		}
		select {
		case <-grown:
		case <-tick.C:
			if !out.writeEvent(sse.AppendKeepalive(nil)) {
				return
			}
		case <-ctx.Done():
			return
		case <-h.done:
			return
		}
		if events, over, grown, ok = r.after(n); !ok {
			return
		}
	}
}

// writeEvent writes to an open stream.
func (o *responder) writeEvent(text []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.write(text)
}
