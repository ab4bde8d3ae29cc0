package stream

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

// Log stores the events of one request's stream, so that a disconnected client can
// resume the stream (Last-Event-ID). It belongs to one session.
type Log struct {
	id    string
	logs  *Logs
	prime bool // the stream starts with an event that has an id and no data

	mu         sync.Mutex
	events     [][]byte
	size       int
	complete   bool          // the response is stored
	overflowed bool          // the log exceeded its limit: the stream cannot be resumed
	changed    chan struct{} // closed when an event is added
}

// Limits of the logs of one session.
const (
	maxLogs     = 32
	maxLogBytes = 1 << 20
)

// Logs are the logs of the streams of one session. The zero Logs has none.
type Logs struct {
	mu      sync.Mutex
	logs    []*Log // newest last
	streams int    // number of all streams
}

// New returns the log for one request's stream. prime is set for clients that expect an event without
// data at the start.
func (l *Logs) New(prime bool) *Log {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams++
	return &Log{id: "s" + strconv.Itoa(l.streams), logs: l, prime: prime, changed: make(chan struct{})}
}

// register makes the stream resumable. It evicts the oldest complete log, or the oldest
// one, if there are too many.
func (r *Log) register() {
	if r == nil {
		return
	}
	l := r.logs
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.logs = append(l.logs, r); len(l.logs) > maxLogs {
		at := max(slices.IndexFunc(l.logs, func(r *Log) bool { return r.isComplete() }), 0)
		l.logs = slices.Delete(l.logs, at, at+1)
	}
}

func (r *Log) isComplete() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.complete
}

// Find returns the log of an event id and the number of the event.
func (l *Logs) Find(event string) (*Log, int) {
	id, number, ok := strings.Cut(event, "-")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 {
		return nil, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.logs {
		if r.id == id {
			return r, n
		}
	}
	return nil, 0
}

// add stores an event and returns its number. It has no effect on a nil log.
func (r *Log) add(text []byte, last bool) int {
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
func (r *Log) event(n int, text []byte) []byte {
	var dst []byte
	if r != nil {
		dst = append(append(dst, "id: "+r.id+"-"...), strconv.Itoa(n)+"\n"...)
	}
	return sse.AppendEventEnd(append(sse.AppendEventStart(dst, ""), jsonrpc.SingleLine(text)...))
}

// primer returns the first event, which allows to resume the stream from its start.
func (r *Log) primer() []byte {
	if r == nil || !r.prime {
		return nil
	}
	return []byte("id: " + r.id + "-0\nretry: 1000\ndata: \n\n")
}

// after returns the events after the n-th, whether they include the response, and a channel
// that is closed when an event is added. ok is false if the events are not available.
func (r *Log) after(n int) (events [][]byte, over bool, grown <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.overflowed || n > len(r.events) {
		return nil, false, nil, false
	}
	return r.events[n:], r.complete, r.changed, true
}

// Resume sends the events after the n-th, up to the response, until the session is done.
func (r *Log) Resume(ctx context.Context, w http.ResponseWriter, n int, done <-chan struct{}) {
	events, over, grown, ok := r.after(n)
	if !ok {
		http.Error(w, "this stream cannot be resumed", http.StatusBadRequest)
		return
	}
	out := NewResponder(w, false)
	out.Open()
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
		case <-done:
			return
		}
		if events, over, grown, ok = r.after(n); !ok {
			return
		}
	}
}

// writeEvent writes to an open stream.
func (o *Responder) writeEvent(text []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.write(text)
}
