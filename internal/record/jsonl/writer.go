package jsonl

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
)

// maxWrite bounds the bytes of one write, so that an unfinished write is shorter than
// [auditrow.MaxTorn].
const maxWrite = auditrow.MaxTorn - auditrow.MaxSize

// run is the writer: it writes all queued rows with one write and one sync.
func (r *Recorder) run() {
	defer close(r.ended)
	defer func() { r.closed = r.file.Close() }() // the last one
	var batch []*entry
	for {
		select {
		case e := <-r.queue:
			batch = append(batch[:0], e)
		case <-r.closing:
			select {
			case e := <-r.queue:
				batch = append(batch[:0], e)
			default:
				return
			}
		}
		r.gather()
		batch = r.collect(batch)
		err := r.commit(batch)
		for i, e := range batch {
			e.done <- err
			batch[i] = nil
		}
	}
}

// gather waits while callers that the previous sync released queue their next rows: for a
// fraction of a sync, and not at all with one caller.
func (r *Recorder) gather() {
	for before := -1; before < len(r.queue); {
		before = len(r.queue)
		runtime.Gosched()
	}
}

// collect takes queued rows, up to the size of one write, and drops abandoned ones.
func (r *Recorder) collect(batch []*entry) []*entry {
	first := batch[0]
	batch = batch[:0]
	for size, e := 0, first; ; {
		if e.state.CompareAndSwap(waiting, taken) {
			batch = append(batch, e)
			size += len(e.body) + 2*len(auditrow.Genesis)
		}
		if size > maxWrite {
			return batch
		}
		select {
		case e = <-r.queue:
		default:
			return batch
		}
	}
}

// commit writes and syncs rows; nil means that they are on the disk.
func (r *Recorder) commit(batch []*entry) error {
	if err := r.Err(); err != nil || len(batch) == 0 {
		return err
	}
	if err := r.rotateIfDue(); err != nil {
		return err
	}
	head := r.Head()
	r.buf = r.buf[:0]
	for _, e := range batch {
		head.Seq++
		r.buf, head.Hash = e.body.Seal(r.buf, head.Seq, head.Hash)
	}
	n, err := r.file.Write(r.buf)
	if err == nil && n < len(r.buf) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return r.undo(err)
	}
	if err := r.file.Sync(); err != nil {
		return r.distrust(err)
	}
	r.size += int64(n)
	r.mu.Lock()
	r.head = head
	r.mu.Unlock()
	return nil
}

// undo truncates the file after a write that did not fit. The file is still trusted: the next write
// begins where the failed one did.
func (r *Recorder) undo(cause error) error {
	if err := r.truncateTail(); err != nil {
		return r.distrust(fmt.Errorf("%w, and removing the unfinished row: %w", cause, err))
	}
	return fmt.Errorf("audit log %s: %w", r.path, cause)
}

// truncateTail truncates the file after the last good row and syncs it at once: if the truncation
// were lost and the next write unfinished, old bytes would appear between new ones.
func (r *Recorder) truncateTail() error {
	if err := r.file.Truncate(r.size); err != nil {
		return err
	}
	return r.file.Sync()
}

// distrust ends the use of the file and renames it, so that no later writer continues it: after a
// failed sync the kernel may return bytes that are not on the disk and never will be.
func (r *Recorder) distrust(cause error) error {
	u := &UntrustedError{Path: r.path, Aside: fmt.Sprintf("%s.untrusted-%s-%d", r.path, r.head.Chain, r.head.Seq), Err: cause}
	if r.fs.Rename(r.path, u.Aside) != nil {
		u.Aside = r.path
	}
	r.fs.SyncDir(r.path)
	r.untrusted.Store(u)
	close(r.failed)
	return u
}

// removeTail removes an unfinished write from the end of the file and records that. A tail of more
// than one line is first stored next to the log, for inspection.
func (r *Recorder) removeTail(torn int64) error {
	tail := make([]byte, torn)
	if _, err := r.file.ReadAt(tail, r.size); err != nil {
		return fmt.Errorf("read the unfinished end: %w", err)
	}
	if bytes.IndexByte(tail, '\n') >= 0 {
		if err := r.keep(tail); err != nil {
			return fmt.Errorf("store the unfinished end: %w", err)
		}
	}
	if err := r.truncateTail(); err != nil {
		return fmt.Errorf("remove the unfinished end: %w", err)
	}
	body, err := auditrow.Encode(r.head.Chain, &stopgate.Record{
		Version: stopgate.RecordVersion, Time: r.now().UTC(), Kind: stopgate.RecordEvent,
		Event: stopgate.AuditTornTail, Count: torn,
	})
	if err != nil {
		return err
	}
	return r.commit([]*entry{{body: body}})
}

// keep stores the bytes of an unfinished end next to the log.
func (r *Recorder) keep(tail []byte) (err error) {
	path := fmt.Sprintf("%s.torn-%s-%d", r.path, r.head.Chain, r.head.Seq)
	f, err := r.fs.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.Write(tail); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	return r.fs.SyncDir(path)
}
