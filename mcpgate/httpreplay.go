package mcpgate

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/wire/jsonrpc"
	"github.com/stopgate/stopgate/wire/sse"
)

// replay keeps what was said on the stream of one request, so that a client whose
// connection broke can take the stream up again (Last-Event-ID). It belongs to a
// session: nobody else can ask for it.
type replay struct {
	id    string
	of    *httpSession
	prime bool // the stream begins with an event that has an id and nothing else

	mu     sync.Mutex
	events [][]byte
	size   int
	over   bool          // the response is among them
	lost   bool          // it became too much: nothing can be taken up
	grown  chan struct{} // closed when something was added
}

// What a session keeps: so many streams, so much of each.
const (
	maxReplays    = 32
	maxReplayed   = 1 << 20
	primedVersion = "2025-11-25" // the first revision whose clients expect the event without data
)

// replay makes the log of one request's stream.
func (h *httpSession) replay() *replay {
	h.peer.mu.Lock()
	prime := h.peer.version >= primedVersion
	h.peer.mu.Unlock()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.streams++
	return &replay{id: "s" + strconv.Itoa(h.streams), of: h, prime: prime, grown: make(chan struct{})}
}

// begin lets the stream be taken up: it has begun. The oldest that is over is forgotten
// for it, or the oldest.
func (r *replay) begin() {
	if r == nil {
		return
	}
	h := r.of
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.replays = append(h.replays, r); len(h.replays) > maxReplays {
		at := max(slices.IndexFunc(h.replays, func(r *replay) bool { return r.ended() }), 0)
		h.replays = slices.Delete(h.replays, at, at+1)
	}
}

func (r *replay) ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over
}

// find returns the log that an event's id belongs to, and the event's number.
func (h *httpSession) find(event string) (*replay, int) {
	id, number, ok := strings.Cut(event, "-")
	n, err := strconv.Atoi(number)
	if !ok || err != nil || n < 0 {
		return nil, 0
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.replays {
		if r.id == id {
			return r, n
		}
	}
	return nil, 0
}

// add keeps an event and returns its number. A nil log keeps nothing.
func (r *replay) add(text []byte, last bool) int {
	if r == nil {
		return 0
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, append([]byte(nil), text...))
	r.over = last
	n := len(r.events)
	if r.size += len(text); r.size > maxReplayed {
		r.lost, r.events = true, make([][]byte, n)
	}
	close(r.grown)
	r.grown = make(chan struct{})
	return n
}

// event writes the n-th event of a stream; of a stream without a log, without an id.
func (r *replay) event(n int, text []byte) []byte {
	var dst []byte
	if r != nil {
		dst = append(append(dst, "id: "+r.id+"-"...), strconv.Itoa(n)+"\n"...)
	}
	return sse.AppendClose(append(sse.AppendOpen(dst, ""), jsonrpc.Line(text)...))
}

// primer is what a stream begins with, so that it can be taken up from its start.
func (r *replay) primer() []byte {
	if r == nil || !r.prime {
		return nil
	}
	return []byte("id: " + r.id + "-0\nretry: 1000\ndata: \n\n")
}

// after returns the events behind the n-th, whether they end with the response, and a
// channel that is closed when there are more; false if they cannot be had any more.
func (r *replay) after(n int) (events [][]byte, over bool, grown <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost || n > len(r.events) {
		return nil, false, nil, false
	}
	return r.events[n:], r.over, r.grown, true
}

// resume takes a stream up behind the n-th event, until its response.
func (h *httpSession) resume(ctx context.Context, w http.ResponseWriter, r *replay, n int) {
	events, over, grown, ok := r.after(n)
	if !ok {
		http.Error(w, "this stream cannot be taken up any more", http.StatusBadRequest)
		return
	}
	out := newResponder(w, false)
	out.open()
	tick := time.NewTicker(quiet)
	defer tick.Stop()
	for {
		for _, text := range events {
			n++
			if !out.put(r.event(n, text)) {
				return
			}
		}
		if over {
			return
		}
		select {
		case <-grown:
		case <-tick.C:
			if !out.put(sse.AppendKeepalive(nil)) {
				return
			}
		case <-ctx.Done():
			return
		case <-h.gone:
			return
		}
		if events, over, grown, ok = r.after(n); !ok {
			return
		}
	}
}

// put writes to a stream that is open.
func (o *responder) put(text []byte) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.write(text)
}
