// Package spool stores lines that a store cannot take yet in files next to it, and delivers them
// later.
//
// Every process appends to a file of its own, which it holds a lock on, and syncs it before a line
// counts as stored. [Dir.Drain] delivers this process's file and the files of processes that have
// ended. A file is removed after its lines are taken; a crash in between delivers them again, so
// that the receiver must drop duplicates.
package spool

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/internal/system/atomicfile"
)

// MaxBytes bounds the spool of one process: beyond it [Dir.Append] fails with [ErrFull].
const MaxBytes = 64 << 20

// ErrFull reports that a process has spooled as much as it may.
var ErrFull = errors.New("the spool is full")

// suffix ends the names of spool files.
const suffix = ".jsonl"

// Dir is the spool of one store.
type Dir struct {
	path string
	max  int64

	mu        sync.Mutex
	own       *os.File // nil before the first line, and after its lines were taken
	size      int64
	undrained map[string]int64 // sizes of files of this process whose lines were not taken yet
}

// At returns the spool of a store's file, without creating it.
func At(store string) *Dir { return &Dir{path: store + "-spool", max: MaxBytes} }

// Limit changes how many bytes this process may spool.
func (d *Dir) Limit(bytes int64) { d.max = bytes }

// Append stores lines, each ended by one line feed, and returns after they are synced. After an
// error none of them counts as stored.
func (d *Dir) Append(lines []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	total := d.size + int64(len(lines))
	for _, size := range d.undrained {
		total += size
	}
	if total > d.max {
		return ErrFull
	}
	if err := d.open(); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	_, err := d.own.Write(lines)
	if err == nil {
		err = d.own.Sync()
	}
	if err != nil {
		// An unfinished line must not join the next one. After a failed sync the content of the
		// file is delivered, but lines are no longer appended to it.
		if d.own.Truncate(d.size) != nil || d.size > 0 {
			_ = d.own.Close()
			d.leave(strings.TrimSuffix(d.own.Name(), suffix) + suffix)
		}
		return fmt.Errorf("spool: %w", err)
	}
	d.size += int64(len(lines))
	return nil
}

// open creates this process's file, which is locked before it gets its name.
func (d *Dir) open() error {
	if d.own != nil {
		return nil
	}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return err
	}
	name := filepath.Join(d.path, rand.Text())
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	if _, err = lock(f); err == nil {
		err = os.Rename(name, name+suffix)
	}
	if err == nil {
		err = atomicfile.SyncDir(d.path)
	}
	if err != nil {
		_ = f.Close()
		_ = os.Remove(name)
		_ = os.Remove(name + suffix)
		return err
	}
	d.own, d.size = f, 0
	return nil
}

// Waiting returns the number of files to drain.
func (d *Dir) Waiting() int { return len(d.names()) }

func (d *Dir) names() (list []string) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && e.Type().IsRegular() {
			list = append(list, filepath.Join(d.path, e.Name()))
		}
	}
	return list
}

// Drain delivers the lines of this process and of processes that have ended. take receives the
// complete lines of one file; if it fails, the file remains.
func (d *Dir) Drain(take func(lines [][]byte) error) error {
	if err := d.drainOwn(take); err != nil {
		return err
	}
	for _, name := range d.names() {
		if err := d.drainOther(name, take); err != nil {
			return err
		}
	}
	return nil
}

func (d *Dir) drainOwn(take func([][]byte) error) error {
	d.mu.Lock()
	f := d.own
	name := ""
	if f != nil {
		name = strings.TrimSuffix(f.Name(), suffix) + suffix
		d.leave(name)
	}
	d.mu.Unlock()
	if f == nil {
		return nil
	}
	defer f.Close()
	return d.handOver(name, take)
}

// leave closes this process's file for writing; new lines go to another one. The caller holds d.mu.
func (d *Dir) leave(name string) {
	if d.undrained == nil {
		d.undrained = map[string]int64{}
	}
	d.undrained[name] += d.size
	d.own, d.size = nil, 0
}

func (d *Dir) drainOther(name string, take func([][]byte) error) error {
	f, err := os.OpenFile(name, os.O_RDWR|noFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	defer f.Close()
	free, err := lock(f)
	if err != nil || !free {
		return err
	}
	return d.handOver(name, take)
}

// handOver delivers the lines of a locked file and removes it.
func (d *Dir) handOver(name string, take func([][]byte) error) error {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		d.taken(name)
		return nil // another process drained it
	}
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	var lines [][]byte
	in := bufio.NewReader(bytes.NewReader(text))
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break // an unfinished line was never acknowledged
		}
		lines = append(lines, line[:len(line)-1])
	}
	if err := take(lines); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	d.taken(name)
	return nil
}

func (d *Dir) taken(name string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.undrained, name)
}
