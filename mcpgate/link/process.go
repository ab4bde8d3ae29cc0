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

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire/jsonrpc"
)

// Command is a server that is started as a process.
type Command struct {
	Args   []string // the program and its arguments; no shell reads them
	Env    []string // the whole environment, KEY=VALUE
	Dir    string
	Stderr io.Writer // what the server says beside the protocol; nil drops it
	// Grace is how long the server may take to end once its input is closed, and again
	// once it was told to: 5 s if zero.
	Grace time.Duration
	// Hold is told of the server's process group, and what it returns of its end: so
	// that somebody can end it who lives longer. nil for nobody.
	Hold func(group int) (release func())
}

// Process is a link to a server over its standard input and output: one message per
// line (WIRE 8.8). It leads a process group of its own, which ends with the link.
type Process struct {
	cmd     *exec.Cmd
	in, out *os.File
	events  Events
	grace   time.Duration

	write sync.Mutex // one line at a time
	mu    sync.Mutex
	calls map[jsonrpc.ID]*waiting
	dead  bool

	done   chan struct{} // closed when no message comes any more
	silent chan struct{} // closed when its output is read to the end
	exited chan struct{} // closed when the process is gone
}

// waiting is a request without a response yet.
type waiting struct {
	on    func(*jsonrpc.Message)
	reply chan answer
}

type answer struct {
	message *jsonrpc.Message
	err     error
}

// Start starts the server.
func Start(c Command, events Events) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("link: no command")
	}
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Env, cmd.Dir, cmd.Stderr = c.Env, c.Dir, c.Stderr
	group(cmd)
	// Descendants that keep standard error open must not hold Wait for ever.
	cmd.WaitDelay = time.Second
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the server: %w", err), theirIn.Close(), in.Close())
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	err = cmd.Start()
	if err = errors.Join(err, theirIn.Close(), theirOut.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("start the server: %w", err), in.Close(), out.Close())
	}
	p := &Process{
		cmd: cmd, in: in, out: out, events: events, grace: c.Grace, calls: map[jsonrpc.ID]*waiting{},
		done: make(chan struct{}), exited: make(chan struct{}), silent: make(chan struct{}),
	}
	if p.grace == 0 {
		p.grace = 5 * time.Second
	}
	release := func() {}
	if c.Hold != nil {
		release = c.Hold(cmd.Process.Pid)
	}
	go p.wait(release)
	go p.read()
	return p, nil
}

// wait sees the process off. What it left behind ends with it: also a descendant that
// holds the output open.
func (p *Process) wait(release func()) {
	_ = p.cmd.Wait()
	signalGroup(p.cmd, syscall.SIGKILL)
	release()
	_ = p.out.SetReadDeadline(time.Now().Add(time.Second))
	p.in.Close()
	<-p.silent
	p.out.Close()
	close(p.exited)
}

// read takes messages until there are no more. A server that closed its output is of no
// more use and is asked to end.
func (p *Process) read() {
	r := bufio.NewReaderSize(p.out, 64<<10)
	for {
		line, err := readLine(r, jsonrpc.MaxBytes)
		if len(line) > 0 {
			p.take(line)
		}
		if err != nil {
			if errors.Is(err, errLong) {
				p.events.noise(fmt.Sprintf("a message longer than %d MiB, which no setting changes: the server is stopped", jsonrpc.MaxBytes>>20))
			}
			break
		}
	}
	p.fail()
	close(p.done)
	close(p.silent)
	p.end()
}

var errLong = errors.New("line too long")

// readLine reads up to a line feed. The line is the caller's.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > limit {
			return nil, errLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// take hands one message to whom it belongs.
func (p *Process) take(line []byte) {
	m, err := jsonrpc.Read(line)
	if err != nil {
		var broken *jsonrpc.Error
		if blank(line) || !errors.As(err, &broken) {
			return
		}
		// An answer that cannot be read is an answer all the same: nobody waits for another.
		if w := p.claim(broken.ID); broken.Method == "" && w != nil {
			w.reply <- answer{err: &Garbage{err}}
			return
		}
		p.events.noise("a line that is no message: " + broken.Detail)
		return
	}
	switch m.Kind {
	case jsonrpc.Response, jsonrpc.Failure:
		if w := p.claim(m.ID); w != nil {
			w.reply <- answer{message: m}
		} else {
			p.events.noise("a response to a request that was not sent")
		}
	default:
		if on := p.belongs(m); on != nil {
			on(m)
		} else {
			p.events.stray(m)
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

// claim takes a request that waits out of the table.
func (p *Process) claim(id jsonrpc.ID) *waiting {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.calls[id]
	delete(p.calls, id)
	return w
}

// belongs finds the request that a message names: by its progress token or, for a
// subscription, by the request's id. Our tokens are our ids.
func (p *Process) belongs(m *jsonrpc.Message) func(*jsonrpc.Message) {
	id := named(m)
	if id == "" {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if w := p.calls[id]; w != nil {
		return w.on
	}
	return nil
}

// named is the request that a message of a server says it belongs to, "" if it does
// not say.
func named(m *jsonrpc.Message) jsonrpc.ID {
	if m.Method == "notifications/progress" {
		if token, ok := m.Params.Get("progressToken"); ok {
			return jsonrpc.Literal(token)
		}
		return ""
	}
	if meta, ok := m.Params.Get("_meta"); ok && meta.Kind() == jsonstream.Object {
		if id, ok := meta.Get("io.modelcontextprotocol/subscriptionId"); ok {
			return jsonrpc.Literal(id)
		}
	}
	return ""
}

// Place implements [Placed].
func (p *Process) Place() Place { return Place{Transport: "pipe"} }

// Call implements [Link]. A call that is given up is told to the server.
func (p *Process) Call(ctx context.Context, c *Call) (Reply, error) {
	w := &waiting{on: c.On, reply: make(chan answer, 1)}
	p.mu.Lock()
	if p.dead {
		p.mu.Unlock()
		return Reply{}, ErrDead
	}
	p.calls[c.ID] = w
	p.mu.Unlock()
	if err := p.Send(ctx, c); err != nil {
		p.claim(c.ID)
		return Reply{}, err
	}
	select {
	case a := <-w.reply:
		return Reply{Message: a.message}, a.err
	case <-ctx.Done():
		if p.claim(c.ID) != nil && c.Method != "initialize" {
			params := append(append([]byte(`{"requestId":`), c.ID...), `,"reason":"the client gave it up"}`...)
			_ = p.Send(context.WithoutCancel(ctx), &Call{Text: jsonrpc.AppendRequest(nil, "", "notifications/cancelled", params)})
		}
		return Reply{}, context.Cause(ctx)
	}
}

// Send implements [Link]. A server that does not read for a while is dead.
func (p *Process) Send(_ context.Context, c *Call) error {
	p.write.Lock()
	defer p.write.Unlock()
	_ = p.in.SetWriteDeadline(time.Now().Add(writeTimeout))
	if _, err := p.in.Write(append(c.Text[:len(c.Text):len(c.Text)], '\n')); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			// Half a line may stand in the pipe: nothing can follow it.
			p.events.noise("the server does not read its input: it is stopped")
			signalGroup(p.cmd, syscall.SIGKILL)
		}
		return ErrDead
	}
	return nil
}

// writeTimeout is how long one message may take to be read by the server.
const writeTimeout = 30 * time.Second

// fail ends every call that waits.
func (p *Process) fail() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
	for id, w := range p.calls {
		w.reply <- answer{err: ErrDead}
		delete(p.calls, id)
	}
}

// end closes the server's input, and ends its process group if that is not enough.
func (p *Process) end() {
	p.in.Close()
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		patience := time.NewTimer(p.grace)
		select {
		case <-p.exited:
			patience.Stop()
			return
		case <-patience.C:
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

// Inherit picks variables out of an environment: those that every program needs, and
// the named ones.
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
