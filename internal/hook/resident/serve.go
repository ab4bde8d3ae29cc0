package resident

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/system/owner"
	"github.com/stopgate/stopgate/internal/system/socket"
)

// Options configure [Serve].
type Options struct {
	// Idle is the time without requests after which the resident ends, 0 for never.
	Idle time.Duration
	// Log receives a line at the start and at the end; it may be nil.
	Log io.Writer
}

// Limits of one request.
const (
	maxWaiting = 1024 // connections
	readTime   = 2 * time.Second
)

// ErrReplaced is returned when the program file was replaced by another version.
var ErrReplaced = errors.New("the program was replaced")

// resident is a running resident.
type resident struct {
	kept  *process.Cache
	self  ask.Self
	file  string // the program
	began time.Time

	answered atomic.Int64
	declined atomic.Int64
	last     atomic.Int64 // Unix time in nanoseconds
	busy     sync.WaitGroup
	slots    chan struct{} // for connections
	turns    limiter
	replaced chan struct{}
	once     sync.Once
}

// Serve answers until ctx ends, until no process has asked for a while, or until the program's file
// is replaced, which is [ErrReplaced]. It waits for pending answers.
func Serve(ctx context.Context, o Options) error {
	path, ok := ask.Path()
	if !ok {
		return errors.New("no path for the socket: HOME or XDG_STATE_HOME must be a short absolute path")
	}
	if err := private(filepath.Dir(path)); err != nil {
		return err
	}
	file, err := os.Executable()
	if err != nil {
		return err
	}
	ln, err := socket.Listen(path)
	if err != nil {
		return err
	}
	defer ln.Close()
	debug.SetGCPercent(400)
	r := &resident{kept: new(process.Cache), self: ask.Own(), file: file, began: time.Now(), slots: make(chan struct{}, maxWaiting), turns: newTurns(), replaced: make(chan struct{})}
	r.last.Store(r.began.UnixNano())
	o.logf("%s answers hooks at %s", release.Line(process.SmallName), path)
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	go r.watch(ctx, o.Idle, func(why error) { end(why) })
	stop := context.AfterFunc(ctx, func() { ln.UnixListener.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	err = r.accept(ctx, ln.UnixListener)
	closed := ln.Close() // no client can find it any more
	r.busy.Wait()
	if ctx.Err() != nil {
		if err = context.Cause(ctx); errors.Is(err, errIdle) || errors.Is(err, context.Canceled) {
			err = nil
		}
	}
	o.logf("%d events answered, %d left to who asked", r.answered.Load(), r.declined.Load())
	return errors.Join(err, closed, r.kept.Close())
}

func (o Options) logf(format string, args ...any) {
	if o.Log != nil {
		fmt.Fprintf(o.Log, "stopgate: "+format+"\n", args...)
	}
}

// private creates a directory for this user only, if there is none. A directory that others can
// write to is an error, since they could put a socket of their own there.
func private(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o022 != 0 || !owner.OwnedByUser(info) {
		return fmt.Errorf("%s belongs to another user, or others can write to it (mode %04o)", dir, info.Mode().Perm())
	}
	return nil
}

var errIdle = errors.New("nobody asks")

// watch ends the resident when it is idle, or when the program was replaced.
func (r *resident) watch(ctx context.Context, idle time.Duration, end func(error)) {
	for {
		var wake <-chan time.Time
		if idle > 0 {
			left := idle - time.Since(time.Unix(0, r.last.Load()))
			if left <= 0 {
				end(errIdle)
				return
			}
			wake = time.After(left)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.replaced:
			end(ErrReplaced)
			return
		case <-wake:
		}
	}
}

func (r *resident) accept(ctx context.Context, ln *net.UnixListener) error {
	for {
		c, err := ln.AcceptUnix()
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return nil
		case exhausted(err): // until some descriptor is closed, clients decide themselves
			select {
			case <-time.After(exhaustion):
			case <-ctx.Done():
			}
			continue
		default:
			return err
		}
		select {
		case r.slots <- struct{}{}:
			r.busy.Go(func() {
				defer func() { <-r.slots }()
				r.serve(c)
			})
		default:
			c.Close() // the client decides itself
		}
	}
}

// exhaustion is the pause after the system has no descriptor left.
const exhaustion = 20 * time.Millisecond

// exhausted reports whether an error of accepting a connection is temporary, for lack of resources.
func exhausted(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// serve answers one request. Every failure closes the connection without an answer.
func (r *resident) serve(c *net.UnixConn) {
	defer c.Close()
	defer func() {
		if recover() != nil {
			r.declined.Add(1)
		}
	}()
	if !r.believes(c) || c.SetDeadline(time.Now().Add(readTime)) != nil {
		return // the client decides itself
	}
	// A ticket is taken only after a client has begun its request.
	header := make([]byte, ask.HeaderLen)
	if _, err := io.ReadFull(c, header); err != nil {
		return
	}
	t := r.turns.take()
	if t == nil {
		r.declined.Add(1)
		return
	}
	defer t.end()
	if c.SetDeadline(time.Now().Add(readTime)) != nil {
		return
	}
	q, err := read(c, header)
	if err != nil {
		return
	}
	if q.Status {
		r.write(c, q, ask.Reply{Kind: ask.Answered, Out: []byte(r.status())})
		return
	}
	r.last.Store(time.Now().UnixNano())
	r.write(c, q, r.answer(c, q, t))
	r.last.Store(time.Now().UnixNano())
}

// believes reports whether a client is trusted. One that is not may be of a newer version: then
// this process is outdated.
func (r *resident) believes(c *net.UnixConn) (yes bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return false
	}
	if raw.Control(func(fd uintptr) { yes = r.self.Believes(fd) }) != nil {
		return false
	}
	if !yes {
		now, err := os.Stat(r.file)
		own, ownErr := os.Stat("/proc/self/exe")
		if err == nil && ownErr == nil && !os.SameFile(now, own) {
			r.once.Do(func() { close(r.replaced) })
		}
	}
	return yes
}

// read reads the request after a header.
func read(c *net.UnixConn, header []byte) (*ask.Request, error) {
	n, err := ask.BodyLen(header)
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(c, body); err != nil {
		return nil, err
	}
	q := new(ask.Request)
	return q, q.Parse(body)
}

// answer decides an event as the client would.
func (r *resident) answer(c *net.UnixConn, q *ask.Request, t *ticket) ask.Reply {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	env := make(map[string]string)
	for _, v := range q.Env {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	var out, stderr bytes.Buffer
	var held sync.Once
	code, lenient, ok := r.kept.Answer(ctx, process.Delegation{
		Caller: process.Caller{Account: config.Account{Getenv: func(name string) string { return env[name] }}, Dir: q.Dir},
		Args:   q.Args, Spent: q.Spent,
		Waits: func() {
			held.Do(func() {
				t.hold()
				c.SetDeadline(time.Time{}) // the client has one
				r.write(c, q, ask.Reply{Kind: ask.Held})
				go func() {
					_, _ = c.Read(make([]byte, 1)) // nothing follows but the end: the client has left
					cancel()
				}()
			})
		},
	}, process.Streams{In: bytes.NewReader(q.Event), Out: &out, Err: &stderr})
	if !ok {
		r.declined.Add(1)
		return ask.Reply{Kind: ask.Declined}
	}
	r.answered.Add(1)
	return ask.Reply{Kind: ask.Answered, Exit: byte(code), Lenient: lenient, Out: out.Bytes(), Err: stderr.Bytes()}
}

// write writes a reply in one piece. A reply that does not arrive is none.
func (r *resident) write(c *net.UnixConn, q *ask.Request, reply ask.Reply) {
	_ = c.SetWriteDeadline(time.Now().Add(readTime))
	_, _ = c.Write(reply.Append(nil, q.Nonce))
}

// status returns a description for people.
func (r *resident) status() string {
	return fmt.Sprintf("%s, process %d, since %s: %d events answered, %d left to who asked\n",
		release.Line(process.SmallName), os.Getpid(), r.began.UTC().Format(time.RFC3339), r.answered.Load(), r.declined.Load())
}
