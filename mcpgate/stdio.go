package mcpgate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/session"
)

// stdioCloseTimeout limits the shutdown after the input or ctx has ended.
const stdioCloseTimeout = 5 * time.Second

// maxOpen is the maximum number of concurrent requests of one client.
const maxOpen = 256

// ServeStdio serves one client over its standard input and output, one message per line,
// until the input or ctx ends. It then closes the connections to the servers. In the
// revision without sessions, too, the process is one client.
func (g *Gateway) ServeStdio(ctx context.Context, o session.Owner, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &lineWriter{out: out, failed: func(err error) { cancel(err) }}
	p := g.newClient(o, w.write)
	p.stdio = true
	var work sync.WaitGroup
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
			p.handleLine(ctx, line, w.write, &work)
		case err = <-ended:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	p.close()
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		work.Wait()
		g.work.Wait()
	}()
	// A client that does not read blocks writers; the shutdown does not wait for them.
	timer := time.NewTimer(stdioCloseTimeout)
	defer timer.Stop()
	select {
	case <-finished:
	case <-timer.C:
		g.log.Warn("the client does not read its responses")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// handleLine handles one line of the client. Requests are registered in the order of the
// lines and handled concurrently.
func (p *client) handleLine(ctx context.Context, line []byte, write func([]byte) bool, work *sync.WaitGroup) {
	m, err := jsonrpc.Read(line)
	if err != nil {
		if text := p.g.invalidMessage(ctx, p.owner, err); text != nil {
			write(text)
		}
		return
	}
	if m.Kind != jsonrpc.Request {
		p.handleMessage(ctx, m)
		return
	}
	ctx, x, ok := p.begin(ctx, m, write)
	if !ok {
		write(refuse(m.ID, jsonrpc.InvalidRequest, requestRefused).text)
		return
	}
	work.Go(func() {
		if r := p.handle(ctx, m, x); r.text != nil {
			write(r.text)
		}
	})
}

// invalidMessage returns the response to an invalid message, nil for none. A tool call in
// it is recorded (G8).
func (g *Gateway) invalidMessage(ctx context.Context, o session.Owner, err error) []byte {
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		return nil
	}
	if e.Method == "tools/call" {
		name := stopgate.ToolName(e.Tool)
		if len(g.servers) == 1 {
			name = canonical(g.servers[0].ID, name)
		}
		p := &client{g: g, owner: o}
		p.refuseCall(ctx, stopgate.Call{
			Tool: name, ID: stopgate.CallID(e.ID), Session: o.Session, Principal: o.Principal, Surface: stopgate.SurfaceMCP, Dialect: dialect,
		}, stopgate.CodeProtocolViolation)
	}
	code := jsonrpc.InvalidRequest
	if e.Parse {
		code = jsonrpc.ParseError
	}
	return jsonrpc.AppendError(nil, e.ID, code, e.Detail, nil)
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
