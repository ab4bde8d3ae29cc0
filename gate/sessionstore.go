package gate

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/session"
)

// ErrNoStore is the error of operations that need a [Store].
var ErrNoStore = errors.New("gate: no store of sessions: see WithStore")

// sessionStore calls the [Store], and remembers which sessions it may know too little about.
type sessionStore struct {
	Store   // nil: none
	limit   time.Duration
	now     func() time.Time
	trouble func(who string, id stopgate.ProposalID, f port.Fault, err error)
	guard   port.Guard
	stall   *port.Stall // of a store that several writers share
	local   bool        // the store is in memory
	journal bool        // the store writes the rows in the same step
	fleet   bool        // gates on several machines share the store
	texts   flow.Store  // nil: none
	joins   bool        // texts are written in the same step

	uncertain uncertainSessions
}

func newSessionStore(c *config, auditStall *port.Stall) *sessionStore {
	s := &sessionStore{Store: c.store, limit: c.limits.Store, now: c.now, trouble: c.reportTrouble}
	if c.store == nil {
		return s
	}
	can := c.store.Capabilities()
	s.local, s.texts, s.fleet = can.InMemory, can.Texts, can.Fleet
	s.joins = can.Texts != nil && can.JoinsTexts
	s.journal = can.Journal != nil && c.recorder != nil && can.Journal(c.recorder)
	if s.stall = port.NewStall(can.Progress.Advanced, can.Progress.Share, nil, can.Progress.limit(c.limits)); s.journal && auditStall != nil {
		s.stall = auditStall // both write to one database and fail together
	}
	return s
}

// exists reports whether there is a store.
func (s *sessionStore) exists() bool { return s.Store != nil }

// ask calls the store: inline if it is in memory, else under a deadline.
func ask[T any](ctx context.Context, s *sessionStore, f func(context.Context) (T, error)) port.Reply[T] {
	if s.stall != nil {
		return port.During(ctx, s.stall, &s.guard, false, f)
	}
	if !s.local {
		return port.Invoke(ctx, &s.guard, s.limit, f)
	}
	if ctx.Err() != nil {
		return port.Reply[T]{Fault: port.CallerDone, Err: context.Cause(ctx)}
	}
	return port.Inline(ctx, f)
}

// load reads cells.
func (s *sessionStore) load(ctx context.Context, o session.Owner, keys []session.Key) port.Reply[session.State] {
	r := ask(ctx, s, func(ctx context.Context) (session.State, error) {
		return s.Load(ctx, o, keys)
	})
	s.trouble("store", "", r.Fault, r.Err)
	return r
}

// update runs decide on current cells and writes its change, whose facts have the time of the
// store if it has one. The value is local to the call of the store, so that an update that was
// given up does not write to shared memory.
func update[T any](ctx context.Context, s *sessionStore, o session.Owner, keys []session.Key, decide func(session.State) (Change, T, error)) port.Reply[T] {
	r := ask(ctx, s, func(ctx context.Context) (T, error) {
		var value T
		var decideErr error
		err := s.Update(ctx, o, keys, func(state session.State) (Change, error) {
			change, v, err := decide(state)
			value, decideErr = v, err
			if state.Now != 0 {
				change.Facts = at(state.Now, change.Facts)
			}
			return change, err
		})
		if locked := (*LockdownError)(nil); err != nil && decideErr == nil && ctx.Err() == nil && !errors.As(err, &locked) && !refusesTexts(err) {
			s.trouble("store", "", port.Failed, err)
		}
		return value, err
	})
	if r.Fault != port.Failed {
		s.trouble("store", "", r.Fault, r.Err)
	}
	return r
}

// refusesTexts reports whether an error is the answer of a store that works to a change of texts.
func refusesTexts(err error) bool {
	return errors.Is(err, flow.ErrMoved) || errors.Is(err, flow.ErrFull)
}

// at returns copies of facts with another time.
func at(now int64, facts []session.Fact) []session.Fact {
	facts = slices.Clone(facts)
	for i := range facts {
		facts[i].At = now
	}
	return facts
}

// timeOf returns the time of the store, or of the gate if the store has none.
func (s *sessionStore) timeOf(state *session.State) int64 {
	if state.Now != 0 {
		return state.Now
	}
	return s.now().UnixMilli()
}

// append writes facts without a check.
func (s *sessionStore) append(ctx context.Context, o session.Owner, facts ...session.Fact) error {
	if !s.exists() {
		return ErrNoStore
	}
	var keys []session.Key
	for i := range facts {
		facts[i].At = s.now().UnixMilli()
		keys = append(keys, facts[i].Keys()...)
	}
	r := update(ctx, s, o, distinct(keys), func(session.State) (Change, struct{}, error) {
		return Change{Facts: facts}, struct{}{}, nil
	})
	return r.Problem("session")
}

// isUncertain reports whether governed calls of the session are denied until an operator
// reconciles it.
func (s *sessionStore) isUncertain(o session.Owner, state session.State) bool {
	self, _ := state.Cell(session.Self)
	return self.Self != nil && self.Self.Degraded || s.uncertain.has(o)
}

// degrade remembers that a result could not be stored. If the store does not take that
// either, [Gate.Mend] writes it later.
func (s *sessionStore) degrade(ctx context.Context, o session.Owner) {
	ctx, cancel := port.Detached(ctx)
	defer cancel()
	s.uncertain.add(o)
	if s.append(ctx, o, session.Fact{Kind: session.Degraded}) == nil {
		s.uncertain.drop(o)
	}
}

// settle writes to the store which sessions are uncertain, so that an operator can reconcile
// them from another process, and a restart does not forget them. It reports whether none is
// left.
func (s *sessionStore) settle(ctx context.Context) bool {
	for _, o := range s.uncertain.list() {
		if s.append(ctx, o, session.Fact{Kind: session.Degraded}) != nil {
			return false
		}
		s.uncertain.drop(o)
	}
	return true
}

// uncertainSessions are the sessions whose state may lack a result, as long as the store did
// not take that in (FM16). Too many of them make every session uncertain.
type uncertainSessions struct {
	some   atomic.Bool // there was one: almost always there never is
	mu     sync.Mutex
	owners map[session.Owner]bool
	all    bool
}

// maxUncertain bounds how many sessions are kept apart.
const maxUncertain = 4096

func (d *uncertainSessions) add(o session.Owner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.some.Store(true)
	if d.owners == nil {
		d.owners = make(map[session.Owner]bool)
	}
	if len(d.owners) >= maxUncertain {
		d.all = true
		return
	}
	d.owners[o] = true
}

func (d *uncertainSessions) has(o session.Owner) bool {
	if !d.some.Load() {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.all || d.owners[o]
}

func (d *uncertainSessions) drop(o session.Owner) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.owners, o)
}

func (d *uncertainSessions) list() []session.Owner {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Keys(d.owners))
}

func (d *uncertainSessions) count() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int64(len(d.owners))
}

// distinct returns the keys without repetitions.
func distinct(keys []session.Key) []session.Key {
	const few = 64
	some := make([]session.Key, 0, len(keys))
	if len(keys) <= few {
		for _, k := range keys {
			if !slices.Contains(some, k) {
				some = append(some, k)
			}
		}
		return some
	}
	seen := make(map[session.Key]bool, len(keys))
	for _, k := range keys {
		if !seen[k] {
			seen[k] = true
			some = append(some, k)
		}
	}
	return some
}
