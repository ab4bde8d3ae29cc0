package session

import (
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Quota is the policy "not more than": calls in a time, the sum of an argument, or
// calls in flight. Build it with [Limit].
type Quota struct {
	name      string
	tools     Selector
	count     int64
	counted   bool
	max       Amount
	sum       jsonstream.Pointer
	summed    bool
	inFlight  bool
	ttl       int64
	within    int64
	scope     Scope
	key       keyer
	missing   missingKey
	keeps     bool
	distrusts bool
	public    string
	err       error

	once  sync.Once
	space string // the name of its cells, made when a call is first looked at
}

// inflightTTL is how long a call without a result is held to be in flight (S44).
const inflightTTL = 10 * time.Minute

// Limit begins a policy over tools, names or globs, counted together. By default it
// holds for every session of the principal: a client can always begin another one
// (S44).
//
//	session.Limit("send_mail").Calls(20).Within(time.Hour)
//	session.Limit("transfer").Sum("/amount", "1000").Within(24*time.Hour)
//	session.Limit("run_*").InFlight(4)
func Limit(tools ...string) *Quota {
	q := &Quota{tools: Select(tools...), scope: OfPrincipal, ttl: inflightTTL.Milliseconds()}
	q.name = "limit"
	for _, t := range tools {
		q.name += ":" + t
	}
	return q
}

// Named gives the policy a name of its own.
func (q *Quota) Named(name string) *Quota { q.name = name; return q }

// Calls allows this many.
func (q *Quota) Calls(n int64) *Quota { q.count, q.counted = n, true; return q }

// Sum allows calls until the numbers at the pointer add up to more than max, a
// decimal.
func (q *Quota) Sum(pointer, max string) *Quota {
	p, err := jsonstream.ParsePointer(pointer)
	d, err2 := jsonstream.ParseDecimal([]byte(max))
	limit, ok := LimitOf(d)
	switch {
	case err != nil:
		q.err = err
	case err2 != nil, !ok:
		q.err = fmt.Errorf("%q is no limit of a sum", max)
	}
	q.sum, q.max, q.summed = p, limit, true
	return q
}

// InFlight allows this many calls at once; a call is in flight from its release
// until its result, and no longer than [Quota.TTL].
func (q *Quota) InFlight(n int64) *Quota { q.count, q.inFlight = n, true; return q }

// TTL is how long a call whose result never comes counts as in flight: 10 minutes.
func (q *Quota) TTL(d time.Duration) *Quota { q.ttl = d.Milliseconds(); return q }

// Within makes calls count for a time only: at least d and at most a sixtieth
// longer.
func (q *Quota) Within(d time.Duration) *Quota {
	if q.within = d.Milliseconds(); q.within < Steps {
		q.err = errLimit
	}
	return q
}

// InSession counts each session by itself.
func (q *Quota) InSession() *Quota { q.scope = OfSession; return q }

// Key counts the calls of each value at the pointer by themselves. A pointer that the
// schema calls a path is compared as one.
func (q *Quota) Key(pointers ...string) *Quota { q.err = q.key.set(q.err, pointers); return q }

// PathKey is Key for values that are paths, whatever the schema says.
func (q *Quota) PathKey(pointers ...string) *Quota { q.key.path = true; return q.Key(pointers...) }

// ValueKey is Key for values that are compared by their letters, whatever the schema says.
func (q *Quota) ValueKey(pointers ...string) *Quota { q.key.value = true; return q.Key(pointers...) }

// AllowMissingKey lets calls without a key value, or without an amount, pass
// uncounted.
func (q *Quota) AllowMissingKey() *Quota { q.missing = allowMissing; return q }

// CountFailures keeps failed calls counted; by default a failure gives back what it
// reserved (Q13).
func (q *Quota) CountFailures() *Quota { q.keeps = true; return q }

// Observed believes only failures that the gate's own surface saw.
func (q *Quota) Observed() *Quota { q.distrusts = true; return q }

// Because replaces the sentence for models and people.
func (q *Quota) Because(public string) *Quota { q.public = public; return q }

// ReadPaths sets how paths are brought into the form that is compared. By default only
// the letters of a path count.
func (q *Quota) ReadPaths(p PathReader) *Quota { q.key.paths = p; return q }

// Name is the policy's name.
func (q *Quota) Name() string { return q.name }

// Tools are the tools that are counted.
func (q *Quota) Tools() Selector { return q.tools }

// Valid reports mistakes of the builder.
func (q *Quota) Valid() error {
	switch {
	case q.err != nil:
		return q.err
	case q.tools.Empty():
		return errNoTools
	case !q.counted && !q.inFlight && !q.summed:
		return errNothing
	case q.counted && q.inFlight, q.count < 0, q.within < 0, q.within > 0 && q.within < Steps, q.ttl <= 0:
		return errLimit
	case q.inFlight && (q.count > MaxOpen || q.within > 0 || q.summed):
		return errLimit
	}
	return nil
}

func (q *Quota) needsArgs() bool { return q.summed || q.key.needsArgs() }

func (q *Quota) keyer() *keyer { return &q.key }

// quotaPart is the part about one tool: whichever it is, it is counted.
type quotaPart struct{ *Quota }

func (q *Quota) about(stopgate.ToolName) part {
	q.once.Do(q.nameCells)
	return quotaPart{q}
}

// step is the width of the steps of time.
func (q *Quota) step() int64 { return (q.within + Steps - 1) / Steps }

// totals are the values that a call's totals are kept by and the amount it adds; ok is
// false if it does not say.
func (q *Quota) totals(c *Call) (values []string, amount Amount, ok bool) {
	values = noValue[:]
	if q.key.needsArgs() {
		if values, ok = q.key.of(c); !ok {
			return nil, amount, false
		}
	}
	if q.summed {
		v, found := q.sum.Find(c.Args)
		d, isNumber := v.Decimal()
		if !found || !isNumber {
			return nil, amount, false
		}
		if amount, ok = AmountOf(d); !ok {
			return nil, amount, false
		}
	}
	return values, amount, true
}

func (q *Quota) nameCells() {
	if q.space = q.name; q.within > 0 { // totals of another window are other totals
		q.space += " " + strconv.FormatInt(q.step(), 10)
	}
}

// cell is the key of the totals of one value.
func (q *Quota) cell(value string) Key {
	return Key{Scope: q.scope, Space: SpaceLimit, Name: q.space, Value: ValueOf(value)}
}

// Needs are the totals.
func (q *Quota) Needs(c Call) []Key { return q.about(c.Tool).needs(nil, &c) }

func (q quotaPart) needs(keys []Key, c *Call) []Key {
	values, _, _ := q.totals(c)
	for _, value := range values {
		keys = append(keys, q.cell(value))
	}
	return keys
}

// Marks count the call.
func (q *Quota) Marks(c Call) []Mark { return q.about(c.Tool).marks(nil, &c) }

func (q quotaPart) marks(marks []Mark, c *Call) []Mark {
	values, amount, _ := q.totals(c)
	for _, value := range values {
		m := Mark{Key: q.cell(value), Keeps: q.keeps, Distrusts: q.distrusts}
		if q.inFlight {
			m.Opens = true
		} else {
			m.Counts, m.Amount = true, amount
			if q.within > 0 {
				m.Step = q.step()
			}
		}
		marks = append(marks, m)
	}
	return marks
}

// Check compares the totals, this call included, with the limit.
func (q *Quota) Check(v View, c Call) Decision { return q.about(c.Tool).check(&v, &c) }

func (q quotaPart) check(v *View, c *Call) Decision {
	if v.Owner.Session == "" && q.scope == OfSession {
		return homeless(c)
	}
	values, amount, ok := q.totals(c)
	switch {
	case !ok && q.missing == allowMissing:
		return Allow()
	case !ok:
		return Decision{
			Code: stopgate.CodeKeyUnavailable, Public: "This call must say what its limit counts.",
			Meta: map[string]string{"tool": string(c.Tool)},
		}
	}
	for _, value := range values {
		calls, sum := q.used(v, v.cell(q.cell(value)))
		if (q.counted || q.inFlight) && calls >= q.count || q.summed && sum.Add(amount).Cmp(q.max) > 0 {
			return q.exceeded(calls, sum)
		}
	}
	return Allow()
}

// used is what counts now. What was given back since the turn began is still reserved in
// it: a turn sees the state before it, and what its calls reserved (H4).
func (q *Quota) used(v *View, c *Cell) (calls int64, sum Amount) {
	calls, sum = q.reserved(v, c)
	for i := len(c.Back) - 1; i >= 0 && c.Back[i].Seq > v.Horizon; i-- {
		if b := &c.Back[i]; q.counts(v, b.At) {
			calls, sum = calls+1, sum.Add(b.Amount)
		}
	}
	if c.Lost > v.Horizon { // more than the cell can tell
		calls, sum = max(calls, q.count), saturated
	}
	return calls, sum
}

// counts reports whether a call of that time counts now.
func (q *Quota) counts(v *View, at int64) bool {
	switch {
	case q.inFlight:
		return v.Now-at < q.ttl
	case q.within > 0:
		return v.Now/q.step()-at/q.step() <= Steps
	}
	return true
}

// reserved is what the cell counts.
func (q *Quota) reserved(v *View, c *Cell) (calls int64, sum Amount) {
	switch {
	case q.inFlight:
		for _, o := range c.Open {
			if v.Now-o.At < q.ttl {
				calls++
			}
		}
	case q.within == 0:
		calls, sum = c.Count, c.Sum
	default:
		now := v.Now / q.step()
		for i := range c.Steps {
			if s := &c.Steps[i]; now-s.At <= Steps {
				calls, sum = calls+s.Count, sum.Add(s.Sum)
			}
		}
	}
	return calls, sum
}

func (q *Quota) exceeded(calls int64, sum Amount) Decision {
	d := Decision{Code: stopgate.CodeSessionPolicyDenied, Public: q.public, Meta: map[string]string{}}
	switch {
	case q.inFlight:
		d.Meta["in_flight"], d.Meta["max"] = strconv.FormatInt(calls, 10), strconv.FormatInt(q.count, 10)
	case q.summed:
		d.Meta["sum"], d.Meta["max_sum"] = sum.String(), q.max.String()
	}
	if q.counted {
		d.Meta["calls"], d.Meta["max"] = strconv.FormatInt(calls, 10), strconv.FormatInt(q.count, 10)
	}
	if d.Public == "" {
		d.Public = q.sentence(q.summed && !(q.counted && calls >= q.count))
	}
	return d
}

// sentence says which of the limits holds the call back: that of the sum, or of calls.
func (q *Quota) sentence(sum bool) string {
	what := "The limit of " + times(q.count)
	switch {
	case q.inFlight:
		return what + " at once is reached; wait for a result."
	case sum:
		what = "The limit of " + q.max.String() + " in all"
	}
	if q.within > 0 {
		return what + " within " + span(q.within) + " would be exceeded; try again later."
	}
	return what + " would be exceeded."
}
