package pgdb_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/stopgate/stopgate/internal/store/postgres/pgdb"
	"github.com/stopgate/stopgate/internal/testkit/postgres"
)

var items = pgdb.Component{Name: "items", Migrations: []string{
	"CREATE TABLE items(name text PRIMARY KEY, n integer NOT NULL CHECK(n < 1000))",
	"INSERT INTO items VALUES('a', 0), ('b', 0)",
}}

func open(t *testing.T, location string, components ...pgdb.Component) *pgdb.DB {
	t.Helper()
	db, err := pgdb.Open(t.Context(), location, components...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// add is a part that adds to an item under its lock.
type add struct {
	name string
	n    int
	fail error // after the reads
	late error // after it wrote

	now    int
	locked bool
	at     time.Time
}

func (a *add) Read(tx *pgdb.Tx) {
	a.locked = false
	query := "SELECT n FROM items WHERE name = $1 FOR UPDATE"
	if tx.NoWait {
		query += " SKIP LOCKED"
	}
	tx.QueueRead(query, []any{a.name}, func(rows pgx.Rows) error {
		for rows.Next() {
			a.locked = true
			if err := rows.Scan(&a.now); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

func (a *add) Run(tx *pgdb.Tx) error {
	if !a.locked {
		return pgdb.ErrLater
	}
	if a.fail != nil {
		return a.fail
	}
	a.at = tx.Now()
	tx.Queue("UPDATE items SET n = n + $1 WHERE name = $2", a.n, a.name)
	return a.late
}

func value(t *testing.T, db *pgdb.DB, name string) (n int) {
	t.Helper()
	if err := db.Read(t.Context(), func(tx pgx.Tx) error {
		return tx.QueryRow(t.Context(), "SELECT n FROM items WHERE name = $1", name).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

// Many processes open an empty database at once: its tables are made once.
func TestConcurrentFirstOpens(t *testing.T) {
	location := postgres.Database(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			db, err := pgdb.Open(t.Context(), location, items)
			if err != nil {
				t.Error(err)
				return
			}
			db.Close()
		})
	}
	group.Wait()
	if db := open(t, location, items); value(t, db, "a") != 0 {
		t.Error("the migrations ran more than once")
	}
}

// A newer version has other tables, of which this one knows nothing.
func TestNewerIsRefused(t *testing.T) {
	location := postgres.Database(t)
	old := open(t, location, items)
	next := pgdb.Component{Name: "items", Migrations: append(append([]string{}, items.Migrations...), "ALTER TABLE items RENAME TO things")}
	open(t, location, next)
	var newer *pgdb.NewerError
	if _, err := pgdb.Open(t.Context(), location, items); !errors.As(err, &newer) || newer.Have != 3 || newer.Latest != 2 {
		t.Errorf("an old version opens it: %v", err)
	}
	if err := old.Do(t.Context(), &add{name: "a", n: 1}); !errors.As(err, &newer) {
		t.Errorf("a process of the old version goes on: %v", err)
	}
	select {
	case <-old.Failed():
	default:
		t.Error("it is not reported as failed")
	}
}

// Parts share transactions, and one that fails takes no other with it.
func TestParts(t *testing.T) {
	db := open(t, postgres.Database(t), items)
	no := errors.New("no")
	var group sync.WaitGroup
	for i := range 60 {
		group.Go(func() {
			part := &add{name: []string{"a", "b"}[i%2], n: 1}
			var want error
			switch i % 10 {
			case 3:
				part.fail, want = no, no
			case 4:
				part.late, want = no, no
			case 5:
				part.n = 5000 // the server refuses
			}
			err := db.Do(t.Context(), part)
			if i%10 == 5 {
				if pgdb.StateOf(err) != "23514" {
					t.Errorf("part %d: %v", i, err)
				}
				return
			}
			if !errors.Is(err, want) {
				t.Errorf("part %d: %v, want %v", i, err, want)
			}
			if want == nil && time.Since(part.at).Abs() > time.Minute {
				t.Errorf("the time of the database is %v", part.at)
			}
		})
	}
	group.Wait()
	if a, b := value(t, db, "a"), value(t, db, "b"); a != 24 || b != 18 {
		t.Errorf("a %d, b %d", a, b)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Do(ctx, &add{name: "a", n: 1}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	db.Close()
	if err := db.Do(t.Context(), &add{name: "a", n: 1}); !errors.Is(err, pgdb.ErrClosed) {
		t.Error(err)
	}
}

// Rows that another gate has locked are waited for a moment, and hold up nothing else.
func TestLocksOfAnotherGate(t *testing.T) {
	location := postgres.Database(t)
	db := open(t, location, items)
	other, err := pgx.Connect(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close(t.Context())
	hold, err := other.Begin(t.Context())
	if err == nil {
		_, err = hold.Exec(t.Context(), "SELECT FROM stopgate.items WHERE name = 'a' FOR UPDATE")
	}
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	var group sync.WaitGroup
	group.Go(func() {
		if err := db.Do(t.Context(), &add{name: "a", n: 1}); !errors.Is(err, pgdb.ErrBusy) {
			t.Errorf("a locked row: %v after %v", err, time.Since(began))
		}
	})
	for range 20 {
		if err := db.Do(t.Context(), &add{name: "b", n: 1}); err != nil {
			t.Error(err)
		}
	}
	group.Wait()
	group.Go(func() {
		time.Sleep(20 * time.Millisecond)
		_ = hold.Rollback(t.Context())
	})
	if err := db.Do(t.Context(), &add{name: "a", n: 1}); err != nil {
		t.Errorf("a row that is unlocked meanwhile: %v", err)
	}
	group.Wait()
	if a, b := value(t, db, "a"), value(t, db, "b"); a != 1 || b != 20 {
		t.Errorf("a %d, b %d", a, b)
	}
}

// A commit that the server answers with a warning may not be where it has to be: it is not confirmed.
func TestWarningsOfCommits(t *testing.T) {
	location := postgres.Database(t)
	db := open(t, location, items, pgdb.Component{Name: "warning", Migrations: []string{`
CREATE FUNCTION warn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
	IF NEW.n = 7 THEN RAISE WARNING 'canceling wait for synchronous replication due to user request'; END IF;
	RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER warns AFTER UPDATE ON items DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION warn();
`}})
	var unknown *pgdb.UnknownError
	if err := db.Do(t.Context(), &add{name: "a", n: 7}); !errors.As(err, &unknown) {
		t.Errorf("a part: %v", err)
	}
	if err := db.Do(t.Context(), &add{name: "a", n: 1}); err != nil {
		t.Errorf("the next part: %v", err)
	}
	for n, warned := range map[int]bool{7: true, 8: false} {
		err := db.Change(t.Context(), func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "UPDATE items SET n = $1 WHERE name = 'b'", n)
			return err
		})
		if errors.As(err, &unknown) != warned || err != nil != warned {
			t.Errorf("a change to %d: %v", n, err)
		}
	}
}

// Proves H17: a password in the URL is in no error and in no name.
func TestPasswordsAreNotPrinted(t *testing.T) {
	for _, location := range []string{
		"postgres://u:hunter2@127.0.0.1:1/db?connect_timeout=1", "postgres://u:hunter2@127.0.0.1:port/db", "postgres://u:hunter2@[/db", "postgres://u:hunter2@/db?host=/nowhere&password=hunter2",
		"postgres://u:hunter2@127.0.0.1:1/db?sslmode=hunter2", "postgres://u:hunter2@127.0.0.1/db?search_path=Odd",
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		db, err := pgdb.Open(ctx, location)
		cancel()
		if err == nil {
			db.Close()
			t.Errorf("%s can be opened", location)
			continue
		}
		if text := fmt.Sprintf("%v %+v", err, err); strings.Contains(text, "hunter2") || strings.Contains(pgdb.Address(location), "hunter2") {
			t.Error(text, pgdb.Address(location))
		}
	}
	if got := pgdb.Address("postgresql://u:p@db.internal:5433/x?sslmode=require"); got != "postgres://u@db.internal:5433/x" {
		t.Error(got)
	}
}
