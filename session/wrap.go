package session

import "github.com/stopgate/stopgate/jsonstream"

// Unwrapper is a policy around another one. Whatever the outer one does not
// implement ([Marker], [Observer], [Switch], [Versioned]) is looked for inside.
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

// Middleware makes a policy out of another one (TPS-40). It may observe and
// tighten; [Tighten] makes sure that it cannot loosen.
type Middleware func(Policy) Policy

// Wrap puts policies around another, the first one outermost.
func Wrap(p Policy, around ...Middleware) Policy {
	for i := len(around) - 1; i >= 0; i-- {
		p = around[i](p)
	}
	return p
}

// Tighten is a middleware that sees every decision and may object where the inner
// policy does not. What it returns for a denial is not looked at.
func Tighten(f func(v View, c Call, d Decision) Decision) Middleware {
	return func(p Policy) Policy { return &tightened{Policy: p, look: f} }
}

type tightened struct {
	Policy
	look func(View, Call, Decision) Decision
}

func (t *tightened) Unwrap() Policy { return t.Policy }

func (t *tightened) Check(v View, c Call) Decision {
	inner := t.Policy.Check(v, c)
	outer := t.look(v, c, inner)
	if !inner.Allowed {
		return inner
	}
	return outer
}

// Conditional makes a policy active only where the predicate holds (TPS-27): an
// inactive one has no objection. Facts are recorded all the same, and a predicate
// that panics counts as true (H11). The name becomes "conditional:NAME".
func Conditional(p Policy, predicate func(View) bool, needs ...Key) Policy {
	return &conditional{Policy: p, predicate: predicate, needs: needs, prefix: "conditional:"}
}

// InCase makes a policy active only where all conditions hold on the session's
// data, as it is or as it was when the turn began (S8). Its name stays.
func InCase(p Policy, when ...When) Policy {
	if len(when) == 0 {
		return p
	}
	return &conditional{Policy: p, data: true, needs: []Key{DataKey}, predicate: func(v View) bool {
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

// inCase reports whether all conditions hold on data, or nobody knows what it says.
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
	data      bool // made by InCase
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
