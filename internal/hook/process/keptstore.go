package process

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

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
