package policies

import (
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// step is the width of the steps of time.
func (q *Quota) step() int64 { return (q.within + session.Steps - 1) / session.Steps }

// totals returns the key values of a call and the amount that it adds; ok is false if the
// call does not name them.
func (q *Quota) totals(c *session.Call) (values []string, amount session.Amount, ok bool) {
	values = noValue
	if q.key.used() {
		if values, ok = q.key.values(c); !ok {
			return nil, amount, false
		}
	}
	if q.summed {
		v, found := q.sum.Find(c.Args)
		d, isNumber := v.Decimal()
		if !found || !isNumber {
			return nil, amount, false
		}
		if amount, ok = session.AmountOf(d); !ok {
			return nil, amount, false
		}
	}
	return values, amount, true
}

// nameCell sets the name of the cells of the totals, after the name or the window changed.
func (q *Quota) nameCell() {
	q.cell = q.name
	if q.within > 0 {
		q.cell += " " + strconv.FormatInt(q.step(), 10)
	}
}

// total returns the cell of the totals of one value. Windows with other steps have cells of
// their own.
func (q *Quota) total(value string) session.Key {
	return session.Key{Scope: q.scope, Space: session.SpaceLimit, Name: q.cell, Value: session.ValueOf(value)}
}

// Needs returns the cells of the totals.
func (q *Quota) Needs(c session.Call) []session.Key {
	var cells []session.Key
	values, _, _ := q.totals(&c)
	for _, value := range values {
		cells = append(cells, q.total(value))
	}
	return cells
}

// Marks returns the marks that count the call.
func (q *Quota) Marks(c session.Call) []session.Mark {
	var marks []session.Mark
	values, amount, _ := q.totals(&c)
	for _, value := range values {
		m := session.Mark{Key: q.total(value), Keeps: q.failures, Distrusts: q.observed}
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

// Check denies a call with which the totals would exceed the limit.
func (q *Quota) Check(v session.View, c session.Call) session.Decision {
	if v.Owner.Session == "" && q.scope == session.OfSession {
		return withoutSession(&c)
	}
	values, amount, ok := q.totals(&c)
	switch {
	case !ok && q.missing == allowMissing:
		return session.Allow()
	case !ok:
		return session.Decision{
			Code: stopgate.CodeKeyUnavailable, Public: "This call must say what its limit counts.",
			Meta: map[string]string{"tool": string(c.Tool)},
		}
	}
	var first session.Decision
	var full []string
	for _, value := range values {
		calls, sum := q.used(&v, v.Cell(q.total(value)))
		if !((q.counted || q.inFlight) && calls >= q.count || q.summed && sum.Add(amount).Cmp(q.max) > 0) {
			continue
		}
		if full == nil {
			first = q.exceeded(calls, sum)
		}
		if full = append(full, value); !q.ask {
			return first
		}
	}
	if full == nil {
		return session.Allow()
	}
	return asks(q.ask, first, q.detail(amount, full))
}

// used returns the calls and the sum that count now. Refunds since the turn began are still
// reserved in it: a turn sees the state before it, and the reservations of its calls (H4).
func (q *Quota) used(v *session.View, c *session.Cell) (calls int64, sum session.Amount) {
	calls, sum = q.reserved(v, c)
	for i := len(c.Refunds) - 1; i >= 0 && c.Refunds[i].Seq > v.Horizon; i-- {
		if b := &c.Refunds[i]; q.counts(v, b.At) {
			calls, sum = calls+1, sum.Add(b.Amount)
		}
	}
	if c.Lost > v.Horizon { // the cell has lost newer calls
		calls, sum = max(calls, q.count), session.MaxAmount
	}
	return calls, sum
}

// counts reports whether a call of that time counts now.
func (q *Quota) counts(v *session.View, at int64) bool {
	switch {
	case q.inFlight:
		return v.Now-at < q.ttl
	case q.within > 0:
		return v.Now/q.step()-at/q.step() <= session.Steps
	}
	return true
}

// reserved returns the calls and the sum that the cell counts.
func (q *Quota) reserved(v *session.View, c *session.Cell) (calls int64, sum session.Amount) {
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
			if s := &c.Steps[i]; now-s.At <= session.Steps {
				calls, sum = calls+s.Count, sum.Add(s.Sum)
			}
		}
	}
	return calls, sum
}

func (q *Quota) exceeded(calls int64, sum session.Amount) session.Decision {
	d := session.Decision{Code: stopgate.CodeSessionPolicyDenied, Public: q.public, Meta: map[string]string{}}
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

// detail tells a person which limit the call exceeds, and for which key values.
func (q *Quota) detail(amount session.Amount, of []string) string {
	var limits []string
	switch {
	case q.inFlight:
		limits = append(limits, times(q.count)+" at once")
	case q.counted:
		limits = append(limits, times(q.count))
	}
	if q.summed {
		limits = append(limits, q.max.String()+" in all, of which this one takes "+amount.String())
	}
	text := "the limit is reached: " + strings.Join(limits, ", ")
	if q.within > 0 {
		text += " within " + span(q.within)
	}
	if of := valueList(of); of != "" {
		text += ", for " + q.key.label() + " " + of
	}
	return text
}

// sentence names the limit that the call exceeds: that of the sum, or of calls.
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
