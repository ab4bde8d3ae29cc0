package process

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/hook"
	"github.com/stopgate/stopgate/hook/once"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/place"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/store/sqlite"
)

// Kept is what a process keeps that answers many events: compiled policies by all that
// they were made of, open stores, and who decides about which call. What an event is
// decided by is read anew for each: the bytes of the policy files, what is trusted, orders
// and grants. The zero Kept is empty, and safe for concurrent use.
type Kept struct {
	mu       sync.Mutex
	programs map[[sha256.Size]byte]*keptProgram
	stores   []*keptStore
	desks    map[string]*once.Desk
	hosts    map[string]*hook.Host
	begun    map[string]beginning
	unclosed []*os.File
	clock    int64 // counts uses
}

// Bounds of what is kept. What does not fit is made anew, or left to the asker.
const (
	maxPrograms = 32
	maxStores   = 8
	maxDesks    = 64
	maxBegun    = 1024
)

type keptProgram struct {
	program  *policy.Program
	bindings *gate.Bindings
	used     int64
}

// compile finds the program of some files under some options, or makes it. A program
// with mistakes is never kept.
func (k *Kept) compile(set config.Set, o policy.Options, compile func() (*policy.Program, diag.List)) (*policy.Program, *gate.Bindings, diag.List) {
	if k == nil {
		program, mistakes := compile()
		return program, nil, mistakes
	}
	sum := sha256.New()
	fmt.Fprintf(sum, "%q %q %q %q %t %t %t %d %s\n", o.Root, o.Home, o.Dir, o.Run, o.RunDoubt, o.RunLost, o.Strict, o.UnknownTool, digest(o.Settings))
	for _, f := range set.Files {
		fmt.Fprintf(sum, "%q %t %q %s ", f.Path, f.Trusted, f.Root, f.Hash)
	}
	key := [sha256.Size]byte(sum.Sum(nil))
	if p := k.known(key, nil); p != nil {
		return p.program, p.bindings, nil
	}
	program, mistakes := compile()
	if program == nil || mistakes.HasErrors() {
		return program, nil, mistakes
	}
	p := k.known(key, &keptProgram{program: program, bindings: new(gate.Bindings)})
	return p.program, p.bindings, mistakes
}

// known returns the program of a key, which is kept if there is none yet.
func (k *Kept) known(key [sha256.Size]byte, made *keptProgram) *keptProgram {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := k.programs[key]
	if p == nil && made != nil {
		if k.programs == nil {
			k.programs = make(map[[sha256.Size]byte]*keptProgram)
		}
		for len(k.programs) >= maxPrograms {
			var oldest [sha256.Size]byte
			first := int64(-1)
			for other, q := range k.programs {
				if first < 0 || q.used < first {
					oldest, first = other, q.used
				}
			}
			delete(k.programs, oldest)
		}
		k.programs[key], p = made, made
	}
	if p != nil {
		k.clock++
		p.used = k.clock
	}
	return p
}

// keptStore is an open store, or one that is being opened.
type keptStore struct {
	settings place.Settings
	opening  sync.Mutex
	store    *sqlite.Store                 // nil until it is open
	file     fs.FileInfo                   // under its name when it was opened
	parts    atomic.Pointer[[]fs.FileInfo] // of the open store, all that it has locks on; nil if that is not known
	users    int                           // Kept.mu
	stale    bool                          // nobody else gets it: Kept.mu
}

// errFull says that there are more stores than are kept.
var errFull = errors.New("there are too many stores")

// open opens a store, or takes the open one if it is still what its name means: what was
// removed or replaced is opened anew, as another process would. The caller releases it.
func (k *Kept) open(ctx context.Context, settings place.Settings) (store *sqlite.Store, release func(), err error) {
	s, err := k.store(settings)
	if err != nil {
		return nil, nil, err
	}
	release = func() { k.release(s) }
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.store == nil {
		if s.store, err = settings.Open(ctx); err == nil {
			s.file, err = os.Stat(settings.Store)
			if parts := s.named(); len(parts) == len(storeFiles()) {
				s.parts.Store(&parts)
			}
		}
		if err != nil {
			k.retire(s)
			release()
			return nil, nil, err
		}
	}
	return s.store, release, nil
}

// store finds the place of a store among those that are kept.
func (k *Kept) store(settings place.Settings) (*keptStore, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, s := range k.stores {
		if !s.stale && s.settings.Same(settings) {
			if s.current() {
				s.users++
				return s, nil
			}
			s.stale = true
		}
	}
	k.sweep()
	if len(k.stores) >= maxStores {
		return nil, errFull
	}
	s := &keptStore{settings: settings, users: 1}
	k.stores = append(k.stores, s)
	return s, nil
}

// current reports whether a store is trusted, and its file the one under its name. One
// that is being opened is.
func (s *keptStore) current() bool {
	if !s.opening.TryLock() {
		return true
	}
	defer s.opening.Unlock()
	if s.store == nil {
		return true
	}
	select {
	case <-s.store.Failed():
		return false
	default:
	}
	now, err := os.Stat(s.settings.Store)
	return err == nil && os.SameFile(now, s.file)
}

func (k *Kept) retire(s *keptStore) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.stale = true
}

func (k *Kept) release(s *keptStore) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.users--
	k.sweep()
}

// sweep closes stale stores that nobody uses; k.mu is held.
func (k *Kept) sweep() {
	rest := k.stores[:0]
	for _, s := range k.stores {
		switch {
		case !s.stale || s.users > 0:
			rest = append(rest, s)
		case s.store != nil:
			_ = s.store.Close() // every row is durable, and the file is not ours any more
		}
	}
	clear(k.stores[len(rest):])
	k.stores = rest
}

// Close closes the stores. Nobody uses them any more.
func (k *Kept) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, s := range k.stores {
		if s.store != nil {
			errs = append(errs, s.store.Close())
		}
	}
	k.stores = nil
	return errors.Join(errs...)
}

// held reports whether a file belongs to an open store: to open and close it would take
// this process's locks on it away, which the system keeps by process. One that was opened
// already stays open, as long as the process lives.
func (k *Kept) held(file fs.FileInfo, open *os.File) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	yes := false
	for _, s := range k.stores {
		parts := s.parts.Load()
		if parts == nil {
			now := s.named()
			parts = &now
		}
		yes = yes || slices.ContainsFunc(*parts, func(part fs.FileInfo) bool { return os.SameFile(part, file) })
	}
	if yes && open != nil {
		k.unclosed = append(k.unclosed, open)
	}
	return yes
}

// storeFiles are what the name of a store ends in where it has locks.
func storeFiles() []string { return []string{"", "-wal", "-shm"} }

// named are the files that have the names of the store now. An open store keeps those that
// had them when it was opened.
func (s *keptStore) named() (list []fs.FileInfo) {
	for _, part := range storeFiles() {
		if info, err := os.Stat(s.settings.Store + part); err == nil {
			list = append(list, info)
		}
	}
	return list
}

// desk is where it is known who decides about a call.
func (k *Kept) desk(dir, rules string) *once.Desk {
	if k == nil {
		return once.At(dir, rules)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	key := dir + "\x00" + rules
	if d := k.desks[key]; d != nil {
		return d
	}
	if k.desks == nil || len(k.desks) >= maxDesks {
		k.desks = make(map[string]*once.Desk)
	}
	d := once.At(dir, rules)
	k.desks[key] = d
	return d
}

// host is a host by its name.
func (k *Kept) host(name string) (*hook.Host, error) {
	if k == nil {
		return hook.Lookup(name)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if h := k.hosts[name]; h != nil {
		return h, nil
	}
	h, err := hook.Lookup(name)
	if err == nil {
		if k.hosts == nil {
			k.hosts = make(map[string]*hook.Host)
		}
		k.hosts[name] = h
	}
	return h, err
}

// beginning is what a file of [projects] says, and what was read.
type beginning struct {
	file fs.FileInfo
	dir  string
}

// began is what was read of a file that is written once, if it is that file still.
func (k *Kept) began(path string, now fs.FileInfo) (dir string, ok bool) {
	if k == nil {
		return "", false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	b, ok := k.begun[path]
	return b.dir, ok && os.SameFile(b.file, now) && b.file.ModTime().Equal(now.ModTime()) && b.file.Size() == now.Size() && b.file.Mode() == now.Mode()
}

func (k *Kept) keepBeginning(path string, file fs.FileInfo, dir string) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.begun == nil || len(k.begun) >= maxBegun {
		k.begun = make(map[string]beginning)
	}
	k.begun[path] = beginning{file, dir}
}

// Visit is an event that another process was asked about, and asks this one.
type Visit struct {
	Caller Caller
	Args   []string // the command line
	// Spent is how long the other process has been at it.
	Spent time.Duration
	// Waits is called when a person is asked, and the answer may take as long as the
	// deadline lets it.
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
