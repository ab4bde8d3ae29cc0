package pgdb

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/stopgate/stopgate/gate"
)

// Deadlines of statements, set for every connection unless the URL sets others. A gate that is
// suspended loses its locks after IdleTimeout.
const (
	lockTimeout      = 100 * time.Millisecond
	statementTimeout = time.Second
	IdleTimeout      = time.Second
	connectTimeout   = 2 * time.Second
)

// Schema is the schema of the tables, unless the URL sets search_path.
const Schema = "stopgate"

// maxConns bounds the connections for reads and rare changes, unless the URL sets pool_max_conns.
// The transactions of parts have another one.
const maxConns = 8

// DB is an open database. It is safe for concurrent use.
type DB struct {
	pool       *pgxpool.Pool
	config     *pgx.ConnConfig
	schema     string
	name       string
	components []Component

	queue     chan *entry
	closing   chan struct{}
	ended     chan struct{}
	closeOnce sync.Once
	onConnect []func(ctx context.Context, conn *pgx.Conn) error

	commits   atomic.Uint64
	warned    sync.Map // of the connections with a warning since their last commit began
	untrusted atomic.Pointer[error]
	failed    chan struct{}

	w writer
}

// Open opens the database at a URL, postgres://USER@HOST/DATABASE with the parameters of libpq and
// of pgxpool, and creates or migrates its tables. Several hosts and target_session_attrs=read-write
// follow a fail-over.
func Open(ctx context.Context, location string, components ...Component) (*DB, error) {
	config, err := parse(location)
	if err != nil {
		return nil, err
	}
	db := &DB{
		config: config.ConnConfig, name: Address(location), components: append([]Component{partitions}, components...),
		schema: firstSchema(config.ConnConfig.RuntimeParams["search_path"]),
		queue:  make(chan *entry, maxQueue), closing: make(chan struct{}), ended: make(chan struct{}), failed: make(chan struct{}),
	}
	if db.schema == "" {
		return nil, fmt.Errorf("postgres: open %s: the first name of search_path must be that of a schema: letters, digits and underscores", db.name)
	}
	config.ConnConfig.OnNotice = db.notice
	if db.pool, err = pgxpool.NewWithConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("postgres: open %s: %w", db.name, err)
	}
	if err := db.prepare(ctx); err != nil {
		db.pool.Close()
		return nil, fmt.Errorf("postgres: open %s: %w", db.name, reachable(err))
	}
	db.w.db = db
	db.addPartitions(ctx)
	go db.keepPartitions()
	go db.w.run()
	return db, nil
}

// parse reads a URL. Errors have none of it: it may have a password.
func parse(location string) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(location)
	if err != nil {
		return nil, errors.New("postgres: the URL of the database is invalid: want postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full " +
			"with parameters of libpq, and the password in the file that PGPASSFILE names")
	}
	c := config.ConnConfig
	if !strings.Contains(location, "pool_max_conns") {
		config.MaxConns = maxConns
	}
	if c.ConnectTimeout == 0 || c.ConnectTimeout > time.Minute { // the default of pgx is two minutes
		c.ConnectTimeout = connectTimeout
	}
	for name, value := range map[string]string{
		"application_name":                    "stopgate",
		"search_path":                         Schema,
		"lock_timeout":                        millis(lockTimeout),
		"statement_timeout":                   millis(statementTimeout),
		"idle_in_transaction_session_timeout": millis(IdleTimeout),
	} {
		if _, set := c.RuntimeParams[name]; !set {
			c.RuntimeParams[name] = value
		}
	}
	c.AfterConnect = nil
	config.AfterConnect = func(ctx context.Context, conn *pgx.Conn) error {
		return errors.Join(durable(ctx, conn), indexed(ctx, conn))
	}
	return config, nil
}

func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

// durable turns commits on again that return before they are on the disk, if the database or the
// role has turned them off. Stricter settings, such as remote_apply, stay.
func durable(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'")
	return err
}

// indexed turns plans off that read whole tables, for statements that can do without. Gates find rows by keys,
// and their statements are planned once: tables that are small then, and not analyzed since, would be read
// whole for each call when they have grown. The cost of a plan that is turned off would start the compiler.
func indexed(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, "SELECT set_config(name, 'off', false) FROM unnest(ARRAY['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin', 'jit']) AS name")
	return err
}

// Address returns a URL without its password and parameters, for errors and reports.
func Address(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" && u.Path == "" {
		return "the database"
	}
	name := ""
	if u.User != nil {
		name = u.User.Username() + "@"
	}
	host := u.Host
	if h := u.Query().Get("host"); host == "" && h != "" {
		host = h
	}
	return "postgres://" + name + host + u.Path
}

// firstSchema returns the first name of a search path, "" if it is none that needs no quotes.
func firstSchema(path string) string {
	first, _, _ := strings.Cut(path, ",")
	first = strings.TrimSpace(first)
	for i, r := range first {
		if !(r == '_' || r >= 'a' && r <= 'z' || i > 0 && r >= '0' && r <= '9') {
			return ""
		}
	}
	return first
}

// notice remembers warnings: see errWarned.
func (db *DB) notice(conn *pgconn.PgConn, n *pgconn.Notice) {
	if n.SeverityUnlocalized == "WARNING" {
		db.warned.Store(conn, true)
	}
}

// committed returns the error of a commit that succeeded with a warning.
func (db *DB) committed(conn *pgx.Conn) error {
	if _, warned := db.warned.LoadAndDelete(conn.PgConn()); warned {
		return errWarned
	}
	return nil
}

// Name returns the address of the database, without its password.
func (db *DB) Name() string { return db.name }

// progress is how long a gate waits for a database that does not commit: with the rest of a decision
// its calls are denied within 250 ms.
const progress = 200 * time.Millisecond

// Progress describes the database to gates. It advances with every commit of this process.
func (db *DB) Progress() gate.Progress {
	return gate.Progress{Advanced: db.commits.Load, Limit: progress}
}

// OnConnect calls f with every new connection of the transactions of parts, before its first one, so
// that locks of its session belong to the same connection as its writes. It is called before the
// first part; the context of f ends when the callers stop waiting.
func (db *DB) OnConnect(f func(ctx context.Context, conn *pgx.Conn) error) {
	db.onConnect = append(db.onConnect, f)
}

// Failed is closed when the database is no longer trusted; Err returns the reason.
func (db *DB) Failed() <-chan struct{} { return db.failed }

// Err returns the error that closed Failed, or nil.
func (db *DB) Err() error {
	if err := db.untrusted.Load(); err != nil {
		return *err
	}
	return nil
}

// Distrust ends the use of the database: all further changes fail with the error.
func (db *DB) Distrust(err error) error {
	if db.untrusted.CompareAndSwap(nil, &err) {
		close(db.failed)
	}
	return db.Err()
}

// Closing is closed when Close begins.
func (db *DB) Closing() <-chan struct{} { return db.closing }

// Close runs the parts that wait, and closes the connections.
func (db *DB) Close() error {
	db.closeOnce.Do(func() { close(db.closing) })
	<-db.ended
	db.pool.Close()
	return nil
}
