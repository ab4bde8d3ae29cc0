// Package sqlite stores facts and audit rows in one SQLite file that several processes share. It is
// the default store.
//
//	s, err := sqlite.Open(ctx, "stopgate.db", sqlite.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()))
//
// Guarantees (I19, I22, FM2): the writes of an update are on the disk when it returns, and the row
// of a decision and its facts are written together or not at all; updates are serialised, in this
// process and with others; a file that cannot be read or written is an error, never an empty
// session. Package internal/store/database implements this.
package sqlite

import (
	"context"

	"github.com/stopgate/stopgate/gate"
	audit "github.com/stopgate/stopgate/internal/record/sqlite"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/system/crowd"
)

var (
	_ gate.Store = (*Store)(nil)
)

// Options configure a store. The zero Options store no arguments.
type Options struct {
	Records audit.Options
}

// Store is an open file. It is safe for concurrent use.
type Store struct {
	db      *database.DB
	records *audit.Recorder
	likely  []string // statements that an update probably runs
}

// Open opens or creates a store. It stops waiting for other processes when ctx ends.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	db, err := database.Open(ctx, path, audit.Tables, tables, conversationTables, objectionTable, textTables, fleetTables)
	if err != nil {
		return nil, err
	}
	records, err := audit.New(ctx, db, o.Records)
	if err != nil {
		db.Close()
		return nil, err
	}
	return &Store{db: db, records: records, likely: append(updateStatements(), records.Likely()...)}, nil
}

// Close commits the queued changes and closes the file.
func (s *Store) Close() error { return s.db.Close() }

// Database returns the file, for readers of its audit rows.
func (s *Store) Database() *database.DB { return s.db }

// Recorder returns the recorder that writes audit rows to the file.
func (s *Store) Recorder() *audit.Recorder { return s.records }

// Records reports whether r writes to this store's file, so that the row of a decision can be
// written in the transaction of its facts.
func (s *Store) Records(r gate.Recorder) bool {
	rec, ok := r.(*audit.Recorder)
	return ok && rec.Database() == s.db
}

// Capabilities describe the store to the gate. All writers run on this machine.
func (s *Store) Capabilities() gate.Capabilities {
	return gate.Capabilities{Progress: gate.Progress{Advanced: s.db.Advanced, Share: crowd.Share}, Journal: s.Records, Texts: s, JoinsTexts: true}
}

// Failed is closed when the file is no longer trusted (FM4).
func (s *Store) Failed() <-chan struct{} { return s.db.Failed() }
