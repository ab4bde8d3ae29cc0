// Package postgres stores facts, approvals and audit rows in a PostgreSQL database that gates on several
// machines share.
//
//	s, err := postgres.Open(ctx, "postgres://gate@db.internal/stopgate?sslmode=verify-full", records.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()))
//
// Guarantees (I19, I22, FM2):
//
//   - Updates of a principal happen one after the other, whichever gate makes them: an update locks the
//     row of its principal before it reads a cell, and reads by statements that begin after that.
//   - The facts, the cells and the rows of an update are committed together, and on the disk when
//     Update returns.
//   - An order to deny everything is read in the transaction that releases a call, under a shared lock;
//     SetLockdown holds that lock exclusively until it is committed. When it has returned, no release
//     that had not seen the order is committed.
//   - The time of states is that of the database, and never before the newest fact of the principal.
//   - A database that cannot be reached is an error, never an empty session.
//
// Package internal/store/postgres/pgdb runs the updates that wait together in one transaction.
package postgres

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	records "github.com/stopgate/stopgate/internal/record/postgres"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
)

var _ gate.Store = (*Store)(nil)

// Store is an open database. It is safe for concurrent use.
type Store struct {
	db      *pgdb.DB
	records *records.Recorder
	loads   loader
	hints   hints
	clock   clock

	mu    sync.Mutex
	known map[stopgate.Principal]bool // principals that have a row, which is never removed
}

// Open opens the database at a URL, and creates or migrates its tables.
func Open(ctx context.Context, location string, o records.Options) (*Store, error) {
	db, err := pgdb.Open(ctx, location, records.Tables, tables, fleetTables, keyTables)
	if err != nil {
		return nil, err
	}
	r, err := records.New(db, o)
	if err != nil {
		db.Close()
		return nil, err
	}
	s := &Store{db: db, records: r, known: map[stopgate.Principal]bool{}}
	s.loads.s = s
	if err := s.readClock(ctx); err != nil {
		db.Close()
		return nil, fmt.Errorf("read the time of the database: %w", err)
	}
	return s, nil
}

// Close commits the updates that wait and closes the database.
func (s *Store) Close() error { return s.db.Close() }

// Database returns the database, for readers of its audit rows.
func (s *Store) Database() *pgdb.DB { return s.db }

// Recorder returns the recorder that writes audit rows to the database.
func (s *Store) Recorder() *records.Recorder { return s.records }

// Records reports whether r writes to this store's database by this store's transactions.
func (s *Store) Records(r gate.Recorder) bool { return r == gate.Recorder(s.records) }

// Capabilities describe the store to the gate.
func (s *Store) Capabilities() gate.Capabilities {
	return gate.Capabilities{Progress: s.db.Progress(), Journal: s.Records, Fleet: true, Clock: s.Clock, Texts: s}
}

// Failed is closed when the database is no longer trusted (FM4); Err returns the reason.
func (s *Store) Failed() <-chan struct{} { return s.db.Failed() }

// Err returns the error that closed Failed, or nil.
func (s *Store) Err() error { return s.db.Err() }

// idOf returns the id of a row that is found by names: the first half of their SHA-256. The lengths
// are hashed, so that no names are taken for others.
func idOf(kind byte, names ...string) []byte {
	text := make([]byte, 0, 128)
	text = append(text, kind)
	for _, name := range names {
		text = binary.AppendUvarint(text, uint64(len(name)))
		text = append(text, name...)
	}
	sum := sha256.Sum256(text)
	return sum[:16]
}

// Kinds of ids.
const (
	ofPrincipal = iota
	ofSession
	ofEntry
	ofConversation
	ofTexts
)
