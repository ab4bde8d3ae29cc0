package link

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/jsonstream"
)

// Command is a server that is started as a process.
type Command struct {
	Args   []string // program and arguments, without a shell
	Env    []string // the whole environment, KEY=VALUE
	Dir    string
	Stderr io.Writer // standard error of the server; nil discards it
	// Grace is how long the server may take to exit after its input is closed, and again
	// after SIGTERM. Zero means 5 s.
	Grace time.Duration
	// Track, if not nil, is called with the server's process group when it starts, so that
	// another process can end it. The function that it returns is called when the group has
	// ended.
	Track func(group int) (release func())
}

// Process is a link to a server over its standard input and output, one message per line.
// The server leads its own process group, which ends with the link.
type Process struct {
	cmd     *exec.Cmd
	in, out *os.File
	events  Events
	grace   time.Duration

	write sync.Mutex // serialises writes of lines
	mu    sync.Mutex
	calls map[jsonrpc.ID]*pendingRequest
	dead  bool

	done       chan struct{} // closed when no more messages arrive
	outputRead chan struct{} // closed when the output is read to the end
	exited     chan struct{} // closed when the process has exited
}

// pendingRequest is a request that waits for its response.
type pendingRequest struct {
	onMessage func(*jsonrpc.Message)
	result    chan result
}

type result struct {
	message *jsonrpc.Message
	err     error
}

// Start starts the server and returns a link to it.
func Start(c Command, events Events) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("link: start server: the command is empty")
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = c.Env, c.Dir, c.Stderr
	setProcessGroup(cmd)
	// Descendants that keep standard error open must not block Wait forever.
	cmd.WaitDelay = time.Second
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("link: start server: %w", err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("link: start server: %w", err), theirIn.Close(), in.Close())
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	err = cmd.Start()
	if err = errors.Join(err, theirIn.Close(), theirOut.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("link: start server: %w", err), in.Close(), out.Close())
	}
	p := &Process{
		cmd: cmd, in: in, out: out, events: events, grace: c.Grace, calls: map[jsonrpc.ID]*pendingRequest{},
		done: make(chan struct{}), exited: make(chan struct{}), outputRead: make(chan struct{}),
	}
	if p.grace == 0 {
		p.grace = 5 * time.Second
	}
	release := func() {}
	if c.Track != nil {
		release = c.Track(cmd.Process.Pid)
	}
	go p.wait(release)
	go p.read()
	return p, nil
}

// wait waits until the process has exited and then kills its process group, including
// descendants that keep the output open.
func (p *Process) wait(release func()) {
	_ = p.cmd.Wait()
	signalGroup(p.cmd, syscall.SIGKILL)
	release()
	_ = p.out.SetReadDeadline(time.Now().Add(time.Second))
	p.in.Close()
	<-p.outputRead
	p.out.Close()
	close(p.exited)
}

// read reads messages until the output ends. A server that closed its output is stopped.
func (p *Process) read() {
	r := bufio.NewReaderSize(p.out, 64<<10)
	for {
		line, err := readLine(r, jsonrpc.MaxBytes)
		if len(line) > 0 {
			p.handleLine(line)
		}
		if err != nil {
			if errors.Is(err, errLineTooLong) {
				p.events.dropped(fmt.Sprintf("the server sent a message that is longer than %d MiB (fixed limit); the server is stopped", jsonrpc.MaxBytes>>20))
			}
			break
		}
	}
	p.fail()
	close(p.done)
	close(p.outputRead)
	p.end()
}

var errLineTooLong = errors.New("line too long")

// readLine reads up to and including a line feed. The caller owns the returned slice.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLineTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// handleLine parses a line and delivers the message to its request or to Events.
func (p *Process) handleLine(line []byte) {
	m, err := jsonrpc.Read(line)
	if err != nil {
		var broken *jsonrpc.Error
		if blank(line) || !errors.As(err, &broken) {
			return
		}
		// An invalid response ends its request too: no other response will arrive.
		if w := p.remove(broken.ID); broken.Method == "" && w != nil {
			w.result <- result{err: &InvalidResponseError{err}}
			return
		}
		p.events.dropped("the server sent a line that is not a message: " + broken.Detail)
		return
	}
	switch m.Kind {
	case jsonrpc.Response, jsonrpc.ErrorResponse:
		if w := p.remove(m.ID); w != nil {
			w.result <- result{message: m}
		} else {
			p.events.dropped("the server sent a response to an unknown request")
		}
	default:
		if on := p.handler(m); on != nil {
			on(m)
		} else {
			p.events.unsolicited(m)
		}
	}
}

func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return false
		}
	}
	return true
}

// remove removes the pending request id from the table and returns it, nil if there is
// none.
func (p *Process) remove(id jsonrpc.ID) *pendingRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.calls[id]
	delete(p.calls, id)
	return w
}

// handler returns the callback of the request that m refers to, by its progress token or,
// for a subscription, by the request id. Progress tokens of the link are its request ids.
func (p *Process) handler(m *jsonrpc.Message) func(*jsonrpc.Message) {
	id := requestOf(m)
	if id == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.calls[id]; w != nil {
		return w.onMessage
	}
	return nil
}

// requestOf returns the id of the request that a message of the server refers to, "" if it
// refers to none.
func requestOf(m *jsonrpc.Message) jsonrpc.ID {
	if m.Method == "notifications/progress" {
		if token, ok := m.Params.Get("progressToken"); ok {
			return jsonrpc.ParseID(token)
		}
		return ""
	}
	if meta, ok := m.Params.Get("_meta"); ok && meta.Kind() == jsonstream.Object {
		if id, ok := meta.Get("io.modelcontextprotocol/subscriptionId"); ok {
			return jsonrpc.ParseID(id)
		}
	}
	return ""
}

// ConnInfo implements [Traced].
func (p *Process) ConnInfo() ConnInfo { return ConnInfo{Transport: "pipe"} }

// Call implements [Link]. If ctx ends first, it sends notifications/cancelled to the
// server.
func (p *Process) Call(ctx context.Context, c *Call) (Reply, error) {
	w := &pendingRequest{onMessage: c.OnMessage, result: make(chan result, 1)}
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return Reply{}, ErrDead
	}
	p.calls[c.ID] = w
	p.mu.Unlock()
	if err := p.Send(ctx, c); err != nil {
		p.remove(c.ID)
		return Reply{}, err
	}
	select {
	case a := <-w.result:
		return Reply{Message: a.message}, a.err
	case <-ctx.Done():
		if p.remove(c.ID) != nil && c.Method != "initialize" {
			params := append(append([]byte(`{"requestId":`), c.ID...), `,"reason":"the client gave it up"}`...)
			_ = p.Send(context.WithoutCancel(ctx), &Call{Text: jsonrpc.AppendRequest(nil, "", "notifications/cancelled", params)})
		}
		return Reply{}, context.Cause(ctx)
	}
}

// Send implements [Link]. A server that does not read its input for writeTimeout is killed.
func (p *Process) Send(_ context.Context, c *Call) error {
	p.write.Lock()
	defer p.write.Unlock()
	_ = p.in.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := p.in.Write(append(c.Text[:len(c.Text):len(c.Text)], '\n')); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// The pipe may contain half a line: no message can follow it.
			p.events.dropped("the server does not read its input; it is stopped")
			signalGroup(p.cmd, syscall.SIGKILL)
		}
		return ErrDead
	}
	return nil
}

// writeTimeout limits the write of one message.
const writeTimeout = 30 * time.Second

// fail fails all pending requests.
func (p *Process) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for id, w := range p.calls {
		w.result <- result{err: ErrDead}
		delete(p.calls, id)
	}
}

// end closes the server's input and ends its process group if the server does not exit.
func (p *Process) end() {
	p.in.Close()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		timer := time.NewTimer(p.grace)
		select {
		case <-p.exited:
			timer.Stop()
			return
		case <-timer.C:
			signalGroup(p.cmd, signal)
		}
	}
	<-p.exited
}

// Done implements [Link].
func (p *Process) Done() <-chan struct{} { return p.done }

// Close implements [Link].
func (p *Process) Close() error {
	p.fail()
	p.end()
	return nil
}

// Inherit returns the entries of environ that every program needs, and those in names.
func Inherit(environ []string, names ...string) []string {
	keep := map[string]bool{
		"HOME": true, "LOGNAME": true, "PATH": true, "SHELL": true, "TERM": true, "USER": true,
		"LANG": true, "LC_ALL": true, "LC_CTYPE": true, "TZ": true, "TMPDIR": true,
	}
	for _, name := range names {
		keep[name] = true
	}
	var env []string
	for _, entry := range environ {
		for i := range entry {
			if entry[i] == '=' {
				if keep[entry[:i]] {
					env = append(env, entry)
				}
				break
			}
		}
	}
	return env
}
