package jsonl

import (
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
)

// A rotated log consists of several files: the one that is written, and next to it the full ones,
// each with its chain and the number of its last row in its name. They are one chain. Every file
// but the first begins with a checkpoint row that names the last row of the previous file.
//
// The name of the log exists at every moment, so that no other writer can take it: the new file is
// created under another name and replaces the old one, which has a second name by then. The next
// Open cleans up after a crash.

// nextName returns the name under which the next file is created.
func nextName(path string) string { return path + ".next" }

// segmentName returns the name of a full file.
func segmentName(path, chain string, last int64) string {
	return fmt.Sprintf("%s.%s-%016d", path, chain, last)
}

// rotates reports whether rotation is configured.
func (r *Recorder) rotates() bool { return r.rotateBytes > 0 || r.rotateAge > 0 }

// rotateRetry is the pause after a failed rotation.
const rotateRetry = time.Minute

// due reports whether the next row belongs into a new file.
func (r *Recorder) due(now time.Time) bool {
	if r.size == 0 || now.Before(r.retryAt) {
		return false
	}
	return r.rotateBytes > 0 && r.size >= r.rotateBytes || r.rotateAge > 0 && now.Sub(r.since) >= r.rotateAge
}

// rotateIfDue starts a new file if it is time. If that fails, no row is lost: the log continues in
// the old file.
func (r *Recorder) rotateIfDue() error {
	now := r.now()
	if !r.due(now) {
		return nil
	}
	err := r.rotate(now)
	var untrusted *UntrustedError
	switch {
	case errors.As(err, &untrusted):
		return err
	case err != nil:
		r.retryAt = now.Add(rotateRetry)
		r.trouble(fmt.Errorf("rotate the audit log %s: %w", r.path, err))
	}
	return nil
}

// rotate makes a new file the log.
func (r *Recorder) rotate(now time.Time) (err error) {
	head := r.Head()
	body, err := auditrow.Encode(head.Chain, &stopgate.Record{
		Version: stopgate.RecordVersion, Time: now.UTC(), Kind: stopgate.RecordEvent, Event: stopgate.AuditCheckpoint,
		Checkpoint: &stopgate.Checkpoint{Seq: head.Seq, Hash: head.Hash},
	})
	if err != nil {
		return err
	}
	full := segmentName(r.path, head.Chain, head.Seq)
	next, err := r.fs.Open(nextName(r.path))
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, next.Close())
		}
	}()
	if err := next.Truncate(0); err != nil { // left by a rotation that a crash interrupted
		return err
	}
	head.Seq++
	line, hash := body.Seal(nil, head.Seq, head.Hash)
	head.Hash = hash
	if _, err := next.Write(line); err != nil {
		return err
	}
	if err := next.Sync(); err != nil {
		return err
	}
	if err := r.fs.Link(r.path, full); err != nil {
		return err
	}
	if err = r.fs.SyncDir(r.path); err == nil {
		err = r.fs.Rename(nextName(r.path), r.path)
	}
	if err != nil {
		// Later rows must not appear under the name of a full file.
		if undo := errors.Join(r.fs.Remove(full), r.fs.SyncDir(r.path)); undo != nil {
			return r.distrust(fmt.Errorf("%w, and removing its second name: %w", err, undo))
		}
		return err
	}
	old := r.file
	r.mu.Lock()
	r.file, r.size, r.since, r.head = next, int64(len(line)), now, head
	r.mu.Unlock()
	if err := old.Close(); err != nil {
		r.trouble(fmt.Errorf("close %s: %w", full, err))
	}
	if err := r.fs.SyncDir(r.path); err != nil {
		// After a power cut the name may belong to either file.
		return r.distrust(err)
	}
	return nil
}

// unlink removes the leftovers of a rotation that a crash interrupted: the second name of the file,
// and the next file.
func (r *Recorder) unlink() error {
	for _, name := range []string{segmentName(r.path, r.head.Chain, r.head.Seq), nextName(r.path)} {
		err := r.fs.Remove(name)
		if err == nil { // before any row is written to it
			err = r.fs.SyncDir(r.path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
