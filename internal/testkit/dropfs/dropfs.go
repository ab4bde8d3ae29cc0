// Package dropfs is a file system in memory that can lose power. It keeps what
// was written apart from what was synced; a power cut keeps the synced bytes and
// drops, tears and reorders the rest, sector by sector.
//
// It is stricter than a real disk in one more way: after a sync that failed, the
// bytes it was for stay visible and never reach the disk, as with the page cache
// of Linux.
package dropfs

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/stopgate/stopgate/internal/record/jsonl"
)

var _ jsonl.FS = (*FS)(nil)

// Sector is the unit in which unsynced bytes survive a power cut.
const Sector = 512

// Op is one call that a fault can meet.
type Op string

// The calls.
const (
	Open     Op = "open"
	Read     Op = "read"
	Write    Op = "write"
	Sync     Op = "sync"
	Truncate Op = "truncate"
	Size     Op = "size"
	SyncDir  Op = "syncdir"
	Rename   Op = "rename"
	Link     Op = "link"
	Remove   Op = "remove"
)

// ErrFault is what an injected fault returns.
var ErrFault = errors.New("injected fault")

// ErrPower is the fault of the call during which the power goes, and of all calls
// behind it: a write is under way, a sync has not happened. Then comes [FS.Cut].
var ErrPower = errors.New("the power is off")

// Fault decides about the n-th call overall, from 0: nil lets it pass. For a Write
// of which a part gets through, it returns Partial.
type Fault func(op Op, n int) error

// Partial is the fault of a write that stops in the middle: Keep bytes are
// written.
type Partial struct{ Keep int }

// Error names the fault.
func (p Partial) Error() string { return fmt.Sprintf("no space left after %d bytes", p.Keep) }

// FS is the file system. The zero FS is empty and works.
type FS struct {
	// Fault is asked before every call; nil means no faults.
	Fault Fault
	// NoSync makes Sync report success and do nothing: the bug that a test of
	// durability must find.
	NoSync bool

	mu    sync.Mutex
	calls int
	names map[string]*inode // as programs see them
	disk  map[string]*inode // as they survive
}

// inode is a file: what programs see, what the disk holds, and what lies between.
type inode struct {
	view   []byte
	disk   []byte
	pend   []change
	locked bool
}

// change is one unsynced write or, with data nil, a truncation to at.
type change struct {
	at   int
	data []byte
	lost bool // a sync failed over it: it never reaches the disk
}

func (f *FS) step(op Op) error {
	n := f.calls
	f.calls++
	if f.Fault == nil {
		return nil
	}
	return f.Fault(op, n)
}

// Calls returns the number of calls so far, the points at which a fault can be put.
func (f *FS) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Open opens or creates a file and locks it.
func (f *FS) Open(name string) (jsonl.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(Open); err != nil {
		return nil, err
	}
	if f.names == nil {
		f.names, f.disk = map[string]*inode{}, map[string]*inode{}
	}
	n := f.names[name]
	if n == nil {
		n = &inode{}
		f.names[name] = n
	}
	if n.locked {
		return nil, jsonl.ErrInUse
	}
	n.locked = true
	return &file{fs: f, node: n}, nil
}

// SyncDir makes the names of a directory durable.
func (f *FS) SyncDir(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(SyncDir); err != nil {
		return err
	}
	if f.NoSync {
		return nil
	}
	dir := path.Dir(name)
	for n := range f.disk {
		if path.Dir(n) == dir {
			delete(f.disk, n)
		}
	}
	for n, node := range f.names {
		if path.Dir(n) == dir {
			f.disk[n] = node
		}
	}
	return nil
}

// Rename gives a file another name.
func (f *FS) Rename(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(Rename); err != nil {
		return err
	}
	f.names[to] = f.names[from]
	delete(f.names, from)
	return nil
}

// Link gives a file a second name.
func (f *FS) Link(from, to string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(Link); err != nil {
		return err
	}
	if f.names[to] != nil {
		return fs.ErrExist
	}
	f.names[to] = f.names[from]
	return nil
}

// Remove takes a name away.
func (f *FS) Remove(name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.step(Remove); err != nil {
		return err
	}
	if f.names[name] == nil {
		return fs.ErrNotExist
	}
	delete(f.names, name)
	return nil
}

// Bytes returns what a file shows, and whether it exists.
func (f *FS) Bytes(name string) ([]byte, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, ok := f.names[name]
	if !ok {
		return nil, false
	}
	return append([]byte(nil), n.view...), true
}

// Put writes a file that is on the disk.
func (f *FS) Put(name string, data []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.names == nil {
		f.names, f.disk = map[string]*inode{}, map[string]*inode{}
	}
	n := &inode{view: append([]byte(nil), data...), disk: append([]byte(nil), data...)}
	f.names[name], f.disk[name] = n, n
}

// Names returns the names of all files.
func (f *FS) Names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for n := range f.names {
		names = append(names, n)
	}
	return names
}
