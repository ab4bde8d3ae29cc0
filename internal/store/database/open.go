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

// applicationID marks a file as ours in its header: "stpg".
const applicationID = 0x73747067

// DB is an open file. It is safe for concurrent use.
type DB struct {
	path string
	file os.FileInfo // of the file at Open: another one under its name is not ours

	writer  *sql.DB // one connection
	conn    *conn   // the writing goroutine's own while it writes; nil at the end
	turn    *turn   // to write, among processes
	parts   []Component
	idle    sync.Mutex
	first   atomic.Int64 // snapshots so far
	readers pool

	queue   chan *entry
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the writing goroutine is done
	once    sync.Once
	closed  error // of the connections, once ended

	// The writing goroutine's own: whether it has begun to write, how many callers there
	// were at the last commit, and how long it lasted.
	began   bool
	after   []func() // of the transaction, once it is durable
	callers int
	lasted  time.Duration

	commits atomic.Uint64 // of this process
	guard   atomic.Pointer[guard]

	untrusted atomic.Pointer[UntrustedError]
	failed    chan struct{} // closed with untrusted
}

// Open opens or creates a file and brings the tables of the components up to date.
// The end of ctx gives up waiting for other processes.
func Open(ctx context.Context, path string, components ...Component) (*DB, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("database: %w", err)
	}
	db := &DB{
		path: path, turn: newTurn(path), parts: components, queue: make(chan *entry, maxQueue), closing: make(chan struct{}),
		ended: make(chan struct{}), failed: make(chan struct{}),
	}
	db.turn.advanced = db.Advanced
	if err := missing(path); err != nil {
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

// Failed is closed when the file is not trusted any more; every change then
// returns the *UntrustedError.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Ended is closed when nothing is written any more: after Close.
func (db *DB) Ended() <-chan struct{} { return db.ended }

// Advanced changes whenever this process or another one has written to the file, or has
// the lock to write and goes on with it: a writer that has to wait while it does is late, and one that waits while it does not
// may wait for ever. It takes no lock.
func (db *DB) Advanced() uint64 {
	n := db.commits.Load()
	if begun, err := os.Stat(db.turn.path); err == nil {
		n += uint64(begun.ModTime().UnixNano())
	}
	if log, err := os.Stat(db.path + "-wal"); err == nil {
		n += uint64(log.ModTime().UnixNano()) + uint64(log.Size())
	}
	return n
}

// Close makes durable what is queued and closes the file.
func (db *DB) Close() error {
	db.once.Do(func() { close(db.closing) })
	<-db.ended
	return db.closed
}

// create makes the file if it is missing. It is complete, with its mode, before it
// has its name, and an existing one is never opened here: closing it would drop
// the locks of another connection of this process.
func create(path string) (os.FileInfo, error) {
	if err := trusted(path); err != nil {
		return nil, err
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		f, err := os.CreateTemp(filepath.Dir(path), ".new-*.db") // mode 0600
		if err != nil {
			return nil, bare(err)
		}
		defer os.Remove(f.Name())
		if err := f.Close(); err != nil {
			return nil, bare(err)
		}
		if err := os.Link(f.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, bare(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file")
	}
	if info.Mode().Perm()&0o077 != 0 {
		if err := os.Chmod(path, 0o600); err != nil {
			return nil, bare(err)
		}
	}
	return info, nil
}

// trusted refuses a file beside which others can put files of their own: what SQLite finds
// beside a database it takes for the newest of its content.
func trusted(path string) error {
	dir := filepath.Dir(path)
	if err := owner.State(dir); err != nil {
		return bare(err)
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Dir(real) != dir {
		return bare(owner.State(filepath.Dir(real)))
	}
	return nil
}

// bare is an error of the file system without the path, which stands in our text.
func bare(err error) error {
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
	if err := patiently(ctx, func() error {
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
	return db.shorten(ctx)
}

// Bounds of a write-ahead log that Open copies into the file: in pages that are not
// there yet, and in bytes.
const (
	longLog = 128
	hugeLog = 1024 * 4096
)

// shorten copies a long write-ahead log into the file. A process that ends without
// Close, as short ones do, leaves the log behind, and the next process that is alone has
// to read it all. No other one would begin it anew: how much of it is in the file already
// is forgotten with the process, so that it would grow, and be copied whole, with every
// commit. What is in the way now will be gone at another Open.
//
// The next commit then begins the log anew, where it stands: to sync what is written over
// takes the file system less than half of what a file takes that grows. Only one that has
// become huge, because somebody always read it, is cut off.
func (db *DB) shorten(ctx context.Context) error {
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

// onlyDistrusted leaves out errors that do not make the file a bad one.
func onlyDistrusted(err error) error {
	if err != nil && distrusted(err) {
		return err
	}
	return nil
}

// pool is a set of connections. Waiting for other processes is done here, not by
// SQLite, whose steps are coarse and know of no ctx.
func (db *DB) pool(pragma string) (*sql.DB, error) {
	query := url.Values{"_pragma": {"temp_store(memory)", pragma}}
	if runtime.GOOS == "darwin" {
		// There a plain sync leaves what was written in the disk's cache (fsync(2)).
		query.Add("_pragma", "fullfsync(true)")
	}
	connector, err := sqlite.NewConnector("file:" + (&url.URL{Path: db.path}).EscapedPath() + "?" + query.Encode())
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// openError explains what opening a file that is no database says.
func openError(err error) error {
	switch code(err) & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return fmt.Errorf("%w: %w", ErrForeign, err)
	case lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY:
		return fmt.Errorf("%w: the file and its directory have to be writable, also for reading: read a copy elsewhere", err)
	case lib.SQLITE_IOERR: // of a disk that fails: that says nothing about the file
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
	db.idle.Lock()
	defer db.idle.Unlock()
	if db.conn != nil {
		errs = append(errs, db.conn.close())
		db.conn = nil
	}
	if db.writer != nil {
		errs = append(errs, db.writer.Close())
	}
	db.turn.close()
	return errors.Join(errs...)
}

// Bounds of the wait between two attempts.
const (
	shortWait = 100 * time.Microsecond
	longWait  = 5 * time.Millisecond
	// Who has waited long looks less often: where hundreds do, looking is all that the
	// machine would do.
	longestWait = 200 * time.Millisecond
)

// patiently tries again for as long as others are in the way and ctx lives.
func patiently(ctx context.Context, try func() error) error {
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
		wait = min(2*wait, max(longWait, min(waited/8, longestWait)))
	}
}
