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
	"github.com/stopgate/stopgate/internal/store/backend"
)

// Delegation is an event that another process received and delegates to this one.
type Delegation struct {
	Caller Caller
	Args   []string // the command line
	// Spent is the time since the other process started.
	Spent time.Duration
	// Left reports whether the other process has left, and decides itself.
	Left func() bool
	// Nonce identifies the event in both processes.
	Nonce string
	// Waits is called when an approval is requested, or another hook decides about the call, so
	// that the answer may take until the deadline.
	Waits func()
}

// Answer answers an event as [Small] does in a process of its own. ok is false if the other process
// has to decide: for events that need the full program, that have no store, or whose command line
// has relative paths.
func (k *Cache) Answer(ctx context.Context, v Delegation, s Streams) (code int, lenient, ok bool) {
	f, set, err := parse(v.Args)
	if err != nil || !f.absolute() {
		return 0, false, false
	}
	d := &delegated{kept: k, waits: v.Waits, left: v.Left}
	p := Program{Compile: k.Compile, Fetch: k.Fetch, Caller: v.Caller, Spent: max(v.Spent, 0) + f.Deadline/100, Nonce: v.Nonce, delegated: d}
	code = p.Serve(ctx, set.Args(), f, s)
	d.leave()
	return code, f.Observe, !d.declined.Load()
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

// delegated is the state of a delegated event.
type delegated struct {
	kept     *Cache
	waits    func()
	left     func() bool
	declined atomic.Bool

	mu      sync.Mutex
	ended   bool
	release func()
}

// errDeclined is returned to the gate for an event that the other process has to decide.
var errDeclined = errors.New("the client has to decide")

func (g *delegated) decline() error {
	g.declined.Store(true)
	return errDeclined
}

// open opens a store until the event is answered. After the deadline the gate may still be working:
// then the store is never released, and closed with the process.
func (g *delegated) open(ctx context.Context, settings place.Settings) (backend.Store, error) {
	store, release, err := g.kept.open(ctx, settings)
	if errors.Is(err, errFull) {
		return nil, g.decline()
	}
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.ended {
		g.release = release
	}
	return store, nil
}

func (g *delegated) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ended = true
	if g.release != nil {
		g.release()
	}
}

// waiting calls notify when an approver requests an approval.
type waiting struct {
	gate.Approver
	notify func()
}

// Approve implements [gate.Approver].
func (w waiting) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	w.notify()
	return w.Approver.Approve(ctx, q)
}
