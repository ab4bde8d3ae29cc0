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
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/location"
)

// cachedStore is an open store, or one that is being opened.
type cachedStore struct {
	settings place.Settings
	opening  sync.Mutex
	store    backend.Store                 // nil until it is open
	file     fs.FileInfo                   // file of its name when it was opened
	parts    atomic.Pointer[[]fs.FileInfo] // all files of the open store that it has locks on; nil if unknown
	users    int                           // guarded by Cache.mu
	stale    bool                          // not reused: guarded by Cache.mu
}

// errFull is returned if there are more stores than the limit.
var errFull = errors.New("too many open stores")

// open opens a store, or returns the open one if its name still refers to the same file: a store
// that was removed or replaced is opened again, as another process would. The caller must release
// it.
func (k *Cache) open(ctx context.Context, settings place.Settings) (store backend.Store, release func(), err error) {
	s, err := k.store(settings)
	if err != nil {
		return nil, nil, err
	}
	release = func() { k.release(s) }
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.store == nil {
		if s.store, err = settings.Open(ctx); err == nil && location.IsFile(settings.Store) {
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

// store returns the cache entry of a store.
func (k *Cache) store(settings place.Settings) (*cachedStore, error) {
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
	s := &cachedStore{settings: settings, users: 1}
	k.stores = append(k.stores, s)
	return s, nil
}

// current reports whether a store may be reused: its name still refers to its file. One that is
// being opened is current.
func (s *cachedStore) current() bool {
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
	if !location.IsFile(s.settings.Store) {
		return true
	}
	now, err := os.Stat(s.settings.Store)
	return err == nil && os.SameFile(now, s.file)
}

func (k *Cache) retire(s *cachedStore) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.stale = true
}

func (k *Cache) release(s *cachedStore) {
	k.mu.Lock()
	defer k.mu.Unlock()
	s.users--
	k.sweep()
}

// sweep closes stale stores without users; k.mu is held.
func (k *Cache) sweep() {
	rest := k.stores[:0]
	for _, s := range k.stores {
		switch {
		case !s.stale || s.users > 0:
			rest = append(rest, s)
		case s.store != nil:
			_ = s.store.Close() // every row is durable, and the file belongs to another store now
		}
	}
	clear(k.stores[len(rest):])
	k.stores = rest
}

// Close closes the stores, which must not be in use.
func (k *Cache) Close() error {
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

// held reports whether a file belongs to an open store: opening and closing it would release this
// process's locks on it, which the system keeps by process. A file that was already opened stays
// open as long as the process lives.
func (k *Cache) held(file fs.FileInfo, open *os.File) bool {
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

// storeFiles returns the suffixes of the files on which a store has locks.
func storeFiles() []string { return []string{"", "-wal", "-shm"} }

// named returns the files that have the names of the store now. An open store keeps those that had
// them when it was opened.
func (s *cachedStore) named() (list []fs.FileInfo) {
	for _, part := range storeFiles() {
		if info, err := os.Stat(s.settings.Store + part); err == nil {
			list = append(list, info)
		}
	}
	return list
}
