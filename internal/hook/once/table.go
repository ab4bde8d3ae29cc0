package once

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/stopgate/stopgate/internal/system/plainfile"
)

// tables is the number of tables, one for each first digit of keys: few, so that old lines are
// overwritten soon, and several, to reduce waiting for locks.
const tables = 16

// key identifies calls that may be the same, in hexadecimal digits.
type key [32]byte

// table is a file of claims with its lock, which is held only to change a line.
//
// A line is a key, the slot of the deciding process, or a dash if there is an answer, a time, and
// the rest as JSON. An empty line is the end: text after it, or after a torn line, is ignored.
type table struct {
	file   *os.File
	name   string // path of the table and its slots, without suffix
	claims []claim
	size   int // size of the file in bytes

	registry *Registry
	text     []byte // that was read, which contains the claims
}

// maxTable is the maximum number of bytes that are read from a table, far more than one has.
const maxTable = 256 << 20

// open opens and locks the table of a key.
func (d *Registry) open(ctx context.Context, k key) (*table, error) {
	name := filepath.Join(d.dir, fmt.Sprintf("%c", k[0]))
	f, err := plainfile.Open(name+".calls", os.O_RDWR|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(d.dir, 0o700); err != nil {
			return nil, err
		}
		f, err = plainfile.Open(name+".calls", os.O_RDWR|os.O_CREATE, 0o600)
	}
	if err != nil {
		return nil, err
	}
	t := &table{file: f, name: name, registry: d, text: make([]byte, usual)}
	if err := t.lock(ctx); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// lock locks the table and reads it.
func (t *table) lock(ctx context.Context) error {
	for wait := 50 * time.Microsecond; ; wait = min(2*wait, patience) {
		free, err := lock(t.file)
		if err != nil {
			return fmt.Errorf("lock %s: %w", t.file.Name(), err)
		}
		if free {
			return t.read()
		}
		if err := pause(ctx, wait); err != nil {
			return err
		}
	}
}

// unlock unlocks the table.
func (t *table) unlock() error { return unlock(t.file) }

// close closes the table.
func (t *table) close() error { return t.file.Close() }

// usual is the initial size of a table's buffer in bytes, and long the size of a file from which on it
// is truncated.
const (
	usual = 4 << 10
	long  = 64 << 10
)

func (t *table) read() error {
	n, err := t.file.ReadAt(t.text, 0)
	for err == nil && len(t.text) < maxTable { // more to read
		t.text = make([]byte, 4*len(t.text))
		n, err = t.file.ReadAt(t.text, 0)
	}
	if err != nil && err != io.EOF {
		return err
	}
	t.claims, t.size = t.claims[:0], n
	for rest := t.text[:n]; ; {
		end := bytes.IndexByte(rest, '\n') + 1
		k, ok := parse(rest[:end])
		if !ok {
			return nil
		}
		t.claims, rest = append(t.claims, k), rest[end:]
	}
}

// find returns the claim that a call can be about: one that is being decided, young, or the one
// that was waited for; nil if there is none. Of those of other hosts it is the newest one whose
// answer the call's host has not received.
func (t *table) find(k key, c Call, waited caller) (found *claim) {
	now := t.registry.now()
	for i := range t.claims {
		other := &t.claims[i]
		switch {
		case other.key != k || !other.understand() || !other.about(c):
		case other.age(now) >= Window && other.caller != waited && !t.decides(other):
		case other.host == c.Host:
			return other
		case found == nil || other.given(c.Host) < other.share(c):
			found = other
		}
	}
	return found
}

// of returns the claim with a slot, nil if there is none.
func (t *table) of(k key, slot int) *claim {
	i := slices.IndexFunc(t.claims, func(other claim) bool { return other.key == k && other.slot == slot })
	if i < 0 || !t.claims[i].understand() {
		return nil
	}
	return &t.claims[i]
}

// write overwrites the file with the claims. If the file grows, the part after its current end is
// written first, where it does not count: if there is no space for it, the old content still
// counts. Some file systems flush a file that is truncated and written again when it is closed, so
// only a long one is truncated.
func (t *table) write() error {
	text := make([]byte, 0, t.size+usual/4)
	for i := range t.claims {
		text = t.claims[i].append(text)
	}
	text = append(text, '\n')
	end := len(text)
	if end < t.size {
		text = append(text, bytes.Repeat([]byte(" "), t.size-end)...)
	}
	if t.size > 0 && end > t.size {
		if _, err := t.file.WriteAt(text[t.size:], int64(t.size)); err != nil {
			return err
		}
		text = text[:t.size]
	}
	_, err := t.file.WriteAt(text, 0)
	if err == nil && t.size > long && end < usual {
		err = t.file.Truncate(int64(end))
	}
	return err
}

// forget drops the claim that a new one replaces, and those that no call can be about any more.
// Claims that are being decided stay, and so do other calls with the same key: their second hooks
// may still come.
func (t *table) forget(now time.Time, replaced key, by caller) {
	t.claims = slices.DeleteFunc(t.claims, func(k claim) bool {
		return (k.key == replaced && k.caller == by || k.age(now) >= 2*Window) && !t.decides(&k)
	})
}

// decides reports whether a process is deciding about a claim.
func (t *table) decides(k *claim) bool {
	if k.answered() {
		return false
	}
	f, free, err := t.try(k.slot, 0)
	if f != nil {
		f.Close()
	}
	return !free && !errors.Is(err, fs.ErrNotExist) // assume so if the slot cannot be checked
}

// takeSlot locks a slot that no claim has.
func (t *table) takeSlot() (slot int, file *os.File, err error) {
	for ; ; slot++ {
		if slices.ContainsFunc(t.claims, func(k claim) bool { return k.slot == slot }) {
			continue
		}
		f, free, err := t.try(slot, os.O_CREATE)
		if err != nil {
			return 0, nil, err
		}
		if free {
			return slot, f, nil
		}
		f.Close() // slot of a process that has just answered
	}
}

// try locks a slot, if no other process has it.
func (t *table) try(slot, flag int) (f *os.File, free bool, err error) {
	if f, err = plainfile.Open(fmt.Sprintf("%s-%d.lane", t.name, slot), os.O_RDWR|flag, 0o600); err != nil {
		return nil, false, err
	}
	if free, err = lock(f); err != nil {
		f.Close()
		return nil, false, err
	}
	return f, free, nil
}
