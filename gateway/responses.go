package gateway

import (
	"cmp"
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
func (v view) Response(id string) (latest string, denied []wire.Replaced) {
	r, _ := v.x.response(id)
	return cmp.Or(r.Next, id), r.Denied
}

// Conversation implements [wire.Ledger].
func (v view) Conversation(id string) []wire.Replaced {
	if id == "" {
		return nil
	}
	r, _ := found(v.x, conversationID(id), v.x.g.book.Response)
	return r.Denied
}

// conversationID is what a conversation is known by: no response has such an id.
func conversationID(id string) string { return "conversation/" + id }

// Message implements [wire.Ledger].
func (v view) Message(id string) (wire.Replaced, bool) { return found(v.x, id, v.x.g.book.Message) }

// Said implements [wire.Ledger].
func (v view) Said(text string) (list []wire.Replaced) {
	ids, _ := found(v.x, ledger.Text(v.x.session, text), v.x.g.book.Said)
	for _, id := range ids {
		if was, ok := v.Message(id); ok {
			list = append(list, was)
		}
	}
	return list
}

// response finds what is remembered of a response. Where it went on, that is what counts.
func (x *exchange) response(id string) (r ledger.Response, ok bool) {
	if r, ok = found(x, id, x.g.book.Response); ok && r.Next != "" {
		next, known := found(x, r.Next, x.g.book.Response)
		if known {
			next.Next = r.Next
			return next, true
		}
	}
	return r, ok
}

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
	r, ok := x.response(response)
	if ok {
		x.session, x.links = r.Session, r.Calls
	}
	return ok
}

// keepRound remembers what was answered in the course of a response.
func (x *exchange) keepRound(codec any) {
	h, ok := codec.(wire.History)
	if !ok || !x.req.Conversational {
		return
	}
	id, denied := h.Replaced()
	if id != "" && !x.req.Hints.Unstored {
		x.rounds.ids = append(x.rounds.ids, id)
	}
	x.store("", ledger.Response{Session: x.session, Denied: denied}, nil)
}

// keep remembers the response. It comes before the client has its end and can continue
// it. seams are those of a body that was joined.
func (x *exchange) keep(codec any, seams []wire.Replaced) {
	h, ok := codec.(wire.History)
	if len(seams) > 0 {
		x.store("", ledger.Response{Session: x.session, Denied: seams}, nil)
	}
	if !ok || !x.req.Conversational || x.kept {
		return
	}
	x.kept = true
	id, denied := h.Replaced()
	if x.req.Hints.Unstored {
		id = "" // nobody can continue it
	}
	var released []ledger.Call
	if _, ok := x.dialect.(wire.Rememberer); ok {
		for i := range x.calls.list {
			if c := &x.calls.list[i]; c.resolved && c.outcome.Allowed() {
				released = append(released, ledger.Call{ID: c.id, Tool: c.tool, Proposal: c.outcome.Proposal})
			}
		}
	}
	r := ledger.Response{Session: x.session, Denied: denied}
	if x.guessed {
		r.Calls = append(x.links[:len(x.links):len(x.links)], released...)
	}
	x.store(id, r, released)
	if conversation := x.req.Hints.Conversation; conversation != "" {
		x.store(conversationID(conversation), ledger.Response{Session: x.session, Denied: denied}, nil)
	}
	for _, before := range x.rounds.ids {
		if before != id && id != "" {
			x.store(before, ledger.Response{Session: x.session, Next: id}, nil)
		}
	}
}

func (x *exchange) store(id string, r ledger.Response, released []ledger.Call) {
	if err := x.g.book.Keep(x.records, x.principal, id, r, released); err != nil {
		x.forgot(err)
	}
}
