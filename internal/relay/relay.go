package relay

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Options configure [Serve].
type Options struct {
	// Dial connects to the gate. It may start one. Its error may be a [Problem]. Required.
	Dial func(ctx context.Context) (net.Conn, error)
	// Hello is the first frame for the client, without its line feed.
	Hello []byte
	// KeepAlive is how often an idle relay sends a request, so that the gate does not end; 0 for
	// never.
	KeepAlive time.Duration
}

// maxOpen limits the requests that are open at a time.
const maxOpen = 4096

// relay is the state of Serve.
type relay struct {
	transport *http.Transport
	ctx       context.Context
	out       output
	work      sync.WaitGroup

	mu   sync.Mutex
	last uint64 // the highest id of a request
	open map[uint64]*request
}

// Serve passes requests on until in ends, a frame is invalid, out fails or ctx ends. The error of an
// invalid frame is a [Problem], which the client has received.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r := &relay{ctx: ctx, open: map[uint64]*request{}, out: output{to: out, failed: cancel}}
	r.transport = &http.Transport{
		DialContext:        func(ctx context.Context, _, _ string) (net.Conn, error) { return o.Dial(ctx) },
		DisableCompression: true, MaxIdleConnsPerHost: 64, IdleConnTimeout: time.Minute, MaxResponseHeaderBytes: 1 << 20,
		WriteBufferSize: 16 << 10, ReadBufferSize: 16 << 10,
	}
	defer r.transport.CloseIdleConnections()
	r.out.write(append(o.Hello, '\n'))
	if o.KeepAlive > 0 {
		r.work.Go(func() { r.keepAlive(o.KeepAlive) })
	}
	read := make(chan error, 1)
	go func() { read <- r.read(in) }()
	var err error
	select {
	case err = <-read:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	if p := (*Problem)(nil); errors.As(err, &p) {
		r.out.write(appendProblem(nil, 0, p))
	}
	r.out.over.Store(true) // requests that end now have no frame after it
	cancel(errEnds)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		r.out.end()
		r.work.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(endLimit): // the client reads nothing any more
	}
	return err
}

// endLimit is how long requests have to end with the relay.
const endLimit = 2 * time.Second

// errEnds is the cause of requests that end with the relay.
var errEnds = errors.New("the relay ends")

// read reads frames until the end of the input.
func (r *relay) read(in io.Reader) error {
	lines := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		switch {
		case errors.Is(err, io.EOF) && len(line) == 0:
			return nil
		case errors.Is(err, io.EOF):
			return &Problem{BadFrame, "the last frame has no line feed"}
		case err != nil:
			return err
		}
		f, err := parseFrame(line)
		if err == nil {
			err = r.accept(f)
		}
		if err != nil {
			return problemOf(err, BadFrame)
		}
	}
}

// readLine reads a line, without its line feed.
func readLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxFrame {
			return nil, &Problem{BadFrame, "a frame is larger than 16 MiB"}
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		}
	}
}

// accept begins a request, or passes a frame to the one that it belongs to. A frame for a request
// that has ended has no effect: the client may not know yet.
func (r *relay) accept(f frame) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.method == "" {
		if f.id > r.last {
			return errors.New("no request has this id")
		}
		if q := r.open[f.id]; q != nil {
			q.more(f)
		}
		return nil
	}
	if f.id <= r.last {
		return errors.New("ids of requests must grow")
	}
	r.last = f.id
	if len(r.open) >= maxOpen {
		r.out.write(appendProblem(nil, f.id, &Problem{TooMany, "too many requests are open"}))
		return nil
	}
	q := newRequest(r.ctx, f)
	r.open[f.id] = q
	r.work.Go(func() {
		defer r.ended(f.id)
		q.run(r)
	})
	return nil
}

func (r *relay) ended(id uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, id)
}

// keepAlive sends a request to the gate now and then. A gate ends when it is idle, and those of a
// program that runs would lose sessions that are in memory only.
func (r *relay) keepAlive(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-r.ctx.Done():
			return
		}
		ctx, cancel := context.WithTimeout(r.ctx, every)
		q, err := http.NewRequestWithContext(ctx, http.MethodGet, origin+"/healthz", nil)
		if err == nil {
			var a *http.Response
			if a, err = r.transport.RoundTrip(q); err == nil {
				_, _ = io.Copy(io.Discard, io.LimitReader(a.Body, 1<<20))
				a.Body.Close()
			}
		}
		cancel()
	}
}

// output writes frames. After an error, or its end, it writes nothing.
type output struct {
	failed context.CancelCauseFunc
	mu     sync.Mutex
	to     io.Writer
	over   atomic.Bool
}

func (o *output) write(frame []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over.Load() {
		return
	}
	if _, err := o.to.Write(frame); err != nil {
		o.over.Store(true)
		o.failed(err)
	}
}

// end waits for a frame that is being written.
func (o *output) end() {
	o.over.Store(true)
	o.mu.Lock()
	defer o.mu.Unlock()
}
