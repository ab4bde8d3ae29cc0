package history

import (
	"bytes"
	"context"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
)

// RecordResults reports the earlier calls of the request's history and their results to the turn.
// It returns the body without the results that are withheld from the model (K32, S11), or the
// unchanged body if enforced is false. call holds the fields that all calls of the turn have in
// common.
func (c *Conversation) RecordResults(ctx context.Context, req *provider.Request, turn *gate.Turn, call stopgate.Call, body []byte, enforced bool) []byte {
	codecCalls, gateCalls, at := c.calls(ctx, req)
	memory := gate.Memory{Learn: req.Conversational, Isolated: c.Guessed, Texts: true}
	if memory.Learn {
		memory.LastMessage, memory.FirstRequest = req.Hints.UserMessageHash, c.Guessed && len(gateCalls) == 0
	}
	known, err := turn.Remember(ctx, call, gateCalls, memory)
	c.fail("record results of the history", err)
	c.past = &pastResults{at: at, calls: gateCalls, known: known, enforced: enforced}
	var edits provider.Edits
	for i := range codecCalls {
		if !known[i].Withheld || !enforced {
			continue
		}
		for _, r := range codecCalls[i].Results {
			r.Replace(&edits, known[i].Data)
		}
	}
	if len(edits) == 0 {
		return body
	}
	return edits.AppendTo(nil, body, 0, len(body))
}

// earlier lists the calls of the responses that the request continues, followed by the calls in the
// request itself, as the codec and as the gate represent them. at has the positions of the latter.
func (c *Conversation) calls(ctx context.Context, req *provider.Request) (_ []provider.PastCall, _ []gate.PastCall, at []int) {
	past := make([]provider.PastCall, len(c.continued), len(c.continued)+len(req.History))
	calls := make([]gate.PastCall, len(c.continued), cap(past))
	for i, l := range c.continued {
		calls[i] = gate.PastCall{Proposal: l.Proposal, Call: l.ID, Tool: l.Tool}
	}
	index := indexCalls(c.continued)
	for _, p := range req.History {
		t := gate.PastCall{Call: p.Call, Tool: p.Tool, Definition: req.Tool(p.Tool)}
		if p.HasArgs() {
			t.Args = p.Args
		} else if i, ok := index.find(p); ok && len(past[i].Results) == 0 {
			past[i].Results = p.Results
			at = append(at, i)
			continue
		} else if l, ok := c.released(ctx, p); ok {
			t.Proposal, t.Call, t.Tool = l.Proposal, l.ID, l.Tool
		}
		at = append(at, len(past))
		past = append(past, p)
		calls = append(calls, t)
	}
	for i := range calls {
		setResult(&calls[i], past[i].Results)
	}
	return past, calls, at
}

// callIndex maps the ids of calls, and the ids of their items, to indexes in a list of calls.
type callIndex struct{ calls, items map[stopgate.CallID]int }

// ambiguous marks an item id that two calls share.
const ambiguous = -1

func indexCalls(list []responselog.Call) callIndex {
	index := callIndex{make(map[stopgate.CallID]int, len(list)), make(map[stopgate.CallID]int)}
	for i, c := range list {
		index.calls[c.ID] = i
		if c.Item == "" {
			continue
		}
		if _, shared := index.items[c.Item]; shared {
			i = ambiguous
		}
		index.items[c.Item] = i
	}
	return index
}

// find returns the index of the call of a result. If an id matches an item and a different call, it
// finds neither.
func (l callIndex) find(p provider.PastCall) (at int, ok bool) {
	at, ok = l.calls[p.Call]
	if item, is := l.items[p.Call]; is && p.MaybeItem {
		if item == ambiguous || ok && at != item {
			return 0, false
		}
		return item, true
	}
	return at, ok
}

// released looks up a call in the response log. The request contains only its result.
func (c *Conversation) released(ctx context.Context, p provider.PastCall) (l responselog.Call, ok bool) {
	if _, remembers := c.o.Dialect.(provider.Stateful); !remembers || p.Call == "" {
		return l, false
	}
	if p.MaybeItem {
		return lookup(ctx, c, p.Call, c.o.Log.Item)
	}
	return lookup(ctx, c, p.Call, c.o.Log.Call)
}

// setResult copies the first result of a call.
func setResult(t *gate.PastCall, results []provider.PastResult) {
	if len(results) == 0 {
		return
	}
	r := results[0]
	t.Answered, t.Flagged = true, r.HasStatus
	t.Result = func() ([]byte, bool) {
		text := r.Text()
		return text, r.Failed || isRefusal(text)
	}
}

// isRefusal reports whether a result is the JSON envelope of a denial by a gate. A call with such a
// result did not run.
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
