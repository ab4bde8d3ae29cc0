package database

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/stopgate/stopgate/internal/system/crowd"
	lib "modernc.org/sqlite/lib"
)

// HeadPath names the file that remembers, apart from a database, what it held last.
func HeadPath(path string) string { return path + "-head" }

// minSize is the size of the smallest file that holds tables: one page.
const minSize = 4096

// missing finds a file that lost everything, before SQLite takes it for a new one and
// removes its write-ahead log.
func missing(path string) error {
	head, err := os.Stat(HeadPath(path))
	if err != nil || head.Size() == 0 {
		return nil
	}
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return &DamagedError{Path: path, Err: errors.New("the file is gone")}
	case err == nil && info.Size() < minSize:
		return &DamagedError{Path: path, Err: fmt.Errorf("the file was cut to %d bytes", info.Size())}
	}
	return nil
}

// checkEvery is how often a file that was written to is looked at. Hundreds of processes
// may have it open, and each of them reads the whole log: where more than eight threads want
// each processor, they look as much less often, and leave the time to who writes.
const (
	checkEvery  = time.Second
	checkSeldom = time.Minute
	checkCrowd  = 8
)

// Guard looks for damage once a second, where anything was written since the last look,
// until Close: a file that was cut, replaced or overwritten, and a write-ahead log that the
// next process could not read. On a crowded machine it looks less often, and whoever writes
// looks at the size of the file and the head of the log before every commit (see intact). What it finds ends the use of the file. check looks at the
// content, over a connection that has cached nothing; its error is damage where it is a
// *DamagedError.
func (db *DB) Guard(check func(tx *Tx) error) {
	g := &guard{db: db, check: check}
	go func() {
		tick := time.NewTicker(checkEvery)
		defer tick.Stop()
		last := time.Now()
		for {
			select {
			case <-tick.C:
				if time.Since(last) < crowd.Stretch(checkEvery, checkCrowd*crowd.Share(), checkSeldom)-checkEvery/2 {
					continue
				}
				last = time.Now()
				if err := g.look(); err != nil {
					_ = db.distrust(err)
					return
				}
			case <-db.closing:
				return
			case <-db.failed:
				return
			}
		}
	}()
	db.guard.Store(g)
}

// CheckNow looks for damage as Guard does, whether anything was written or not.
func (db *DB) CheckNow() error {
	g := db.guard.Load()
	if g == nil {
		return nil
	}
	g.mu.Lock()
	g.seen = ""
	g.mu.Unlock()
	err := g.look()
	if err != nil {
		_ = db.distrust(err)
	}
	return err
}

// intact looks at what costs little before a change is written: the size of the file, and
// the head of the log. Only where that is wrong it looks as Guard does.
func (db *DB) intact() error {
	info, err := os.Stat(db.path)
	if err != nil || !os.SameFile(info, db.file) {
		return errors.New("the file was removed or replaced")
	}
	g := db.guard.Load()
	if g == nil || info.Size() >= minSize && headed(db.path+"-wal") {
		return nil
	}
	g.mu.Lock()
	g.seen = ""
	g.mu.Unlock()
	return g.look()
}

// headed reports whether a log begins as one does in which something was written.
func headed(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, ok := readHeader(f)
	return ok
}

// readHeader reads the beginning of a log.
func readHeader(f io.Reader) (header []byte, ok bool) {
	header = make([]byte, logHeader)
	if _, err := io.ReadFull(f, header); err != nil {
		return nil, false
	}
	sum := logSum{order: byteOrder(header)}
	if sum.order == nil {
		return nil, false
	}
	sum.add(header[:24])
	return header, sum.is(header[24:])
}

// byteOrder is that of the checksums of a log, nil if this is no header of one.
func byteOrder(header []byte) binary.ByteOrder {
	switch binary.BigEndian.Uint32(header) {
	case 0x377f0682:
		return binary.LittleEndian
	case 0x377f0683:
		return binary.BigEndian
	}
	return nil
}

type guard struct {
	db    *DB
	check func(tx *Tx) error

	mu      sync.Mutex
	seen    string // sizes and times of the files at the last look
	largest int64  // size of the file: it only grows
}

func (g *guard) look() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	info, err := os.Stat(g.db.path)
	if err != nil || !os.SameFile(info, g.db.file) {
		return errors.New("the file was removed or replaced")
	}
	if info.Size() < max(g.largest, minSize) {
		return fmt.Errorf("the file was cut to %d bytes", info.Size())
	}
	g.largest = info.Size()
	now := fmt.Sprint(info.Size(), info.ModTime().UnixNano())
	if log, err := os.Stat(g.db.path + "-wal"); err == nil {
		now += fmt.Sprint(" ", log.Size(), log.ModTime().UnixNano())
	}
	if now == g.seen {
		return nil
	}
	if err := g.content(); err != nil {
		return err
	}
	g.seen = now
	return nil
}

// content reads the file over a new connection.
func (g *guard) content() error {
	ctx, cancel := context.WithTimeout(context.Background(), maxWait)
	defer cancel()
	pool, err := g.db.pool("query_only(true)")
	if err != nil {
		return nil
	}
	defer pool.Close()
	raw, err := pool.Conn(ctx)
	if err != nil {
		return onlyDamage(err)
	}
	c := &conn{Conn: raw}
	defer c.close()
	if err := g.log(ctx, c); err != nil {
		return err
	}
	// The definitions of the tables and their versions are what the file begins with.
	if _, err := c.versions(ctx); err != nil {
		return onlyDamage(err)
	}
	return onlyDamage(c.snapshot(ctx, g.check))
}

// onlyDamage leaves out what says nothing about the content.
func onlyDamage(err error) error {
	var damaged *DamagedError
	if err != nil && (distrusted(err) || code(err) == lib.SQLITE_IOERR_SHORT_READ || errors.As(err, &damaged)) {
		return err
	}
	return nil
}

// log checks that the write-ahead log holds, for whoever reads it next, as many pages as
// its writers have put there. Where another process begins it anew meanwhile, it is looked
// at again.
func (g *guard) log(ctx context.Context, c *conn) error {
	var err error
	for range 5 {
		var busy, pages, copied, after int
		if err := c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &pages, &copied); err != nil || pages <= 0 {
			return onlyDamage(err)
		}
		valid, readErr := validFrames(g.db.path + "-wal")
		if readErr != nil && !errors.Is(readErr, fs.ErrNotExist) || valid >= pages {
			return nil
		}
		err = fmt.Errorf("the write-ahead log has %d of %d pages left that can be read", valid, pages)
		if c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &after, &copied) != nil || after < pages {
			continue // begun anew
		}
	}
	return err
}

// Sizes of a write-ahead log (https://sqlite.org/fileformat2.html#walformat).
const (
	logHeader   = 32
	frameHeader = 24
)

// validFrames counts the frames that SQLite would read after a crash: those up to the first
// whose salt or checksum does not fit.
func validFrames(path string) (n int, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	header, ok := readHeader(f)
	if !ok {
		return 0, nil
	}
	sum := logSum{order: byteOrder(header)}
	sum.add(header[:24])
	frame := make([]byte, frameHeader+int(binary.BigEndian.Uint32(header[8:])&0x1ffff))
	for {
		if _, err := io.ReadFull(f, frame); err != nil {
			return n, nil
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeader:])
		if string(frame[8:16]) != string(header[16:24]) || !sum.is(frame[16:24]) {
			return n, nil
		}
		n++
	}
}

// logSum is the checksum of a write-ahead log.
type logSum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (s *logSum) add(text []byte) {
	for ; len(text) >= 8; text = text[8:] {
		s.a += s.order.Uint32(text) + s.b
		s.b += s.order.Uint32(text[4:]) + s.a
	}
}

func (s *logSum) is(stored []byte) bool {
	return s.a == binary.BigEndian.Uint32(stored) && s.b == binary.BigEndian.Uint32(stored[4:])
}
