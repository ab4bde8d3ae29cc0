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

// tables is how many there are, one for each first digit of keys: few, so that what is over
// does not stand there for long, and more than one, so that few wait for each other.
const tables = 16

// key names calls that may be one, in hexadecimal digits.
type key [32]byte

// table is a file of claims, and the right to read and write it: nobody has that for longer
// than it takes to change a line.
//
// A line is a key, the lane of who decides, or a dash once there is an answer, a time, and
// the rest as JSON. An empty line is the end: what stands behind it, or behind a line that
// is torn, does not count.
type table struct {
	file   *os.File
	name   string // of the table and its lanes, without their endings
	claims []claim
	size   int // of the file, in bytes

	desk *Desk
	// What was read, which the claims are parts of, and what was written: room for the next
	// table of the desk.
	text, next []byte
}

// maxTable is how much of a table is read, in bytes: there is less.
const maxTable = 256 << 20

// open takes the table of a key in hand.
func (d *Desk) open(ctx context.Context, k key) (*table, error) {
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
	t, _ := d.tables.Get().(*table)
	if t == nil {
		t = &table{desk: d, text: make([]byte, usual)}
	}
	t.file, t.name = f, name
	if err := t.lock(ctx); err != nil {
		t.close()
		return nil, err
	}
	return t, nil
}

// lock takes the table in hand, and reads it.
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

// unlock lets others have it.
func (t *table) unlock() error { return unlock(t.file) }

// close ends the use of the table.
func (t *table) close() error {
	err := t.file.Close()
	clear(t.claims)
	if t.file, t.claims = nil, t.claims[:0]; len(t.text) <= long {
		t.desk.tables.Put(t)
	}
	return err
}

// usual is how long a table mostly is, in bytes, and long what no room is kept for.
const (
	usual = 4 << 10
	long  = 64 << 10
)

func (t *table) read() error {
	n, err := t.file.ReadAt(t.text, 0)
	for err == nil && len(t.text) < maxTable { // there is more
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

// find finds the claim that a call can be about, which is being decided, young, or the one
// that was waited for; nil if there is none. Of those of other hosts that is the newest one
// whose answer the call's host has not got.
func (t *table) find(k key, c Call, waited caller) (found *claim) {
	now := t.desk.now()
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

// of is the claim of who has a lane; nil if there is none.
func (t *table) of(k key, lane int) *claim {
	i := slices.IndexFunc(t.claims, func(other claim) bool { return other.key == k && other.lane == lane })
	if i < 0 || !t.claims[i].understand() {
		return nil
	}
	return &t.claims[i]
}

// write writes the claims over what stood there, of which nothing stays. What makes the file
// longer is written first, behind the end, where it does not count: if there is no room for
// it, what stood there still does. A file that is cut and written again is brought to the
// disk when it is closed, by some file systems; only one that was long is.
func (t *table) write() error {
	text := slices.Grow(t.next[:0], t.size+usual/4)
	for i := range t.claims {
		text = t.claims[i].append(text)
	}
	text = append(text, '\n')
	end := len(text)
	if end < t.size {
		text = append(text, bytes.Repeat([]byte(" "), t.size-end)...)
	}
	t.next = text
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

// forget drops the claim that a new one takes the place of, and those that nobody can be
// about any more. What is being decided stays, and so do other calls with the same key: their
// own second hooks may still come.
func (t *table) forget(now time.Time, replaced key, by caller) {
	t.claims = slices.DeleteFunc(t.claims, func(k claim) bool {
		return (k.key == replaced && k.caller == by || k.age(now) >= 2*Window) && !t.decides(&k)
	})
}

// decides reports whether somebody decides about a claim.
func (t *table) decides(k *claim) bool {
	if k.answered() {
		return false
	}
	f, free, err := t.try(k.lane, 0)
	if f != nil {
		f.Close()
	}
	return !free && !errors.Is(err, fs.ErrNotExist) // who cannot be looked at decides
}

// lane takes a lane that no claim names.
func (t *table) lane() (lane int, mine *os.File, err error) {
	for ; ; lane++ {
		if slices.ContainsFunc(t.claims, func(k claim) bool { return k.lane == lane }) {
			continue
		}
		f, free, err := t.try(lane, os.O_CREATE)
		if err != nil {
			return 0, nil, err
		}
		if free {
			return lane, f, nil
		}
		f.Close() // of one that has just answered
	}
}

// try takes a lane, if nobody else has it.
func (t *table) try(lane, flag int) (f *os.File, free bool, err error) {
	if f, err = plainfile.Open(fmt.Sprintf("%s-%d.lane", t.name, lane), os.O_RDWR|flag, 0o600); err != nil {
		return nil, false, err
	}
	if free, err = lock(f); err != nil {
		f.Close()
		return nil, false, err
	}
	return f, free, nil
}
