package gateway

import (
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/ledger"
	"github.com/stopgate/stopgate/wire"
)

// This file is what the gateway does where the provider remembers responses, too.

// restore puts denied calls back into the history of a request, if its dialect's
// provider keeps it.
func (x *exchange) restore(body []byte) []byte {
	if d, ok := x.dialect.(wire.Restorer); ok && x.enforced {
		return d.Restore(body, view{x})
	}
	return body
}

// view is the ledger as a request may see it.
type view struct{ x *exchange }

var _ wire.Ledger = view{}

// Response implements [wire.Ledger].
func (v view) Response(id string) []wire.Replaced {
	r, _ := found(v.x, id, v.x.g.book.Response)
	return r.Denied
}

// Message implements [wire.Ledger].
func (v view) Message(id string) (wire.Replaced, bool) { return found(v.x, id, v.x.g.book.Message) }

// found looks into the ledger. What cannot be read is not known, and there is a
// warning.
func found[K ~string, V any](x *exchange, key K, find func(context.Context, stopgate.Principal, K) (V, bool, error)) (V, bool) {
	value, ok, err := find(x.records, x.principal, key)
	if err != nil {
		x.forgot(err)
	}
	return value, ok
}

func (x *exchange) forgot(err error) {
	x.g.faults.count(stopgate.CodeStoreUnavailable)
	x.g.log.Warn("the gateway forgets", "error", err)
}

// continued finds the session of the response that a request continues, and the calls
// that led there.
func (x *exchange) continued(response string) (ok bool) {
	r, ok := found(x, response, x.g.book.Response)
	if ok {
		x.session, x.links = r.Session, r.Calls
	}
	return ok
}

// keep remembers what was answered. It comes before the client has the end of the
// response and can continue it.
func (x *exchange) keep(codec any) {
	h, ok := codec.(wire.History)
	if !ok || !x.req.Conversational || x.kept {
		return
	}
	x.kept = true
	id, denied := h.Replaced()
	if x.req.Hints.Unstored {
		id = "" // nobody can continue it
	}
	var released []ledger.Call
	for i := range x.calls.list {
		if c := &x.calls.list[i]; c.resolved && c.outcome.Allowed() {
			released = append(released, ledger.Call{ID: c.id, Tool: c.tool, Proposal: c.outcome.Proposal})
		}
	}
	r := ledger.Response{Session: x.session, Denied: denied}
	if x.guessed {
		r.Calls = append(x.links[:len(x.links):len(x.links)], released...)
	}
	if err := x.g.book.Keep(x.records, x.principal, id, r, released); err != nil {
		x.forgot(err)
	}
}
