package policies

import (
	"errors"
	"fmt"
	"time"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Quota is the policy "not more than": calls in a time, the sum of an argument, or
// calls in flight. Build it with [Limit].
type Quota struct {
	name     string
	cell     string // name of the cells of the totals
	tools    session.Selector
	count    int64 // calls that are allowed, in all or in flight
	counted  bool
	max      session.Amount // of the sum
	sum      jsonstream.Pointer
	summed   bool
	inFlight bool
	ttl      int64 // in milliseconds
	within   int64 // in milliseconds; 0: for ever
	scope    session.Scope
	key      keys
	missing  missingKey
	failures bool // failed calls count too
	observed bool // only observed failures give back
	public   string
	ask      bool
	err      error
}

// inflightTTL is how long a call without a result counts as in flight (S44).
const inflightTTL = 10 * time.Minute

// errWindow is the error of a window with steps below a millisecond.
var errWindow = fmt.Errorf("invalid window: it must be at least %d ms", session.Steps)

// Limit begins a policy over tools, names or globs, which are counted together. By default
// it counts over all sessions of the principal, since a client can always begin another
// session (S44).
//
//	policies.Limit("send_mail").Calls(20).Within(time.Hour)
//	policies.Limit("transfer").Sum("/amount", "1000").Within(24*time.Hour)
//	policies.Limit("run_*").InFlight(4)
func Limit(tools ...string) *Quota {
	q := &Quota{tools: Select(tools...), scope: session.OfPrincipal, ttl: inflightTTL.Milliseconds()}
	q.name = "limit"
	for _, t := range tools {
		q.name += ":" + t
	}
	q.nameCell()
	return q
}

// Named sets the name of the policy; by default it is made of the tools.
func (q *Quota) Named(name string) *Quota {
	q.name = name
	q.nameCell()
	return q
}

// Calls allows n calls.
func (q *Quota) Calls(n int64) *Quota { q.count, q.counted = n, true; return q }

// Sum allows calls as long as the numbers at the pointer add up to at most max, a decimal
// that is not negative.
func (q *Quota) Sum(pointer, max string) *Quota {
	p, err := jsonstream.ParsePointer(pointer)
	d, err2 := jsonstream.ParseDecimal([]byte(max))
	limit, ok := session.LimitOf(d)
	switch {
	case err != nil:
		q.err = err
	case err2 != nil, !ok:
		q.err = fmt.Errorf("invalid sum %q: not a decimal number that is zero or more", max)
	}
	q.sum, q.max, q.summed = p, limit, true
	return q
}

// InFlight allows n calls at once; a call is in flight from its release
// until its result, and no longer than [Quota.TTL].
func (q *Quota) InFlight(n int64) *Quota { q.count, q.inFlight = n, true; return q }

// TTL sets how long a call without a result counts as in flight, by default 10 minutes.
func (q *Quota) TTL(d time.Duration) *Quota { q.ttl = d.Milliseconds(); return q }

// Within sets how long a call counts: at least d and at most a sixtieth longer.
func (q *Quota) Within(d time.Duration) *Quota {
	if q.within = d.Milliseconds(); q.within < session.Steps {
		q.err = errWindow
	}
	q.nameCell()
	return q
}

// InSession counts each session on its own.
func (q *Quota) InSession() *Quota { q.scope = session.OfSession; return q }

// Key counts the calls of each value at the pointer on their own. A pointer that the schema
// calls a path is compared as one.
func (q *Quota) Key(pointers ...string) *Quota { q.err = q.key.add(q.err, pointers); return q }

// PathKey is Key for values that are paths, also where the schema does not call them so.
func (q *Quota) PathKey(pointers ...string) *Quota { q.key.path = true; return q.Key(pointers...) }

// ValueKey is Key for values that are compared as they are written, also where the schema
// calls them paths.
func (q *Quota) ValueKey(pointers ...string) *Quota { q.key.literal = true; return q.Key(pointers...) }

// AllowMissingKey allows calls without a key value or an amount, uncounted; by default they
// are denied with key_unavailable (H8).
func (q *Quota) AllowMissingKey() *Quota { q.missing = allowMissing; return q }

// CountFailures also counts calls that failed; by default a failure refunds the reservation of
// the call (Q13).
func (q *Quota) CountFailures() *Quota { q.failures = true; return q }

// Observed gives back only for failures that the gate's own surface observed.
func (q *Quota) Observed() *Quota { q.observed = true; return q }

// Because replaces the sentence for models and people.
func (q *Quota) Because(public string) *Quota { q.public = public; return q }

// ReadPaths sets how paths are brought into the form that is compared. By default only
// their text counts.
func (q *Quota) ReadPaths(p PathReader) *Quota { q.key.paths = p; return q }

// Ask asks a person about a call to which the policy objects, instead of denying it: a yes allows
// this one call. A call whose key or session is not known is denied all the same.
func (q *Quota) Ask() *Quota { q.ask = true; return q }

// Name returns the policy's name.
func (q *Quota) Name() string { return q.name }

// Tools returns the tools that are counted.
func (q *Quota) Tools() session.Selector { return q.tools }

// Valid returns the first mistake of the builder.
func (q *Quota) Valid() error {
	switch {
	case q.err != nil:
		return q.err
	case q.tools.Empty():
		return errNoTools
	case !q.counted && !q.inFlight && !q.summed:
		return errNoLimit
	case q.count < 0:
		return fmt.Errorf("invalid limit %d: less than 0", q.count)
	case q.within < 0:
		return errWindow
	case q.ttl <= 0:
		return errors.New("invalid TTL: it must be positive")
	case q.inFlight && (q.counted || q.summed || q.within > 0):
		return errors.New("InFlight cannot be combined with Calls, Sum or Within: register two policies")
	case q.inFlight && q.count > session.MaxOpen:
		return fmt.Errorf("invalid limit %d: at most %d calls can be counted in flight", q.count, session.MaxOpen)
	}
	return nil
}

// NeedsArguments reports whether the policy is keyed or adds up an argument: otherwise it
// can decide before any argument arrives.
func (q *Quota) NeedsArguments() bool { return q.summed || q.key.used() }

// Bounded reports whether p is this policy: its cost is bounded by construction.
func (q *Quota) Bounded(p session.Policy) bool { return p == session.Policy(q) }
