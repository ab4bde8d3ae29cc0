package history

import (
	"cmp"
	"context"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/provider"
)

// Restore puts denied calls back into the history of a request if the provider of this dialect
// requires them.
func (c *Conversation) Restore(ctx context.Context, body []byte) []byte {
	if d, ok := c.o.Dialect.(provider.Restorer); ok {
		return d.Restore(body, view{ctx, c})
	}
	return body
}

// view implements [provider.ResponseLog] for one request.
type view struct {
	ctx context.Context
	c   *Conversation
}

var _ provider.ResponseLog = view{}

// Response implements [provider.ResponseLog].
func (v view) Response(id string) (latest string, denied []provider.ReplacedCall) {
	r, _ := v.c.response(v.ctx, id)
	return cmp.Or(r.Next, id), r.Denied
}

// Conversation implements [provider.ResponseLog].
func (v view) Conversation(id string) []provider.ReplacedCall {
	if id == "" {
		return nil
	}
	r, _ := lookup(v.ctx, v.c, conversationID(id), v.c.o.Log.Response)
	return r.Denied
}

// conversationID returns the key of a conversation's entry. Response ids never contain a slash.
func conversationID(id string) string { return "conversation/" + id }

// Message implements [provider.ResponseLog].
func (v view) Message(id string) (provider.ReplacedCall, bool) {
	return lookup(v.ctx, v.c, id, v.c.o.Log.Message)
}

// ByText implements [provider.ResponseLog].
func (v view) ByText(text string) (list []provider.ReplacedCall) {
	ids, _ := lookup(v.ctx, v.c, responselog.TextKey(v.c.Session, text), v.c.o.Log.MessagesByText)
	for _, id := range ids {
		if was, ok := v.Message(id); ok {
			list = append(list, was)
		}
	}
	return list
}

// response returns the entry of a response, or of the response that continued it.
func (c *Conversation) response(ctx context.Context, id string) (r responselog.Response, ok bool) {
	if r, ok = lookup(ctx, c, id, c.o.Log.Response); ok && r.Next != "" {
		next, known := lookup(ctx, c, r.Next, c.o.Log.Response)
		if known {
			next.Next = r.Next
			return next, true
		}
	}
	return r, ok
}

// lookup reads a value of the response log. It treats a value that cannot be read as missing.
func lookup[K ~string, V any](ctx context.Context, c *Conversation, key K, find func(context.Context, stopgate.Principal, K) (V, bool, error)) (V, bool) {
	value, ok, err := find(ctx, c.o.Principal, key)
	c.fail("read the response log", err)
	return value, ok
}

// SaveRound stores the messages of a provider response that the gateway itself continues.
func (c *Conversation) SaveRound(ctx context.Context, req *provider.Request, codec any) {
	h, ok := codec.(provider.CallReplacer)
	if !ok || !req.Conversational {
		return
	}
	id, denied := h.Replaced()
	if id != "" && !req.Hints.Unstored {
		c.rounds = append(c.rounds, id)
	}
	c.store(ctx, "", responselog.Response{Session: c.Session, Denied: denied}, nil)
}

// Await blocks while a gateway still reads the stored rest of the response or conversation that the
// request continues.
func Await(ctx context.Context, req *provider.Request, log *responselog.Log, p stopgate.Principal) {
	if id := req.Hints.PreviousResponse; id != "" {
		log.Await(ctx, p, id)
	}
	if id := req.Hints.Conversation; id != "" {
		log.Await(ctx, p, conversationID(id))
	}
}

// SetReadUntil announces that the gateway continues to read the provider's response after Save,
// until t at the latest.
func (c *Conversation) SetReadUntil(t time.Time) { c.until = t }

// SaveRest stores the messages that the provider sent after Save, and ends the wait of Await.
func (c *Conversation) SaveRest(ctx context.Context, req *provider.Request, codec provider.CallReplacer) {
	c.until = time.Time{}
	id, denied := codec.Replaced()
	c.saveResponse(ctx, req, id, denied, nil)
}

// Save stores the response once: the calls that it released, and the messages that replaced others.
// Call it before the client receives the end of the response and can continue it. seams are the
// seams of a body that was joined from several rounds.
func (c *Conversation) Save(ctx context.Context, req *provider.Request, codec any, calls func() []responselog.Call, seams []provider.ReplacedCall) {
	if len(seams) > 0 {
		c.store(ctx, "", responselog.Response{Session: c.Session, Denied: seams}, nil)
	}
	h, ok := codec.(provider.CallReplacer)
	if !ok || !req.Conversational || c.saved {
		return
	}
	c.saved = true
	id, denied := h.Replaced()
	if req.Hints.Unstored {
		id = "" // a response that the provider does not store cannot be continued
	}
	var released []responselog.Call
	if _, ok := c.o.Dialect.(provider.Stateful); ok { // requests of other dialects carry all calls
		released = withItems(calls(), codec)
	}
	c.releasedCalls = released
	c.saveResponse(ctx, req, id, denied, released)
	for _, before := range c.rounds {
		if before != id && id != "" {
			c.store(ctx, before, responselog.Response{Session: c.Session, Next: id}, nil)
		}
	}
}

// saveResponse stores the entries of the response and of its conversation.
func (c *Conversation) saveResponse(ctx context.Context, req *provider.Request, id string, denied []provider.ReplacedCall, released []responselog.Call) {
	r := responselog.Response{Session: c.Session, Denied: denied, Until: c.until}
	conversation := r
	if c.Guessed {
		r.Calls = append(c.continued[:len(c.continued):len(c.continued)], c.releasedCalls...)
	}
	c.store(ctx, id, r, released)
	if req.Hints.Conversation != "" {
		c.store(ctx, conversationID(req.Hints.Conversation), conversation, nil)
	}
}

// withItems sets the item ids of the calls if the dialect's results may refer to items.
func withItems(released []responselog.Call, codec any) []responselog.Call {
	d, ok := codec.(provider.ItemIDs)
	if !ok || len(released) == 0 {
		return released
	}
	items := d.ItemIDs()
	for i := range released {
		released[i].Item = items[released[i].ID]
	}
	return released
}

func (c *Conversation) store(ctx context.Context, id string, r responselog.Response, released []responselog.Call) {
	c.fail("write the response log", c.o.Log.Save(ctx, c.o.Principal, id, r, released))
}
