package resident

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/release"
)

// Limits of one event.
const (
	maxDeciding = 64 // events that are decided at once
	// patience is the maximum time that an event waits for its turn. With so many calls at once,
	// clients on their own would take longer: they would wait for each other at the store.
	patience = 1500 * time.Millisecond
	bodyTime = 2 * time.Second // in which a client sends its event, or reads the answer
)

// handler handles /v1/hooks.
type handler struct {
	cache    *process.Cache
	deciding chan struct{}
	began    time.Time

	answered atomic.Int64
	declined atomic.Int64
	last     atomic.Int64 // Unix time in nanoseconds
}

func newHandler(cache *process.Cache) *handler {
	h := &handler{cache: cache, deciding: make(chan struct{}, maxDeciding), began: time.Now()}
	h.last.Store(h.began.UnixNano())
	return h
}

// untilIdle waits until ctx ends, or until there was no event for some time; 0 is never.
func (h *handler) untilIdle(ctx context.Context, idle time.Duration) {
	for {
		var wake <-chan time.Time
		if idle > 0 {
			left := idle - time.Since(time.Unix(0, h.last.Load()))
			if left <= 0 {
				return
			}
			wake = time.After(left)
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
	}
}

// ServeHTTP implements [http.Handler]. A client that gets no answer decides itself.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a := &answer{w: w, r: r}
	w.Header().Set(ask.NonceHeader, r.Header.Get(ask.NonceHeader))
	if r.Method == http.MethodGet {
		a.write(ask.Reply{Out: []byte(h.status())})
		return
	}
	end := h.turn()
	if end == nil {
		h.declined.Add(1)
		a.refuse(http.StatusServiceUnavailable)
		return
	}
	defer end()
	q, err := request(w, r)
	if err != nil {
		a.refuse(http.StatusBadRequest)
		return
	}
	h.last.Store(time.Now().UnixNano())
	defer func() { h.last.Store(time.Now().UnixNano()) }()
	if reply, ok := h.answer(a, q, end); ok {
		h.answered.Add(1)
		a.write(reply)
		return
	}
	h.declined.Add(1)
	a.refuse(http.StatusNotImplemented)
}

// turn waits until an event can be decided, and returns the function that lets another one be; nil if
// that takes too long.
func (h *handler) turn() (end func()) {
	wait := time.NewTimer(patience)
	defer wait.Stop()
	select {
	case h.deciding <- struct{}{}:
		return sync.OnceFunc(func() { <-h.deciding })
	case <-wait.C:
		return nil
	}
}

// request reads a request.
func request(w http.ResponseWriter, r *http.Request) (q ask.Request, err error) {
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTime))
	texts := func(name string) (list []string) {
		for _, v := range r.Header.Values(name) {
			text, bad := url.PathUnescape(v)
			err = errors.Join(err, bad)
			list = append(list, text)
		}
		return list
	}
	q.Args, q.Env = texts(ask.ArgHeader), texts(ask.EnvHeader)
	q.Nonce = r.Header.Get(ask.NonceHeader)
	q.Dir = strings.Join(texts(ask.DirHeader), "")
	if spent := strings.Join(texts(ask.SpentHeader), ""); spent != "" {
		var bad error
		q.Spent, bad = time.ParseDuration(spent)
		err = errors.Join(err, bad)
	}
	if err != nil || r.ContentLength < 0 || r.ContentLength > ask.MaxRequest {
		return q, errors.Join(err, errors.New("invalid length"))
	}
	q.Event = make([]byte, r.ContentLength)
	if _, err = io.ReadFull(r.Body, q.Event); err != nil {
		return q, err
	}
	return q, control.SetReadDeadline(time.Time{}) // from now on the server waits for the client to leave
}

// answer decides an event as the client would. If ok is false, the client has to decide.
func (h *handler) answer(a *answer, q ask.Request, end func()) (reply ask.Reply, ok bool) {
	// A client that leaves does not end a decision that has begun, unless a person is asked: it gets it
	// as a second hook of the same call. A call that is not being decided yet is left to it.
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.r.Context()))
	defer cancel()
	env := make(map[string]string)
	for _, v := range q.Env {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	var out, stderr bytes.Buffer
	var held sync.Once
	code, lenient, ok := h.cache.Answer(ctx, process.Delegation{
		Caller: process.Caller{Account: config.Account{Getenv: func(name string) string { return env[name] }}, Dir: q.Dir},
		Args:   q.Args, Spent: q.Spent, Nonce: q.Nonce,
		Left: func() bool { return a.r.Context().Err() != nil },
		Waits: func() {
			held.Do(func() {
				end() // waiting may take minutes
				a.hold()
				context.AfterFunc(a.r.Context(), cancel)
			})
		},
	}, process.Streams{In: bytes.NewReader(q.Event), Out: &out, Err: &stderr})
	return ask.Reply{Exit: byte(code), Lenient: lenient, Out: out.Bytes(), Err: stderr.Bytes()}, ok
}

// answer writes the responses to a request. After the deadline of a hook the gate may still be
// working: what it reports then is not written.
type answer struct {
	r     *http.Request
	mu    sync.Mutex
	w     http.ResponseWriter
	ended bool
}

// hold tells the client that the answer may take until its deadline.
func (a *answer) hold() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.w.WriteHeader(http.StatusProcessing)
	}
}

// refuse leaves the event to the client.
func (a *answer) refuse(status int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	a.w.WriteHeader(status)
}

// write writes the answer. One that does not arrive is none.
func (a *answer) write(reply ask.Reply) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	_ = http.NewResponseController(a.w).SetWriteDeadline(time.Now().Add(bodyTime))
	header := a.w.Header()
	header.Set("Content-Type", "text/plain; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(len(reply.Out)+len(reply.Err)))
	header.Set(ask.ExitHeader, strconv.Itoa(int(reply.Exit)))
	header.Set(ask.StdoutHeader, strconv.Itoa(len(reply.Out)))
	if reply.Lenient {
		header.Set(ask.LenientHeader, "true")
	}
	_, _ = a.w.Write(append(reply.Out, reply.Err...))
}

// status returns a description for people.
func (h *handler) status() string {
	return fmt.Sprintf("%s, process %d, since %s: %d events answered, %d left to who asked\n",
		release.Line(process.SmallName), os.Getpid(), h.began.UTC().Format(time.RFC3339), h.answered.Load(), h.declined.Load())
}
