package history

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway/ledger"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/wire"
)

// Recall tells a turn what the request's history says about earlier calls and their
// results (WIRE 7.2). It returns the body without the results that the model must not
// get (DECISIONS K32, S11); if not enforced, the body as it is. like is what the calls of
// the turn have in common.
func (c *Conversation) Recall(ctx context.Context, req *wire.Request, turn *gate.Turn, like stopgate.Call, body []byte, enforced bool) []byte {
	past, told := c.told(ctx, req)
	m := gate.Memory{Learn: req.Conversational, Alone: c.Guessed}
	if m.Learn {
		m.Spoken, m.Begins = req.Hints.Spoken, c.Guessed && len(told) == 0
	}
	known, err := turn.Remember(ctx, like, told, m)
	c.fail("results of the history are not recorded", err)
	var edits wire.Edits
	for i := range past {
		if !known[i].Withheld || !enforced {
			continue
		}
		for _, r := range past[i].Results {
			r.Replace(&edits, known[i].Data)
		}
	}
	if len(edits) == 0 {
		return body
	}
	return edits.AppendTo(nil, body, 0, len(body))
}

// told puts the history into the gate's terms: the calls of the responses that this
// request continues, and those in it.
func (c *Conversation) told(ctx context.Context, req *wire.Request) ([]wire.Past, []gate.Told) {
	past := make([]wire.Past, len(c.links), len(c.links)+len(req.Past))
	told := make([]gate.Told, len(c.links), cap(past))
	for i, l := range c.links {
		told[i] = gate.Told{Proposal: l.Proposal, Call: l.ID, Tool: l.Tool}
	}
	at := linked(c.links)
	for _, p := range req.Past {
		t := gate.Told{Call: p.Call, Tool: p.Tool, Definition: req.Tool(p.Tool)}
		if p.HasArgs() {
			t.Args = p.Args
		} else if i, ok := at.find(p); ok && len(past[i].Results) == 0 {
			past[i].Results = p.Results
			continue
		} else if l, ok := c.unseen(ctx, p); ok {
			t.Proposal, t.Call, t.Tool = l.Proposal, l.ID, l.Tool
		}
		past = append(past, p)
		told = append(told, t)
	}
	for i := range told {
		answer(&told[i], past[i].Results)
	}
	return past, told
}

// links are places of calls by their ids, and by those of their items.
type links struct{ calls, items map[stopgate.CallID]int }

// nowhere is the place of an item id that two calls have.
const nowhere = -1

func linked(list []ledger.Call) links {
	l := links{make(map[stopgate.CallID]int, len(list)), make(map[stopgate.CallID]int)}
	for i, c := range list {
		l.calls[c.ID] = i
		if c.Item == "" {
			continue
		}
		if _, twice := l.items[c.Item]; twice {
			i = nowhere
		}
		l.items[c.Item] = i
	}
	return l
}

// find finds the call of a result. One that may name an item or a call means neither where
// it could mean two.
func (l links) find(p wire.Past) (at int, ok bool) {
	at, ok = l.calls[p.Call]
	if item, is := l.items[p.Call]; is && p.Item {
		if item == nowhere || ok && at != item {
			return 0, false
		}
		return item, true
	}
	return at, ok
}

// unseen finds a call that the request has only the result of.
func (c *Conversation) unseen(ctx context.Context, p wire.Past) (l ledger.Call, ok bool) {
	if _, remembers := c.o.Dialect.(wire.Rememberer); !remembers || p.Call == "" {
		return l, false
	}
	if p.Item {
		return found(ctx, c, p.Call, c.o.Book.Item)
	}
	return found(ctx, c, p.Call, c.o.Book.Call)
}

// answer adds the result of a call.
func answer(t *gate.Told, results []wire.PastResult) {
	if len(results) == 0 {
		return
	}
	r := results[0]
	t.Answered, t.Flagged = true, r.Flagged
	t.Result = func() ([]byte, bool) {
		text := r.Text()
		return text, r.Failed || isRefusal(text)
	}
}

// isRefusal reports whether a result is an envelope with which a gate refuses a call:
// such a call did not run (WIRE 7.1).
func isRefusal(text []byte) bool {
	const longest = 4 << 10
	if text = bytes.TrimSpace(text); len(text) > longest || len(text) == 0 || text[0] != '{' {
		return false
	}
	v, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true})
	if err != nil || v.Len() != 4 {
		return false
	}
	status, _ := v.Get("status")
	code, _ := v.Get("code")
	_, public := v.Get("publicReason")
	_, data := v.Get("data")
	return status.IsText("denied") && stopgate.Code(code.Text()).Valid() && public && data
}
