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

// HeadPath returns the path of the file that records, outside a database, the last content of that
// database.
func HeadPath(path string) string { return path + "-head" }

// minSize is the size of the smallest file that holds tables: one page.
const minSize = 4096

// checkMissing finds a file that lost all its content. It runs before SQLite opens the file,
// because SQLite would take it for a new one and remove its write-ahead log.
func checkMissing(path string) error {
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

// checkEvery is the interval between inspections of a file that was written to. Hundreds of
// processes may have it open, and each inspection reads the whole log: if more than crowdedThreads
// threads want each processor, the interval grows up to maxCheckEvery, so that writers get the
// time.
const (
	checkEvery     = time.Second
	maxCheckEvery  = time.Minute
	crowdedThreads = 8
)

// Guard inspects the file once a second until Close, if it was written to since the last
// inspection. It detects a file that was cut, replaced or overwritten, and a write-ahead log that
// the next process could not read. On a crowded machine it inspects less often; every commit still
// checks the size of the file and the header of the log (see intact). Damage ends the use of the
// file. check inspects the content over a connection without cached pages; an error of check
// counts as damage only if it is a *DamagedError.
func (db *DB) Guard(check func(tx *Tx) error) {
	g := &guard{db: db, check: check}
	go func() {
		tick := time.NewTicker(checkEvery)
		defer tick.Stop()
		last := time.Now()
		for {
			select {
			case <-tick.C:
				if time.Since(last) < crowd.Stretch(checkEvery, crowdedThreads*crowd.Share(), maxCheckEvery)-checkEvery/2 {
					continue
				}
				last = time.Now()
				if err := g.inspect(); err != nil {
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

// CheckNow inspects the file as Guard does, even if it was not written to.
func (db *DB) CheckNow() error {
	g := db.guard.Load()
	if g == nil {
		return nil
	}
	g.mu.Lock()
	g.seen = ""
	g.mu.Unlock()
	err := g.inspect()
	if err != nil {
		_ = db.distrust(err)
	}
	return err
}

// intact is the cheap check before a change is written: the size of the file and the header of the
// log. It inspects the content only if one of them is wrong.
func (db *DB) intact() error {
	info, err := os.Stat(db.path)
	if err != nil || !os.SameFile(info, db.file) {
		return errors.New("the file was removed or replaced")
	}
	g := db.guard.Load()
	if g == nil || info.Size() >= minSize && hasLogHeader(db.path+"-wal") {
		return nil
	}
	g.mu.Lock()
	g.seen = ""
	g.mu.Unlock()
	return g.inspect()
}

// hasLogHeader reports whether the write-ahead log at path starts with a valid header.
func hasLogHeader(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, ok := readHeader(f)
	return ok
}

// readHeader reads the header of a write-ahead log.
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

// byteOrder returns the byte order of the checksums of a log, or nil if header is not the header of
// a log.
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
	seen    string // sizes and times of the files at the last inspection
	largest int64  // size of the file: it only grows
}

func (g *guard) inspect() error {
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
	// The file starts with the definitions of the tables and their versions.
	if _, err := c.versions(ctx); err != nil {
		return onlyDamage(err)
	}
	return onlyDamage(c.snapshot(ctx, g.check))
}

// onlyDamage drops errors that are no evidence about the content.
func onlyDamage(err error) error {
	var damaged *DamagedError
	if err != nil && (distrusted(err) || code(err) == lib.SQLITE_IOERR_SHORT_READ || errors.As(err, &damaged)) {
		return err
	}
	return nil
}

// log checks that the next reader of the write-ahead log would find as many pages in it as its
// writers have put there. It retries if another process starts the log anew meanwhile.
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
			continue // the log was started anew
		}
	}
	return err
}

// Sizes of a write-ahead log (https://sqlite.org/fileformat2.html#walformat).
const (
	logHeader   = 32
	frameHeader = 24
)

// validFrames counts the frames that SQLite would read after a crash: those before the first frame
// whose salt or checksum is wrong.
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
