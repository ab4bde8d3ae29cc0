package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// clock follows the clock of the database. Between two readings it runs by the monotonic clock of the
// machine, so that setting the machine's time changes nothing.
type clock struct{ last atomic.Pointer[reading] }

// reading is a time of the database and the local time at which it was read.
type reading struct{ at, local time.Time }

func (c *clock) observe(at time.Time) { c.last.Store(&reading{at, time.Now()}) }

// Clock returns the time of the database, as it was read last, plus what has passed since. It implements
// [approve.FleetStore].
func (s *Store) Clock() time.Time {
	r := s.clock.last.Load()
	return r.at.Add(time.Since(r.local))
}

// readClock reads the time of the database.
func (s *Store) readClock(ctx context.Context) error {
	return s.db.Query(ctx, func(rows pgx.Rows) error {
		at, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[time.Time])
		s.clock.observe(at.UTC())
		return err
	}, "SELECT clock_timestamp()")
}
