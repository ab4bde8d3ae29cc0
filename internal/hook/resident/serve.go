package resident

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/system/owner"
	"github.com/stopgate/stopgate/internal/system/socket"
)

// DefaultIdle is the time without events after which a resident ends.
const DefaultIdle = 30 * time.Minute

// Options configure [Serve].
type Options struct {
	// Idle is the time without requests after which the resident ends, 0 for never.
	Idle time.Duration
	// Log receives a line at the start and at the end; it may be nil.
	Log io.Writer
	// Fetch returns the function that fetches the policy bundles of a channel.
	Fetch func(bundles.Settings) bundles.Fetch
}

// ErrReplaced is returned when the program file was replaced by another version.
var ErrReplaced = errors.New("the program was replaced")

var errIdle = errors.New("no process asks")

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
	at, err := socket.Listen(path)
	if err != nil {
		return err
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ln, err := newListener(at, func() { end(ErrReplaced) })
	if err != nil {
		return errors.Join(err, at.Close())
	}
	h := newHandler(&process.Cache{Compile: prove.Compile, Fetch: o.Fetch})
	server, err := decide.New(decide.Options{Hooks: h, Trouble: log.New(io.Discard, "", 0)})
	if err != nil {
		return errors.Join(err, at.Close())
	}
	debug.SetGCPercent(400)
	o.logf("%s answers hooks at %s", release.Line(process.SmallName), path)
	served := make(chan error, 1)
	go func() {
		err := server.ServeLocal(ln)
		end(err)
		served <- err
	}()
	h.untilIdle(ctx, o.Idle)
	end(errIdle)
	err = server.Close(context.WithoutCancel(ctx))
	err = errors.Join(<-served, err, h.cache.Close())
	o.logf("%d events answered, %d left to who asked", h.answered.Load(), h.declined.Load())
	if errors.Is(context.Cause(ctx), ErrReplaced) {
		err = errors.Join(ErrReplaced, err)
	}
	return err
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
