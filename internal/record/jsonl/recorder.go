package jsonl

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/auditrow"
)

// Errors of Open and Record.
var (
	ErrInUse  = errors.New("another stopgate writes to this audit log; give each its own file")
	ErrClosed = errors.New("the audit log is closed")
)

// UntrustedError reports that a sync failed: the content of the file is unknown, and the recorder
// no longer writes to it (FM4).
type UntrustedError struct {
	Path  string
	Aside string // current name of the file; Path if it could not be renamed
	Err   error
}

// Error returns the text of the error, with the remedy.
func (e *UntrustedError) Error() string {
	return fmt.Sprintf("audit log %s is not trusted any more after a failed sync: %v; it is kept as %s; "+
		"check the disk and start again, the log goes on in a new file", e.Path, e.Err, e.Aside)
}

// Unwrap returns the error of the sync.
func (e *UntrustedError) Unwrap() error { return e.Err }

// Options configure Open. The zero Options suit all programs; FS and Now are for tests.
type Options struct {
	FS  FS               // nil: the file system of the operating system
	Now func() time.Time // time of the rows that the recorder writes itself; nil: time.Now
	// RotateBytes and RotateAge bound a file: a full log continues in a new file, in the same
	// chain. 0 is no bound. The rows of one write stay in one file, so files may exceed the bound a
	// little.
	RotateBytes int64
	RotateAge   time.Duration
	// Trouble is called with errors of rotations, which lose no row; it may be nil.
	Trouble func(error)
}

// Recorder writes rows to one file. It is safe for concurrent use.
type Recorder struct {
	path string
	fs   FS
	now  func() time.Time
	file File

	rotateBytes int64
	rotateAge   time.Duration
	trouble     func(error)

	queue   chan *entry
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the writer has ended
	once    sync.Once
	closed  error // error of closing the file, set before ended is closed

	untrusted atomic.Pointer[UntrustedError]
	failed    chan struct{} // closed with untrusted

	mu   sync.Mutex
	head audit.Head // of the last synced row

	// Owned by the writer.
	size    int64     // bytes up to the last synced row
	since   time.Time // start of the file
	retryAt time.Time // no rotation before then; zero unless one has failed
	buf     []byte    // scratch buffer: the lines of one write
}

// entry is one queued row.
type entry struct {
	body  auditrow.Body
	state atomic.Int32
	done  chan error // buffered
}

// States of an entry: either the writer takes it or its caller abandons it.
const (
	waiting = iota
	taken
	abandoned
)

// maxQueue is the number of rows that wait for the writer; more callers block.
const maxQueue = 256

// Open opens or creates a log and verifies its chain from the first row. It refuses a file that is
// in use or whose chain is broken. It removes an unfinished write from the end, and records that.
func Open(path string, o Options) (*Recorder, error) {
	r := &Recorder{
		path: path, fs: o.FS, now: o.Now, rotateBytes: o.RotateBytes, rotateAge: o.RotateAge, trouble: o.Trouble,
		queue: make(chan *entry, maxQueue), closing: make(chan struct{}), ended: make(chan struct{}),
		failed: make(chan struct{}),
	}
	if r.fs == nil {
		r.fs = osFS{}
	}
	if r.now == nil {
		r.now = time.Now
	}
	if r.trouble == nil {
		r.trouble = func(error) {}
	}
	file, err := r.fs.Open(path)
	if err != nil {
		var detail *fs.PathError
		if errors.As(err, &detail) { // the caller's message names the path
			err = detail.Err
		}
		return nil, fmt.Errorf("audit log %s: %w", path, err)
	}
	r.file = file
	if err := r.begin(); err != nil {
		file.Close()
		return nil, fmt.Errorf("audit log %s: %w", path, err)
	}
	go r.run()
	return r, nil
}

// Record appends a row and returns when it is on the disk. If ctx ends, Record stops waiting: the
// row is then not in the log or, if its write had begun, may be in it. The same holds for an error,
// except that a row refused before it was queued is not in the log.
func (r *Recorder) Record(ctx context.Context, row *stopgate.Record) error {
	return r.RecordAll(ctx, []*stopgate.Record{row})
}

// RecordAll records several rows in their order, possibly with rows of other callers between them.
// They share a sync. An error holds for all of them.
func (r *Recorder) RecordAll(ctx context.Context, rows []*stopgate.Record) error {
	if err := r.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	entries := make([]*entry, len(rows))
	for i, row := range rows {
		body, err := auditrow.Encode(r.chain(), row)
		if err != nil {
			return err
		}
		entries[i] = &entry{body: body, done: make(chan error, 1)}
	}
	var first error
	for i, e := range entries {
		if first = r.submit(ctx, e); first != nil {
			entries = entries[:i]
			break
		}
	}
	for _, e := range entries {
		if err := r.await(ctx, e); err != nil && first == nil {
			first = err
		}
	}
	return first
}

// submit queues an entry.
func (r *Recorder) submit(ctx context.Context, e *entry) error {
	select {
	case r.queue <- e:
		return nil
	case <-r.closing:
		return ErrClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// await returns when the entry is on the disk, or abandons it when ctx ends.
func (r *Recorder) await(ctx context.Context, e *entry) error {
	select {
	case err := <-e.done:
		return err
	case <-r.ended:
		select {
		case err := <-e.done:
			return err
		default:
			return ErrClosed
		}
	case <-ctx.Done():
	}
	if e.state.CompareAndSwap(waiting, abandoned) {
		return ctx.Err()
	}
	return fmt.Errorf("the audit row may or may not be written: %w", ctx.Err())
}

// Capabilities describe the recorder to the gate. It is punctual: only the writer's goroutine
// touches the file.
func (r *Recorder) Capabilities() gate.Capabilities {
	return gate.Capabilities{Punctual: true, RecordAll: r.RecordAll}
}

// Head returns the end of the chain as of the last sync, for comparison with a copy kept elsewhere
// (S25).
func (r *Recorder) Head() audit.Head {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head
}

// Failed is closed when the file is no longer trusted; Record then returns the *UntrustedError, and
// a surface that requires an audit log exits.
func (r *Recorder) Failed() <-chan struct{} { return r.failed }

// Close writes the queued rows, closes the file and releases the lock.
func (r *Recorder) Close() error {
	r.once.Do(func() { close(r.closing) })
	<-r.ended
	return r.closed
}

func (r *Recorder) chain() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head.Chain
}

// Err returns the *UntrustedError that closed Failed, or nil while the file is trusted.
func (r *Recorder) Err() error {
	if u := r.untrusted.Load(); u != nil {
		return u
	}
	return nil
}

// begin reads the file and repairs its end.
func (r *Recorder) begin() error {
	size, err := r.file.Size()
	if err != nil {
		return err
	}
	report, err := audit.Verify(io.NewSectionReader(r.file, 0, size))
	var broken *audit.BrokenError
	if errors.As(err, &broken) {
		return fmt.Errorf("%w; the log is left as it is: move it away to start a new one, and ask who changed it", err)
	}
	if err != nil {
		return err
	}
	r.head, r.size, r.since = report.Head, report.Size, report.Since
	if r.head.Chain == "" {
		r.head.Chain, r.since = rand.Text(), r.now()
	} else if r.rotates() {
		if err := r.unlink(); err != nil {
			return err
		}
	}
	if report.Torn > 0 {
		if err := r.removeTail(report.Torn); err != nil {
			return err
		}
	}
	// The name of a new file must be durable before its rows are acknowledged.
	return r.fs.SyncDir(r.path)
}
