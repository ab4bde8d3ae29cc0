package serve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/session"
)

// stdioCloseTimeout limits the shutdown after the input or ctx has ended.
const stdioCloseTimeout = 5 * time.Second

// stdioServer serves one client over its standard input and output.
type stdioServer struct {
	g      Gateway
	owner  session.Owner
	client Client
	out    *lineWriter
	work   sync.WaitGroup // open requests
}

// Stdio serves one client over its standard input and output, one message per line,
// until the input or ctx ends. It then closes the client. In the revision without sessions,
// too, the process is one client.
func Stdio(ctx context.Context, g Gateway, o session.Owner, in io.Reader, out io.Writer, log *slog.Logger) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	s := &stdioServer{g: g, owner: o, out: &lineWriter{out: out, failed: func(err error) { cancel(err) }}}
	s.client = g.NewClient(o, Connection{Stdio: true, Send: s.out.write})
	lines := make(chan []byte)
	ended := make(chan error, 1)
	go func() {
		// A read that never returns ends with the process.
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			line, err := readLine(r)
			if len(line) > 0 {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	var err error
	for err == nil {
		select {
		case line := <-lines:
			s.handleLine(ctx, line)
		case err = <-ended:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	s.client.Close()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		s.work.Wait()
		g.Wait()
	}()
	// A client that does not read blocks writers; the shutdown does not wait for them.
	timer := time.NewTimer(stdioCloseTimeout)
	defer timer.Stop()
	select {
	case <-finished:
	case <-timer.C:
		log.Warn("the client does not read its responses")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// handleLine handles one line of the client. Requests are registered in the order of the
// lines and handled concurrently.
func (s *stdioServer) handleLine(ctx context.Context, line []byte) {
	m, err := jsonrpc.Read(line)
	if err != nil {
		if text := s.g.RefuseText(ctx, s.owner, err); text != nil {
			s.out.write(text)
		}
		return
	}
	if m.Kind != jsonrpc.Request {
		s.client.HandleMessage(ctx, m)
		return
	}
	handle, ok := s.client.Begin(ctx, m, s.out.write, nil)
	if !ok {
		s.out.write(refused(m.ID).Text)
		return
	}
	s.work.Go(func() {
		if r := handle(); r.Text != nil {
			s.out.write(r.Text)
		}
	})
}

var errLine = fmt.Errorf("mcpgate: the client sent a message longer than %d bytes", jsonrpc.MaxBytes)

// readLine reads up to and including a line feed. The caller owns the returned slice.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > jsonrpc.MaxBytes {
			return nil, errLine
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// lineWriter writes one message per line.
type lineWriter struct {
	mu     sync.Mutex
	out    io.Writer
	dead   bool
	failed func(error)
}

func (w *lineWriter) write(text []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dead {
		return false
	}
	if _, err := w.out.Write(append(text[:len(text):len(text)], '\n')); err != nil {
		w.dead = true
		w.failed(fmt.Errorf("write to the client: %w", err))
	}
	return !w.dead
}
