package session

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Unwrapper is a policy that wraps another one. Interfaces that the outer policy does not
// implement ([Marker], [Observer], [Switch], [Versioned]) are looked up in the inner one.
type Unwrapper interface {
	Unwrap() Policy
}

// as finds the outermost policy of a chain that implements T.
func as[T any](p Policy) (t T, ok bool) {
	for p != nil {
		if t, ok = p.(T); ok {
			return t, true
		}
		w, wraps := p.(Unwrapper)
		if !wraps {
			return t, false
		}
		p = w.Unwrap()
	}
	return t, false
}

// Middleware wraps a policy (TPS-40). It should only observe and tighten; [Tighten] ensures
// that it cannot loosen.
type Middleware func(Policy) Policy

// Wrap wraps p in the policies of around, the first one outermost.
func Wrap(p Policy, around ...Middleware) Policy {
	for i := len(around) - 1; i >= 0; i-- {
		p = around[i](p)
	}
	return p
}

// Tighten returns a middleware that calls f for every decision. f may object where the inner
// policy does not, and deny where it asks; its result for a denial is ignored.
func Tighten(f func(v View, c Call, d Decision) Decision) Middleware {
	return func(p Policy) Policy { return &tightened{Policy: p, review: f} }
}

type tightened struct {
	Policy
	review func(View, Call, Decision) Decision
}

func (t *tightened) Unwrap() Policy { return t.Policy }

func (t *tightened) Check(v View, c Call) Decision {
	inner := t.Policy.Check(v, c)
	outer := t.review(v, c, inner)
	if inner.Allowed || inner.Ask && !outer.Allowed && !outer.Ask {
		return outer
	}
	return inner
}

// Conditional returns a policy that is active only where the predicate holds (TPS-27): an
// inactive policy does not object. Facts are recorded in any case, and a predicate that
// panics counts as true (H11). The name becomes "conditional:NAME".
func Conditional(p Policy, predicate func(View) bool, needs ...Key) Policy {
	return &conditional{Policy: p, predicate: predicate, needs: needs, prefix: "conditional:"}
}

// InCase returns a policy that is active only where all conditions hold on the session's
// data, the current data or those at the beginning of the turn (S8). The name stays.
func InCase(p Policy, when ...When) Policy {
	if len(when) == 0 {
		return p
	}
	return &conditional{Policy: p, bounded: true, needs: []Key{DataKey}, predicate: func(v View) bool {
		cell, loaded := v.State.Cell(DataKey)
		switch {
		case !loaded, inCase(when, cell.Text):
			return true
		case cell.Seq <= v.Horizon:
			return false
		}
		return cell.Was == nil || cell.Was.Seq > v.Horizon || inCase(when, cell.Was.Text)
	}}
}

// ForCallers returns a policy that is active only for calls of the principals and groups for which
// the function returns true. It should return true for groups that are not known. The name stays.
func ForCallers(p Policy, applies func(stopgate.Principal, stopgate.Groups) bool) Policy {
	return &conditional{Policy: p, bounded: true, predicate: func(v View) bool { return applies(v.Owner.Principal, v.Groups) }}
}

// inCase reports whether all conditions hold on the data, or the data cannot be read.
func inCase(when []When, text string) bool {
	data := dataOf(text)
	if text != "" && data.Kind() != jsonstream.Object {
		return true
	}
	for _, w := range when {
		if !w.Holds(data) {
			return false
		}
	}
	return true
}

type conditional struct {
	Policy
	predicate func(View) bool
	needs     []Key
	prefix    string
	bounded   bool // made by InCase or ForCallers
}

func (c *conditional) Unwrap() Policy { return c.Policy }

func (c *conditional) Name() string { return c.prefix + c.Policy.Name() }

func (c *conditional) Needs(call Call) []Key {
	return append(c.Policy.Needs(call), c.needs...)
}

// Active evaluates the predicate.
func (c *conditional) Active(v View) (active bool) {
	defer func() {
		if recover() != nil {
			active = true
		}
	}()
	inner, ok := as[Switch](c.Policy)
	return c.predicate(v) && (!ok || inner.Active(v))
}
