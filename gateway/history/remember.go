package history

import (
	"cmp"
	"context"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/ledger"
	"github.com/stopgate/stopgate/wire"
)

// Restore puts denied calls back into the history of a request, if its dialect's provider
// wants them (WIRE 3.7).
func (c *Conversation) Restore(ctx context.Context, body []byte) []byte {
	if d, ok := c.o.Dialect.(wire.Restorer); ok {
		return d.Restore(body, view{ctx, c})
	}
	return body
}

// view is the ledger as a request may see it.
type view struct {
	ctx context.Context
	c   *Conversation
}

var _ wire.Ledger = view{}

// Response implements [wire.Ledger].
func (v view) Response(id string) (latest string, denied []wire.Replaced) {
	r, _ := v.c.response(v.ctx, id)
	return cmp.Or(r.Next, id), r.Denied
}

// Conversation implements [wire.Ledger].
func (v view) Conversation(id string) []wire.Replaced {
	if id == "" {
		return nil
	}
	r, _ := found(v.ctx, v.c, conversationID(id), v.c.o.Book.Response)
	return r.Denied
}

// conversationID is what a conversation is known by: no response has such an id.
func conversationID(id string) string { return "conversation/" + id }

// Message implements [wire.Ledger].
func (v view) Message(id string) (wire.Replaced, bool) {
	return found(v.ctx, v.c, id, v.c.o.Book.Message)
}

// Said implements [wire.Ledger].
func (v view) Said(text string) (list []wire.Replaced) {
	ids, _ := found(v.ctx, v.c, ledger.Text(v.c.Session, text), v.c.o.Book.Said)
	for _, id := range ids {
		if was, ok := v.Message(id); ok {
			list = append(list, was)
		}
	}
	return list
}

// response finds what is remembered of a response. Where it went on, that is what counts.
func (c *Conversation) response(ctx context.Context, id string) (r ledger.Response, ok bool) {
	if r, ok = found(ctx, c, id, c.o.Book.Response); ok && r.Next != "" {
		next, known := found(ctx, c, r.Next, c.o.Book.Response)
		if known {
			next.Next = r.Next
			return next, true
		}
	}
	return r, ok
}

// found looks into the ledger. What cannot be read is not known.
func found[K ~string, V any](ctx context.Context, c *Conversation, key K, find func(context.Context, stopgate.Principal, K) (V, bool, error)) (V, bool) {
	value, ok, err := find(ctx, c.o.Principal, key)
	c.fail("the gateway forgets", err)
	return value, ok
}

// KeepRound remembers an answer of the provider behind which the response goes on.
func (c *Conversation) KeepRound(ctx context.Context, req *wire.Request, codec any) {
	h, ok := codec.(wire.History)
	if !ok || !req.Conversational {
		return
	}
	id, denied := h.Replaced()
	if id != "" && !req.Hints.Unstored {
		c.ids = append(c.ids, id)
	}
	c.store(ctx, "", ledger.Response{Session: c.Session, Denied: denied}, nil)
}

// Await waits for a response, or a conversation, that the request continues, if a gateway
// is still reading what the provider stores of it.
func Await(ctx context.Context, req *wire.Request, b *ledger.Book, p stopgate.Principal) {
	if id := req.Hints.Previous; id != "" {
		b.Await(ctx, p, id)
	}
	if id := req.Hints.Conversation; id != "" {
		b.Await(ctx, p, conversationID(id))
	}
}

// Reading says that the provider's answer will be read until some time after Keep.
func (c *Conversation) Reading(until time.Time) { c.until = until }

// KeepRest remembers what the provider stored of the response after Keep. Nobody waits for
// it any longer.
func (c *Conversation) KeepRest(ctx context.Context, req *wire.Request, codec wire.History) {
	c.until = time.Time{}
	id, denied := codec.Replaced()
	c.keepResponse(ctx, req, id, denied, nil)
}

// Keep remembers the response, once: the calls that it released, and what stands in it for
// others. It comes before the client has its end and can continue it. seams are those of
// a body that was joined.
func (c *Conversation) Keep(ctx context.Context, req *wire.Request, codec any, calls func() []ledger.Call, seams []wire.Replaced) {
	if len(seams) > 0 {
		c.store(ctx, "", ledger.Response{Session: c.Session, Denied: seams}, nil)
	}
	h, ok := codec.(wire.History)
	if !ok || !req.Conversational || c.kept {
		return
	}
	c.kept = true
	id, denied := h.Replaced()
	if req.Hints.Unstored {
		id = "" // nobody can continue it
	}
	var released []ledger.Call
	if _, ok := c.o.Dialect.(wire.Rememberer); ok { // elsewhere every request has its calls
		released = withItems(calls(), codec)
	}
	c.released = released
	c.keepResponse(ctx, req, id, denied, released)
	for _, before := range c.ids {
		if before != id && id != "" {
			c.store(ctx, before, ledger.Response{Session: c.Session, Next: id}, nil)
		}
	}
}

// keepResponse stores the entries of the response and of its conversation.
func (c *Conversation) keepResponse(ctx context.Context, req *wire.Request, id string, denied []wire.Replaced, released []ledger.Call) {
	r := ledger.Response{Session: c.Session, Denied: denied, Until: c.until}
	conversation := r
	if c.Guessed {
		r.Calls = append(c.links[:len(c.links):len(c.links)], c.released...)
	}
	c.store(ctx, id, r, released)
	if req.Hints.Conversation != "" {
		c.store(ctx, conversationID(req.Hints.Conversation), conversation, nil)
	}
}

// withItems adds the ids of the calls' items, where results may name these.
func withItems(released []ledger.Call, codec any) []ledger.Call {
	d, ok := codec.(wire.Items)
	if !ok || len(released) == 0 {
		return released
	}
	items := d.Items()
	for i := range released {
		released[i].Item = items[released[i].ID]
	}
	return released
}

func (c *Conversation) store(ctx context.Context, id string, r ledger.Response, released []ledger.Call) {
	c.fail("the gateway forgets", c.o.Book.Keep(ctx, c.o.Principal, id, r, released))
}
