// Package store opens the database of a gate: facts of sessions, questions with their
// answers and grants, and audit records.
//
//	s, err := store.Open(ctx, "stopgate.db", store.Options{})
//	if err != nil {
//		return err
//	}
//	defer s.Close()
//	queue, err := approve.New(s, approve.Options{})
//	g, err := gate.New(program, gate.WithStore(s), gate.WithRecorder(s.Recorder()), gate.WithApprover(queue))
//
// Several processes may share one database. A decision's record and its facts are written
// in one transaction, and are durable before the call is released (I22). A file that
// cannot be read or written is an error, never an empty session (FM2).
package store

import (
	"context"
	"time"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/audit"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/record/jsonl"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/store/servers"
)

// State stores the facts of sessions, questions and grants, and the order to deny
// everything. It is safe for concurrent use.
type State interface {
	gate.Store
	gate.Lockdowns
	approve.Store
}

// Database is a State in a file that several processes may share, with its records.
type Database interface {
	State
	// Recorder writes records into the same file.
	Recorder() gate.Recorder
	// PruneRecords removes records and arguments that are older than two times. The chain
	// of the records that stay is whole: a checkpoint names the last one removed (S25).
	PruneRecords(ctx context.Context, records, arguments time.Time) error
	// Failed is closed when the file is damaged; every later call is then denied (FM4).
	Failed() <-chan struct{}
	Close() error
}

// Memory returns a State in the memory of the process, for tests and for programs whose
// sessions end with them.
func Memory() State {
	return kinds.Memory()
}

// Options configure a database.
type Options struct {
	// Arguments selects how arguments of calls are stored. By default records hold only
	// their hash.
	Arguments audit.Keep
	// Redactor removes values for audit.KeepRedacted; nil removes the well-known forms of
	// secrets.
	Redactor *audit.Redactor
	// Gate is the name of the gate in its records, in a database that several gates share.
	Gate string
}

// Open opens or creates a database: an SQLite file at a path, or a PostgreSQL database at a URL.
func Open(ctx context.Context, path string, o Options) (Database, error) {
	s, err := servers.Open(ctx, path, backend.Options{Arguments: o.Arguments, Redactor: o.Redactor, Gate: o.Gate})
	if err != nil {
		return nil, err
	}
	return database{s}, nil
}

type database struct{ backend.Store }

func (d database) Recorder() gate.Recorder { return d.Store.Recorder() }

func (d database) PruneRecords(ctx context.Context, rows, arguments time.Time) error {
	_, err := d.Retain(ctx, backend.Retention{Rows: rows, Arguments: arguments}, time.Now())
	return err
}

// Log is a file of records, one JSON object on each line, in a hash chain.
type Log interface {
	gate.Recorder
	// Failed is closed when the file is damaged or could not be synced; every later call
	// is then denied (FM4).
	Failed() <-chan struct{}
	Close() error
}

// LogOptions change when a log goes on in a new file. The zero LogOptions never do.
type LogOptions struct {
	RotateBytes int64
	RotateAge   time.Duration
	// RotationFailed is called with the error of a rotation that failed; no record is lost
	// by one. It may be nil.
	RotationFailed func(error)
}

// OpenLog opens or creates a file of records. Only one process can write to it; a record
// is on the disk before its call is released (I22).
func OpenLog(path string, o LogOptions) (Log, error) {
	r, err := jsonl.Open(path, jsonl.Options{RotateBytes: o.RotateBytes, RotateAge: o.RotateAge, Trouble: o.RotationFailed})
	if err != nil {
		return nil, err
	}
	return r, nil
}
