// Package sqlite keeps facts, and with them the audit rows, in one SQLite file that
// several processes share: the default store.
//
//	s, err := sqlite.Open(ctx, "stopgate.db", sqlite.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()))
//
// What it promises (I19, I22, FM2): what an update wrote is on the disk
// when it returns, a decision's row and its facts together or not at all; updates
// happen one after the other, in this process and in others; a file that cannot be
// read or written is an error, never an empty session. Package internal/store/database
// says how.
package sqlite

import (
	"context"

	"github.com/stopgate/stopgate/gate"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/system/crowd"
)

var (
	_ gate.Journal = (*Store)(nil)
	_ gate.Crowded = (*Store)(nil)
)

// Options change what is kept. The zero Options keep no arguments.
type Options struct {
	Records audit.Options
}

// Store is an open file. It is safe for concurrent use.
type Store struct {
	db      *database.DB
	records *audit.Recorder
	likely  []string // statements of an update
}

// Open opens or creates a store. The end of ctx gives up waiting for other
// processes.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	db, err := database.Open(ctx, path, audit.Tables, tables, spoken, objected)
	if err != nil {
		return nil, err
	}
	records, err := audit.New(ctx, db, o.Records)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &Store{db: db, records: records, likely: append(usual(), records.Likely()...)}, nil
}

// Close writes what is queued and closes the file.
func (s *Store) Close() error { return s.db.Close() }

// Database is the file, for readers of its audit rows.
func (s *Store) Database() *database.DB { return s.db }

// Recorder writes audit rows to the file.
func (s *Store) Recorder() *audit.Recorder { return s.records }

// Records reports whether a recorder writes to this store's file, so that a
// decision's row can go into the transaction of its facts.
func (s *Store) Records(r gate.Recorder) bool {
	rec, ok := r.(*audit.Recorder)
	return ok && rec.Database() == s.db
}

// Advanced changes whenever a process has written to the file, this one or another.
func (s *Store) Advanced() uint64 { return s.db.Advanced() }

// Share is the part of a processor that a writer gets now: all of them run here.
func (s *Store) Share() float64 { return crowd.Share() }

// Failed is closed when the file is not trusted any more (FM4).
func (s *Store) Failed() <-chan struct{} { return s.db.Failed() }
