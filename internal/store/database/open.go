package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate/internal/system/owner"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// applicationID marks a file of stopgate in its header: "stpg".
const applicationID = 0x73747067

// DB is an open file. It is safe for concurrent use.
type DB struct {
	path string
	file os.FileInfo // at Open: another file with the same name is refused

	writer     *sql.DB    // one connection
	conn       *conn      // used by the writing goroutine; nil after it ends
	lock       *lockQueue // for writing, among processes
	components []Component
	writerMu   sync.Mutex   // of conn
	snapshots  atomic.Int64 // read so far
	readers    pool

	queue   chan *entry
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the writing goroutine is done
	once    sync.Once
	closed  error // error of closing the connections, set before ended is closed

	// Owned by the writing goroutine: whether it has started to write, the number of callers at the
	// last commit, and the duration of that commit.
	started    bool
	onCommit   []func() // run once the transaction is durable
	callers    int
	lastCommit time.Duration

	commits atomic.Uint64 // of this process
	guard   atomic.Pointer[guard]

	untrusted atomic.Pointer[UntrustedError]
	failed    chan struct{} // closed with untrusted
}

// Open opens or creates a file and migrates the tables of the components. It stops waiting for
// other processes when ctx ends.
func Open(ctx context.Context, path string, components ...Component) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	db := &DB{
		path: path, lock: newLockQueue(path), components: components, queue: make(chan *entry, maxQueue), closing: make(chan struct{}),
		ended: make(chan struct{}), failed: make(chan struct{}),
	}
	db.lock.advanced = db.Advanced
	if err := checkMissing(path); err != nil {
		return nil, err
	}
	if db.file, err = create(path); err != nil {
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	if err := db.connect(ctx, components); err != nil {
		db.disconnect()
		return nil, fmt.Errorf("database %s: %w", path, err)
	}
	go db.run()
	return db, nil
}

// Path is the file's absolute path.
func (db *DB) Path() string { return db.path }

// Failed is closed when the file is no longer trusted; every change then returns the
// *UntrustedError.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Ended returns a channel that is closed after Close, when the last write has ended.
func (db *DB) Ended() <-chan struct{} { return db.ended }

// Advanced returns a number that changes whenever this process or another one writes to the file,
// or holds the write lock and makes progress. A writer that waits while the number changes is only
// late; one that waits while it stays the same may wait for ever. Advanced takes no lock.
func (db *DB) Advanced() uint64 {
	n := db.commits.Load()
	if begun, err := os.Stat(db.lock.path); err == nil {
		n += uint64(begun.ModTime().UnixNano())
	}
	if log, err := os.Stat(db.path + "-wal"); err == nil {
		n += uint64(log.ModTime().UnixNano()) + uint64(log.Size())
	}
	return n
}

// Close commits the queued changes and closes the file.
func (db *DB) Close() error {
	db.once.Do(func() { close(db.closing) })
	<-db.ended
	return db.closed
}

// create creates the file if it is missing. The file has its mode before it gets its name, and an
// existing file is never opened here: closing it would drop the locks of the other connections of
// this process.
func create(path string) (os.FileInfo, error) {
	if err := checkDirectory(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		f, err := os.CreateTemp(filepath.Dir(path), ".new-*.db") // mode 0600
		if err != nil {
			return nil, withoutPath(err)
		}
		defer os.Remove(f.Name())
		if err := f.Close(); err != nil {
			return nil, withoutPath(err)
		}
		if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, withoutPath(err)
		}
	}
	return info, nil
}

// checkDirectory refuses a file in a directory in which other users can create files: SQLite takes
// a log file next to a database for the newest part of its content.
func checkDirectory(path string) error {
	dir := filepath.Dir(path)
	if err := owner.State(dir); err != nil {
		return withoutPath(err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(real) != dir {
		return withoutPath(owner.State(filepath.Dir(real)))
	}
	return nil
}

// withoutPath strips the path from an error of the file system, because the caller's message
// already names it.
func withoutPath(err error) error {
	var detail *fs.PathError
	if errors.As(err, &detail) {
		return detail.Err
	}
	return err
}

// connect opens the writing connection and migrates.
func (db *DB) connect(ctx context.Context, components []Component) error {
	var err error
	if db.writer, err = db.pool("synchronous(full)"); err != nil {
		return err
	}
	if db.readers.db, err = db.pool("query_only(true)"); err != nil {
		return err
	}
	db.readers.free = make(chan *conn, maxReaders)
	if err := retryBusy(ctx, func() error {
		if db.conn == nil {
			raw, err := db.writer.Conn(ctx)
			if err != nil {
				return openError(err)
			}
			db.conn = &conn{Conn: raw}
		}
		return db.prepare(ctx, components)
	}); err != nil {
		return err
	}
	return db.checkpointLongLog(ctx)
}

// Sizes of a write-ahead log from which Open acts on it: longLog in pages that are not in the file
// yet, hugeLog in bytes.
const (
	longLog = 128
	hugeLog = 1024 * 4096
)

// checkpointLongLog copies a long write-ahead log into the file. A process that ends without Close,
// as short-lived ones do, leaves the log, and the next process that opens the file alone has to
// read all of it. Without this copy the log would never restart: the count of its pages that are
// already in the file is lost with the process, so that the log would grow and be copied in full
// with every commit. If a reader blocks the copy now, a later Open will do it.
//
// The next commit then restarts the log in place: syncing overwritten blocks takes the file system
// less than half the time of syncing a file that grows. Only a huge log, which grew because it was
// always being read, is truncated.
func (db *DB) checkpointLongLog(ctx context.Context) error {
	info, err := os.Stat(db.path + "-wal")
	if err != nil || info.Size() < longLog*4096 {
		return nil
	}
	checkpoint := "PRAGMA wal_checkpoint(TRUNCATE)"
	if info.Size() < hugeLog {
		var busy, pages, copied int
		err := db.conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &pages, &copied)
		if err != nil || pages-copied < longLog {
			return onlyDistrusted(err)
		}
		checkpoint = "PRAGMA wal_checkpoint(PASSIVE)"
	}
	_, err = db.conn.ExecContext(ctx, checkpoint)
	return onlyDistrusted(err)
}

// onlyDistrusted drops errors after which the file can still be trusted.
func onlyDistrusted(err error) error {
	if err != nil && distrusted(err) {
		return err
	}
	return nil
}

// pool opens a set of connections. It sets no busy timeout: retryBusy waits for other processes, in
// finer steps than SQLite and until ctx ends.
func (db *DB) pool(pragma string) (*sql.DB, error) {
	query := url.Values{"_pragma": {"temp_store(memory)", pragma}}
	if runtime.GOOS == "darwin" {
		// On macOS a plain sync leaves the data in the disk's cache (fsync(2)).
		query.Add("_pragma", "fullfsync(true)")
	}
	connector, err := sqlite.NewConnector("file:" + (&url.URL{Path: db.path}).EscapedPath() + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// openError explains an error of opening a file that is not a database.
func openError(err error) error {
	switch code(err) & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", ErrForeign, err)
	case lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY:
		return fmt.Errorf("%w: the file and its directory have to be writable, also for reading: read a copy elsewhere", err)
	case lib.SQLITE_IOERR: // of a failing disk: no evidence about the file
		return fmt.Errorf("%w: the disk fails, or is full", err)
	}
	return err
}

// disconnect closes every connection.
func (db *DB) disconnect() error {
	var errs []error
	if db.readers.db != nil {
		errs = append(errs, db.readers.close())
	}
	db.writerMu.Lock()
	defer db.writerMu.Unlock()
	if db.conn != nil {
		errs = append(errs, db.conn.close())
		db.conn = nil
	}
	if db.writer != nil {
		errs = append(errs, db.writer.Close())
	}
	db.lock.close()
	return errors.Join(errs...)
}

// Bounds of the wait between two attempts.
const (
	shortWait = 100 * time.Microsecond
	longWait  = 5 * time.Millisecond
	// A long wait retries less often: if hundreds of processes wait, retries would use all of the
	// machine.
	maxRetryWait = 200 * time.Millisecond
)

// retryBusy retries while other connections hold the lock and ctx has not ended.
func retryBusy(ctx context.Context, try func() error) error {
	wait, waited := shortWait, time.Duration(0)
	for {
		err := try()
		if err == nil || !busy(err) {
			return err
		}
		pause := jitter(wait)
		waited += pause
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("%w: %w", ErrBusy, context.Cause(ctx))
		}
		wait = min(2*wait, max(longWait, min(waited/8, maxRetryWait)))
	}
}
