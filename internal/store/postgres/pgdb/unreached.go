package pgdb

import (
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// unreachedError is the error of a server that gives no connection. Its text is one line, with each attempt once.
type unreachedError struct{ error }

// reachable returns err, as an unreachedError if it is that of a connection.
func reachable(err error) error {
	if errors.As(err, new(*pgconn.ConnectError)) {
		return unreachedError{err}
	}
	return err
}

func (e unreachedError) Error() string {
	var parts []string
	for line := range strings.Lines(e.error.Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(parts, line) {
			parts = append(parts, line)
		}
	}
	first, rest := parts[0], parts[1:]
	return strings.TrimSpace(first + " " + strings.Join(rest, "; "))
}

// Unwrap returns the cause.
func (e unreachedError) Unwrap() error { return e.error }

// Hint tells where to look.
func (unreachedError) Hint() string {
	return "does the server run there, and may this user open the database? the password is read from the file that PGPASSFILE names, or from PGPASSWORD"
}
