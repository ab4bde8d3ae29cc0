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
)

// Errors of Open and Record.
var (
	ErrInUse  = errors.New("another stopgate writes to this audit log; give each its own file")
	ErrClosed = errors.New("the audit log is closed")
)

// UntrustedError says that a sync failed: what the file holds is not known any
// more, and the recorder writes nothing to it (FM4).
type UntrustedError struct {
	Path  string
	Aside string // the name the file has now; Path if it could not be renamed
	Err   error
}

// Error says what happened and what to do.
func (e *UntrustedError) Error() string {
	return fmt.Sprintf("audit log %s is not trusted any more after a failed sync: %v; it is kept as %s; "+
		"check the disk and start again, the log goes on in a new file", e.Path, e.Err, e.Aside)
}

// Unwrap returns the error of the sync.
func (e *UntrustedError) Unwrap() error { return e.Err }

// Options change what Open does. The zero Options are right for everybody but
// tests.
type Options struct {
	FS  FS               // nil: the operating system's
	Now func() time.Time // of the rows that the recorder writes itself; nil: time.Now
	// RotateBytes and RotateAge are when a file is full: the log then goes on in a new
	// one, in the same chain. 0 is never. A write and its rows are not divided, so files
	// become a little longer.
	RotateBytes int64
	RotateAge   time.Duration
	// Trouble is told of rotations that failed; nil for nobody. No row is lost by one.
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
	ended   chan struct{} // closed when the writer is done
	once    sync.Once
	closed  error // of the file, once ended

	untrusted atomic.Pointer[UntrustedError]
	failed    chan struct{} // closed with untrusted

	mu   sync.Mutex
	head audit.Head // of the last synced row

	// The writer's own.
	size  int64     // bytes up to the last synced row
	since time.Time // when the file began
	later time.Time // no rotation before; zero if none has failed
	buf   []byte    // the lines of one write
}

// entry is one row on its way to the file.
type entry struct {
	body  audit.Body
	state atomic.Int32
	done  chan error // buffered
}

// An entry is taken by the writer or given up by its caller, never both.
const (
	waiting = iota
	taken
	givenUp
)

// maxQueue is how many rows wait for the writer; beyond it callers wait in line.
const maxQueue = 256

// Open opens or creates a log and checks its chain from the first row. It refuses
// a file that is in use and one whose chain is broken. What a crash left
// unfinished at the end is removed and recorded.
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
		if errors.As(err, &detail) { // its path is in our text
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

// Record appends a row and returns when it is on the disk. The end of ctx gives
// up waiting: the row is then either not in the log or, if it was being written,
// perhaps in it. An error means the same, except that a row refused before it was
// queued is certainly not in the log.
func (r *Recorder) Record(ctx context.Context, row *stopgate.Record) error {
	return r.RecordAll(ctx, []*stopgate.Record{row})
}

// RecordAll is Record for several rows, in their order, with other callers' rows
// between them perhaps: they wait for the disk together, not one after the other. An
// error holds for all of them.
func (r *Recorder) RecordAll(ctx context.Context, rows []*stopgate.Record) error {
	if err := r.Err(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	entries := make([]*entry, len(rows))
	for i, row := range rows {
		body, err := audit.NewBody(r.chain(), row)
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

// submit hands an entry to the writer.
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

// await returns when the entry is on the disk, or given up.
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
	if e.state.CompareAndSwap(waiting, givenUp) {
		return ctx.Err()
	}
	return fmt.Errorf("the audit row may or may not be written: %w", ctx.Err())
}

// Punctual reports that every call returns when its context ends: the file is in the
// hands of a goroutine of its own.
func (r *Recorder) Punctual() bool { return true }

// Head returns the end of the chain as far as it is on the disk, to be kept
// elsewhere and compared later (S25).
func (r *Recorder) Head() audit.Head {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.head
}

// Failed is closed when the file is not trusted any more; Record then returns the
// *UntrustedError, and a surface that cannot do without an audit log exits.
func (r *Recorder) Failed() <-chan struct{} { return r.failed }

// Close writes what is queued, closes the file and gives the lock back.
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

// Err is the *UntrustedError that closed Failed, nil while the file is trusted.
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
	// The name of a new file must not vanish after its rows are acknowledged.
	return r.fs.SyncDir(r.path)
}
