package process

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// Visit is an event that another process was asked about, and asks this one.
type Visit struct {
	Caller Caller
	Args   []string // the command line
	// Spent is how long the other process has been at it.
	Spent time.Duration
	// Waits is called when a person is asked, or another hook decides about the call, and
	// the answer may take as long as the deadline lets it.
	Waits func()
}

// Answer answers an event as [Small] does in a process of its own. It reports false for
// what the other process has to do itself: what takes the full program, what has no store,
// and whatever is said relative to its working directory.
func (k *Kept) Answer(ctx context.Context, v Visit, s Streams) (code int, lenient, ok bool) {
	f, set, err := parse(v.Args)
	if err != nil || !f.absolute() {
		return 0, false, false
	}
	guest := &guest{kept: k, waits: v.Waits}
	p := Program{Caller: v.Caller, Spent: max(v.Spent, 0) + f.Deadline/100, guest: guest}
	code = p.Serve(ctx, set.Args(), f, s)
	guest.leave()
	return code, f.Observe, !guest.declined.Load()
}

// absolute reports whether the files of a command line are the same for every process.
func (f *Flags) absolute() bool {
	store, err := place.StorePath(f.Place.Store)
	if err != nil || f.Place.Store != "" && !filepath.IsAbs(store) {
		return false
	}
	for _, name := range f.Policies {
		real, err := filepath.EvalSymlinks(name)
		if err != nil || !filepath.IsAbs(name) || strings.HasPrefix(real, "/proc/") || strings.HasPrefix(real, "/dev/") {
			return false
		}
	}
	return true
}

// guest is what an event has of the process that answers it.
type guest struct {
	kept     *Kept
	waits    func()
	declined atomic.Bool

	mu      sync.Mutex
	left    bool
	release func()
}

// errDeclined is what the gate is told of an event that the other process has to decide.
var errDeclined = errors.New("the process that was asked has to decide")

func (g *guest) decline() error {
	g.declined.Store(true)
	return errDeclined
}

// open opens a store until the event is answered. The gate may be at work after the
// deadline: then the store is never released, and closed with the process.
func (g *guest) open(ctx context.Context, settings place.Settings) (*sqlite.Store, error) {
	store, release, err := g.kept.open(ctx, settings)
	if errors.Is(err, errFull) {
		return nil, g.decline()
	}
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.left {
		g.release = release
	}
	return store, nil
}

func (g *guest) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.left = true
	if g.release != nil {
		g.release()
	}
}

// waiting tells when an approver asks a person.
type waiting struct {
	gate.Approver
	told func()
}

// Approve implements [gate.Approver].
func (w waiting) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	w.told()
	return w.Approver.Approve(ctx, q)
}
