package postgres

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/session"
)

// Bounds of the loads that are read together.
const (
	maxLoads    = 128
	maxLoaders  = 2 // statements at a time
	loadTimeout = time.Second
)

// load is a state that a caller waits for.
type load struct {
	ctx          context.Context // of the caller
	principal    []byte
	owners, keys [][]byte
	done         chan struct{}

	// Until done is closed.
	head, last, now int64
	texts           [][]byte // of the cells, nil for those that are not stored
	err             error
}

// loader reads the states that are waited for together: a statement costs more than its rows.
type loader struct {
	s       *Store
	mu      sync.Mutex
	waiting []*load
	running int
}

// Load returns a consistent state of cells.
func (s *Store) Load(ctx context.Context, o session.Owner, keys []session.Key) (session.State, error) {
	if err := ctx.Err(); err != nil {
		return session.State{}, err
	}
	l := &load{ctx: ctx, principal: idOf(ofPrincipal, string(o.Principal)), owners: make([][]byte, len(keys)), keys: make([][]byte, len(keys)), done: make(chan struct{})}
	of := idOf(ofSession, string(o.Principal), string(o.Session))
	for i, k := range keys {
		l.owners[i], l.keys[i] = of, []byte(k.Text())
		if k.Scope == session.OfPrincipal {
			l.owners[i] = l.principal
		}
	}
	s.loads.add(l)
	select {
	case <-l.done:
	case <-ctx.Done():
		return session.State{}, fmt.Errorf("load session: %w", context.Cause(ctx))
	}
	if l.err != nil {
		return session.State{}, fmt.Errorf("load session: %w", l.err)
	}
	entries := make([]session.Entry, len(keys))
	for i, k := range keys {
		entries[i] = session.Entry{Key: k, Cell: &zero}
		if l.texts[i] != nil {
			c, err := unmarshalCell(l.texts[i])
			if err != nil {
				return session.State{}, fmt.Errorf("load session: %w", err)
			}
			entries[i].Cell = c
		}
	}
	state := session.NewState(uint64(l.head), entries)
	state.Now = max(l.now, l.last)
	return state, nil
}

func (l *loader) add(q *load) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting = append(l.waiting, q)
	if l.running < maxLoaders {
		l.running++
		go l.run()
	}
}

// run reads until nothing waits.
func (l *loader) run() {
	for {
		l.mu.Lock()
		n := min(len(l.waiting), maxLoads)
		some := l.waiting[:n:n]
		l.waiting = l.waiting[n:]
		if n == 0 {
			l.running--
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		// A load whose caller has given up is not read, so that after a stall of the database new ones do not wait for it.
		some = slices.DeleteFunc(some, func(q *load) bool { return q.ctx.Err() != nil })
		if len(some) > 0 {
			l.read(some)
		}
	}
}

// selectStates reads the time, the rows of principals and cells: one statement, and so one state. LIMIT
// keeps its plan, which stays for as long as the tables are not analyzed, from a hash of a whole table.
const selectStates = "SELECT 0::bigint, 0::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint, NULL::bytea " +
	"UNION ALL SELECT k.n, p.head, p.last, NULL FROM unnest($1::bytea[]) WITH ORDINALITY AS k(id, n), LATERAL (SELECT head, last FROM principals WHERE id = k.id LIMIT 1) p " +
	"UNION ALL SELECT -k.n, 0, 0, c.packed FROM unnest($2::bytea[], $3::bytea[]) WITH ORDINALITY AS k(owner, key, n), LATERAL (SELECT packed FROM cells WHERE owner = k.owner AND key = k.key LIMIT 1) c"

// read reads some states and answers those who wait for them.
func (l *loader) read(some []*load) {
	ctx, cancel := context.WithTimeout(context.Background(), loadTimeout)
	defer cancel()
	var principals, owners, keys [][]byte
	var of []*load // of each cell
	for _, q := range some {
		principals, owners, keys = append(principals, q.principal), append(owners, q.owners...), append(keys, q.keys...)
		for range q.keys {
			of = append(of, q)
		}
	}
	err := l.s.db.Query(ctx, func(rows pgx.Rows) error {
		first := map[*load]int{} // number of its first cell
		for i, q := range of {
			if _, known := first[q]; !known {
				first[q] = i
			}
		}
		for _, q := range some {
			q.head, q.last, q.now, q.texts = 0, 0, 0, make([][]byte, len(q.keys))
		}
		var n, head, at int64
		var text []byte
		_, err := pgx.ForEachRow(rows, []any{&n, &head, &at, &text}, func() error {
			switch {
			case n == 0:
				l.s.clock.observe(time.UnixMilli(at).UTC())
				for _, q := range some {
					q.now = at
				}
			case n > 0:
				some[n-1].head, some[n-1].last = head, at
			default:
				q := of[-n-1]
				q.texts[int(-n-1)-first[q]] = text
			}
			return nil
		})
		return err
	}, selectStates, principals, owners, keys)
	for _, q := range some {
		q.err = err
		close(q.done)
	}
}
