package pgdb

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// Errors of [DB.Do] and [Open].
var (
	// ErrBusy: the change has not happened, because its turn did not come in time.
	ErrBusy = errors.New("postgres: the database was busy for too long, the change has not happened")
	// ErrClosed: the change has not happened.
	ErrClosed = errors.New("postgres: the database is closed")
	// ErrLater is returned by a part whose rows another gate has locked: it is run again in the
	// next transaction.
	ErrLater = errors.New("postgres: another gate has locked the rows")
)

// UnknownError reports a change that may or may not have been written, because the connection was
// lost during the commit.
type UnknownError struct{ Err error }

// Error returns the text of the error.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("postgres: the change may or may not be written: %v", e.Err)
}

// Unwrap returns the cause.
func (e *UnknownError) Unwrap() error { return e.Err }

// errWarned is the cause of an unknown outcome of a commit that the server answered with a warning: it
// gave up waiting for the standbys that the commit is to be synchronous with.
var errWarned = errors.New("postgres: the server warned during the commit, it may not be on the standbys")

// NewerError refuses a database whose tables were made by a newer version.
type NewerError struct {
	Component    string
	Have, Latest int
}

// Error returns the text of the error, with the remedy.
func (e *NewerError) Error() string {
	return fmt.Sprintf("postgres: the %s tables have version %d, and this version of stopgate knows %d: use a newer stopgate", e.Component, e.Have, e.Latest)
}

// SQLSTATE codes.
const (
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	undefinedColumn      = "42703"
	undefinedFunction    = "42883"
	undefinedTable       = "42P01"
	invalidSchema        = "3F000"
	insufficientRight    = "42501"
)

// StateOf returns the SQLSTATE of an error of the server, "" for other errors.
func StateOf(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// refused reports that a live server answered with an error and rolls the transaction back. After
// other errors, and after errors that end the connection, the state of a commit is unknown.
func refused(err error) bool {
	var e *pgconn.PgError
	return errors.As(err, &e) && e.SeverityUnlocalized == "ERROR"
}

// passing reports an error after which the same transaction may succeed: a conflict with another
// transaction, or a connection that was lost or refused. Full disks, among others, are not.
func passing(err error) bool {
	switch state := StateOf(err); state {
	case serializationFailure, deadlockDetected, lockNotAvailable,
		"57P01", "57P02", "57P03", "57P05", "25P03", "25P04", "57014": // ended by the administrator, shutdown, start, timeouts
		return true
	case "":
	default:
		return state[:2] == "08"
	}
	var network net.Error
	var connect *pgconn.ConnectError
	return errors.As(err, &network) || errors.As(err, &connect) || !errors.Is(err, context.Canceled) && errors.Is(err, errLost)
}

// errLost is added to errors of a connection that is closed after them.
var errLost = errors.New("postgres: connection lost")

// lost marks an error of a connection that ended, unless it ended because of the caller.
func lost(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return err
	}
	return fmt.Errorf("%w: %w", errLost, err)
}

func isUnknown(err error) bool {
	var unknown *UnknownError
	return errors.As(err, &unknown)
}
