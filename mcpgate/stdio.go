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
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// stdioFarewell is how long what is left may take once the client or ctx ended.
const stdioFarewell = 5 * time.Second

// maxOpen is how many requests of one client are worked on at once.
const maxOpen = 256

// ServeStdio serves one client over its standard input and output, one message per
// line, until the input ends or ctx does; then it ends the servers. In the revision
// without sessions the client is one all the same.
func (g *Gateway) ServeStdio(ctx context.Context, o session.Owner, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &lineWriter{out: out, failed: func(err error) { cancel(err) }}
	p := g.newPeer(o, w.write)
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
			p.line(ctx, line, w.write, &work)
		case err = <-ended:
		case <-ctx.Done():
			err = context.Cause(ctx)
		}
	}
	p.close()
	rest := make(chan struct{})
	go func() {
		defer close(rest)
		work.Wait()
		g.work.Wait()
	}()
	// A client that reads no more holds whoever writes to it; the process ends all the same.
	patience := time.NewTimer(stdioFarewell)
	defer patience.Stop()
	select {
	case <-rest:
	case <-patience.C:
		g.log.Warn("the client does not read its answers")
	}
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// line takes one line of the client. Requests are registered in the order in which
// they come, and worked on side by side.
func (p *peer) line(ctx context.Context, line []byte, write func([]byte) bool, work *sync.WaitGroup) {
	m, err := jsonrpc.Read(line)
	if err != nil {
		if text := p.g.broken(ctx, p.owner, err); text != nil {
			write(text)
		}
		return
	}
	if m.Kind != jsonrpc.Request {
		p.note(ctx, m)
		return
	}
	ctx, x, ok := p.begin(ctx, m, write)
	if !ok {
		write(refuse(m.ID, jsonrpc.InvalidRequest, notNow).text)
		return
	}
	work.Go(func() {
		if r := p.answer(ctx, m, x); r.text != nil {
			write(r.text)
		}
	})
}

// broken is the answer to what is no message, nil for none; a call among it is on
// record (THREATS G8).
func (g *Gateway) broken(ctx context.Context, o session.Owner, err error) []byte {
	var e *jsonrpc.Error
	if !errors.As(err, &e) {
		return nil
	}
	if e.Method == "tools/call" {
		name := stopgate.ToolName(e.Tool)
		if len(g.servers) == 1 {
			name = canonical(g.servers[0].ID, name)
		}
		p := &peer{g: g, owner: o}
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

var errLine = fmt.Errorf("mcpgate: a message of the client is longer than %d bytes", jsonrpc.MaxBytes)

// readLine reads up to a line feed. The line is the caller's.
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
