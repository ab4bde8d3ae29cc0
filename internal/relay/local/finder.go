package local

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/relay"
	"github.com/stopgate/stopgate/internal/system/peer"
	"github.com/stopgate/stopgate/internal/system/socket"
)

// Finder finds one gate. Its fields do not change once it is used.
type Finder struct {
	// Want returns the version, the files and the tools of the gate that is wanted now.
	Want func() (decide.Description, error)
	// Paths are the sockets where it may be, in this order. A gate that is started gets the last one.
	Paths []string
	// Self is the identity of this process.
	Self peer.Self
	// Start starts a gate that listens at a path, and returns a channel that gets the reason if it
	// ends. If nil, no gate is started.
	Start func(path string) (ended <-chan error, err error)

	mu    sync.Mutex
	path  string // of the gate that was accepted last
	pid   int
	found decide.Description
}

// Time limits.
const (
	answerLimit = 2 * time.Second  // of a gate that is asked to describe itself
	startLimit  = 15 * time.Second // until a gate that was started answers
	changeLimit = 3 * time.Second  // until a gate has read files that have changed, or has ended
	startPoll   = 10 * time.Millisecond
)

// Dial connects to the gate. Its errors are of type [relay.Problem].
func (f *Finder) Dial(ctx context.Context) (net.Conn, error) {
	f.mu.Lock()
	path, pid := f.path, f.pid
	f.mu.Unlock()
	if path != "" {
		if c, err := dial(ctx, path, f.Self); err == nil {
			if c.PID() == pid {
				return conn{c}, nil
			}
			c.Close()
		}
	}
	c, err := f.search(ctx)
	if err != nil {
		return nil, err
	}
	return conn{c}, nil
}

// dial connects to a gate that was accepted. The queue of its socket may be full for a moment.
func dial(ctx context.Context, path string, self peer.Self) (*peer.Conn, error) {
	for limit := time.Now().Add(answerLimit); ; {
		c, err := peer.Dial(path, self, time.Time{})
		if err == nil || !errors.Is(err, syscall.EAGAIN) || time.Now().After(limit) {
			return c, err
		}
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Describe connects to the gate and returns its description.
func (f *Finder) Describe(ctx context.Context) (decide.Description, error) {
	c, err := f.Dial(ctx)
	if err != nil {
		return decide.Description{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.found, c.Close()
}

// search looks at all paths, and starts a gate if there is none.
func (f *Finder) search(ctx context.Context) (*peer.Conn, error) {
	own := f.Paths[len(f.Paths)-1]
	var last error
	for _, path := range f.Paths[:len(f.Paths)-1] {
		c, err := f.try(path)
		if err == nil {
			return c, nil
		}
		last = err
	}
	c, err := f.changing(ctx, own)
	switch {
	case err == nil:
		return c, nil
	case !errors.Is(err, peer.ErrNone):
		return nil, problem(own, err)
	case f.Start == nil && last != nil && !errors.Is(last, peer.ErrNone):
		return nil, problem(f.Paths[0], last)
	case f.Start == nil:
		return nil, problem(own, err)
	}
	return f.begin(ctx, own)
}

// try connects to the gate at a path, if it is the one that is wanted.
func (f *Finder) try(path string) (*peer.Conn, error) {
	c, err := peer.Dial(path, f.Self, time.Now().Add(answerLimit))
	if err != nil {
		return nil, err
	}
	d, err := describe(c)
	if err == nil {
		var want decide.Description
		if want, err = f.Want(); err == nil && !same(d, want) {
			err = errDiffers
		}
	}
	if err == nil {
		err = c.SetDeadline(time.Time{})
	}
	if err != nil {
		if c.Ending() {
			err = peer.ErrEnding
		}
		c.Close()
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.path, f.pid, f.found = path, c.PID(), d
	return c, nil
}

// changing is try for the gate of this project: it is given time to read files that have changed, or
// to end.
func (f *Finder) changing(ctx context.Context, path string) (c *peer.Conn, err error) {
	for limit := time.Now().Add(changeLimit); ; {
		wait := 10 * startPoll
		switch c, err = f.try(path); {
		case errors.Is(err, peer.ErrEnding):
			wait = startPoll
		case !errors.Is(err, errDiffers):
			return c, err
		}
		if time.Now().After(limit) {
			return nil, err
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// begin starts a gate, unless another program does at this moment.
func (f *Finder) begin(ctx context.Context, path string) (*peer.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startLimit, errLate)
	defer cancel()
	if err := directory(path); err != nil {
		return nil, problem(path, err)
	}
	unlock, err := lock(ctx, path+".start")
	if err != nil {
		return nil, problem(path, err)
	}
	defer unlock()
	c, err := f.changing(ctx, path)
	if !errors.Is(err, peer.ErrNone) {
		return c, wrap(path, err)
	}
	ended, err := f.Start(path)
	if err != nil {
		return nil, problem(path, err)
	}
	for {
		if c, err = f.try(path); !errors.Is(err, peer.ErrNone) && !errors.Is(err, peer.ErrEnding) {
			return c, wrap(path, err)
		}
		select {
		case err := <-ended:
			return nil, problem(path, err)
		case <-time.After(startPoll):
		case <-ctx.Done():
			return nil, problem(path, context.Cause(ctx))
		}
	}
}

var (
	errDiffers = errors.New("the gate decides by other policy files, or its files changed and were refused: see its log, and stopgate check")
	errAnswer  = errors.New("the gate does not describe itself")
	errLate    = errors.New("the gate that was started does not answer")
)

// problem is an error of a path for the client.
func problem(path string, err error) error {
	code := relay.Unreachable
	switch {
	case errors.Is(err, errDiffers):
		code = relay.Differs
	case errors.Is(err, peer.ErrUntrusted), errors.Is(err, peer.ErrWriter):
		code = relay.Untrusted
	}
	return &relay.Problem{Code: code, Detail: fmt.Sprintf("gate at %s: %v", path, err)}
}

func wrap(path string, err error) error {
	if err == nil {
		return nil
	}
	return problem(path, err)
}

// describe asks the gate at a connection for its description.
func describe(c *peer.Conn) (d decide.Description, err error) {
	if _, err := io.WriteString(c, "GET /v1/gate HTTP/1.1\r\nHost: stopgate\r\n\r\n"); err != nil {
		return d, err
	}
	in := bufio.NewReader(c)
	a, err := http.ReadResponse(in, nil)
	if err != nil {
		return d, err
	}
	defer a.Body.Close()
	text, err := io.ReadAll(io.LimitReader(a.Body, maxDescription))
	switch {
	case err != nil:
		return d, err
	case a.StatusCode != http.StatusOK || len(text) == maxDescription || in.Buffered() > 0 || a.Close:
		return d, errAnswer
	}
	if err := json.Unmarshal(text, &d); err != nil {
		return d, errAnswer
	}
	return d, nil
}

const maxDescription = 1 << 20

// same reports whether a gate decides as the one that is wanted.
func same(is, want decide.Description) bool {
	return is.Version == want.Version && is.Tools == want.Tools && len(is.Files) > 0 && slices.Equal(is.Files, want.Files)
}

// conn is a connection for package net/http.
type conn struct{ *peer.Conn }

type address struct{}

func (address) Network() string { return "unix" }
func (address) String() string  { return "stopgate" }

// LocalAddr implements [net.Conn].
func (conn) LocalAddr() net.Addr { return address{} }

// RemoteAddr implements [net.Conn].
func (conn) RemoteAddr() net.Addr { return address{} }

// lock waits until no other process starts a gate at the path.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	for {
		f, err := socket.Lock(path)
		if !errors.Is(err, socket.ErrInUse) {
			return func() { f.Close() }, err
		}
		select {
		case <-time.After(startPoll):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
