package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/store/postgres"
	server "github.com/stopgate/stopgate/internal/testkit/postgres"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/session"
)

// Proves I19, H4: a limit is never exceeded, by whichever gates calls are made, and whenever connections
// and processes of the server are killed.
func TestLimitOverGatesWithKills(t *testing.T) {
	srv := server.Start(t, server.Durable)
	location := srv.Database(t)
	var stores []*postgres.Store
	var proxies []*server.Proxy
	for range 3 {
		p := srv.Proxy(t)
		proxies, stores = append(proxies, p), append(stores, open(t, p.Through(location)))
	}
	direct := open(t, location)
	runs := 0
	property.Check(t, func(rt *rapid.T) {
		runs++
		limit := rapid.IntRange(1, 12).Draw(rt, "limit")
		kills := rapid.IntRange(0, 6).Draw(rt, "kills")
		how := rapid.SliceOfN(rapid.IntRange(0, 3), kills, kills).Draw(rt, "how")
		o := session.Owner{Principal: stopgate.Principal(fmt.Sprint("p", runs)), Session: "s"}
		var released, running atomic.Int64
		var group sync.WaitGroup
		for i := range 12 {
			running.Add(1)
			group.Go(func() {
				defer running.Add(-1)
				for range 3 {
					ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
					if reserve(ctx, stores[i%len(stores)], o, limit) == nil {
						released.Add(1)
					}
					cancel()
				}
			})
		}
		for _, k := range how {
			if k == 3 {
				_ = srv.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stopgate'")
			} else {
				proxies[k].Cut()
			}
		}
		group.Wait()
		if n := taken(t, direct, o); n > limit || int64(n) < released.Load() {
			rt.Fatalf("%d places of %d are taken, %d were confirmed", n, limit, released.Load())
		}
		for range limit {
			if err := reserve(t.Context(), stores[0], o, limit); err != nil && !errors.Is(err, errFull) {
				rt.Fatalf("after the kills: %v", err)
			}
		}
		if n := taken(t, direct, o); n != limit {
			rt.Fatalf("%d places of %d are taken in the end", n, limit)
		}
	})
}

// Proves I19, I22, H4: three gates on one database, of which connections and processes are killed, release no
// call without its row, and never more than the limit allows.
func TestGatesWithKills(t *testing.T) {
	srv := server.Start(t, server.Durable)
	location := srv.Database(t)
	const limit = 5
	file := strings.Replace(limitFile, "100000", strconv.Itoa(limit), 1)
	var gates []*gate.Gate
	var proxies []*server.Proxy
	for range 3 {
		p := srv.Proxy(t)
		proxies, gates = append(proxies, p), append(gates, fileGate(t, open(t, p.Through(location)), file))
	}
	direct := open(t, location)
	runs := 0
	property.Check(t, func(rt *rapid.T) {
		runs++
		how := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 4).Draw(rt, "how")
		call := stopgate.Call{Tool: "deploy", Session: "s", Principal: stopgate.Principal(fmt.Sprint("p", runs)), Args: []byte(`{}`)}
		var mu sync.Mutex
		var released []stopgate.ProposalID
		var group sync.WaitGroup
		for i := range 9 {
			group.Go(func() {
				for tries := 2; tries > 0; tries-- {
					out, _ := gates[i%len(gates)].Decide(t.Context(), call)
					if out.Allowed() {
						mu.Lock()
						released = append(released, out.Proposal)
						mu.Unlock()
					}
					if len(how) == 0 && out.Verdict.Code == stopgate.CodeStoreUnavailable && t.Context().Err() == nil {
						tries++ // a busy machine is no kill: the call is made again
					}
				}
			})
		}
		for _, k := range how {
			if k == 3 {
				_ = srv.Exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'stopgate'")
			} else {
				proxies[k].Cut()
			}
		}
		group.Wait()
		rows := allowedRows(t, direct, call.Principal)
		for _, id := range released {
			if !rows[string(id)] {
				rt.Fatalf("%s is released and has no row", id)
			}
		}
		// A call whose commit was not confirmed is denied, and its release withdrawn if it was written.
		withdrawn := 0
		facts, err := direct.Facts(t.Context(), session.Owner{Principal: call.Principal, Session: "s"}, 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			if f.Kind == session.Withdrawn {
				withdrawn++
			}
		}
		if len(released) > limit || len(rows)-withdrawn > limit || len(how) == 0 && (len(released) != limit || len(rows)-withdrawn != limit) {
			rt.Fatalf("%d calls have rows, %d were withdrawn, %d released, the limit is %d", len(rows), withdrawn, len(released), limit)
		}
	})
}

// allowedRows returns the proposals of a principal that have the row of an allowed call.
func allowedRows(t *testing.T, s *postgres.Store, p stopgate.Principal) map[string]bool {
	t.Helper()
	ids := map[string]bool{}
	err := s.Database().Query(t.Context(), func(rows pgx.Rows) error {
		var id []byte
		_, err := pgx.ForEachRow(rows, []any{&id}, func() error {
			ids[string(id)] = true
			return nil
		})
		return err
	}, "SELECT id FROM records WHERE principal = $1 AND final AND status = 'allowed'", []byte(p))
	if err != nil {
		t.Fatal(err)
	}
	return ids
}
