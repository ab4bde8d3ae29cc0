package postgres_test

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/postgres"
	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	"github.com/stopgate/stopgate/internal/testkit/approvals"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
	"github.com/stopgate/stopgate/session"
)

// A change of a question wakes those who wait for it at other gates, and still does so after the connection of
// hints was lost.
func TestHints(t *testing.T) {
	srv := server.Start(t, server.Fast)
	location := srv.Database(t)
	one, two := open(t, location), open(t, location)
	entry := approvals.Entry("a")
	if _, err := two.AddEntry(t.Context(), entry, func(approve.Entry) bool { return false }); err != nil {
		t.Fatal(err)
	}
	heard := func(change bool) {
		t.Helper()
		hint := one.Hints()
		if change {
			if _, err := two.ChangeEntry(t.Context(), "a", func(e approve.Entry) (approve.Entry, error) { return e, nil }); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		select {
		case <-hint:
			t.Logf("after %v", time.Since(began))
		case <-time.After(10 * time.Second):
			t.Fatal("no hint")
		}
	}
	heard(false) // it has begun to listen
	heard(true)
	lost := one.Hints()
	if err := srv.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'"); err != nil {
		t.Fatal(err)
	}
	<-lost // it listens again
	heard(true)
}

// The clock of a store is that of its database.
func TestClock(t *testing.T) {
	location := server.Database(t)
	s := open(t, location)
	for range 20 {
		var now time.Time
		before := s.Clock()
		err := s.Database().Query(t.Context(), func(rows pgx.Rows) (err error) {
			now, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[time.Time])
			return err
		}, "SELECT clock_timestamp()")
		after := s.Clock()
		const margin = 500 * time.Millisecond // the last reading was as late as its answer
		if err != nil || now.Before(before.Add(-margin)) || now.After(after.Add(margin)) {
			t.Errorf("%v is not between %v and %v, %v", now, before, after, err)
		}
		if err := reserve(t.Context(), s, owner, 100); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves S59: when SetLockdown has returned, no release that had not seen the order is committed.
func TestOrderAgainstReleases(t *testing.T) {
	location := server.Database(t)
	stores := []*postgres.Store{open(t, location), open(t, location)}
	operator := open(t, location)
	for round := range 20 {
		var group sync.WaitGroup
		var ordered, late atomic.Int64
		stop := make(chan struct{})
		for i := range 8 {
			o := session.Owner{Principal: stopgate.Principal(strconv.Itoa(i)), Session: "s"}
			group.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					after := ordered.Load() != 0
					err := stores[i%2].Update(t.Context(), o, []session.Key{session.Self, session.DataKey}, func(session.State) (gate.Change, error) {
						return gate.Change{Releases: true, Facts: []session.Fact{{Kind: session.DataReplaced, Text: "{}"}}}, nil
					})
					if err == nil && after {
						late.Add(1)
					}
					var locked *gate.LockdownError
					if err != nil && !errors.As(err, &locked) && !errors.Is(err, pgdb.ErrBusy) {
						t.Error(err)
						return
					}
				}
			})
		}
		time.Sleep(time.Duration(round) * time.Millisecond)
		if err := operator.SetLockdown(t.Context(), gate.Lockdown{Since: time.Unix(1, 0), By: "ann"}); err != nil {
			t.Error(err)
		}
		heads := headsOf(t, operator)
		ordered.Store(1)
		time.Sleep(10 * time.Millisecond)
		close(stop)
		group.Wait()
		if now := headsOf(t, operator); now != heads || late.Load() != 0 {
			t.Errorf("round %d: facts %s, and %s after the order; %d late releases", round, heads, now, late.Load())
		}
		if err := operator.SetLockdown(t.Context(), gate.Lockdown{}); err != nil {
			t.Fatal(err)
		}
	}
}

// headsOf lists how many facts there are.
func headsOf(t *testing.T, s *postgres.Store) string {
	list, err := s.Sessions(t.Context(), "", 100)
	if err != nil {
		t.Error(err)
	}
	var heads []string
	for _, i := range list {
		heads = append(heads, fmt.Sprint(i.Owner.Principal, ":", i.Facts))
	}
	return strings.Join(heads, " ")
}
