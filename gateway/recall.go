package gateway

import (
	"bytes"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway/ledger"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/wire"
)

// recall opens the turn and tells it what the request's history says about earlier
// calls and their results (WIRE 7.2). It returns the body without the results that
// the model must not get (DECISIONS K32, S11).
func (x *exchange) recall(body []byte) []byte {
	x.turn = x.g.gate.Turn(session.Owner{Principal: x.principal, Session: x.session}, x.turnID)
	past, told := x.told()
	x.req.Past = nil // it holds on to the body
	m := gate.Memory{Learn: x.req.Conversational, Alone: x.guessed}
	if m.Learn {
		m.Spoken, m.Begins = x.req.Hints.Spoken, x.guessed && len(told) == 0
	}
	known, err := x.turn.Remember(x.records, stopgate.Call{
		Agent: x.agent, Surface: stopgate.SurfaceGateway, Dialect: x.dialect.Name(),
	}, told, m)
	if err != nil {
		x.g.faults.count(stopgate.CodeStoreUnavailable)
		x.g.log.Warn("results of the history are not recorded", "error", err)
	}
	var edits wire.Edits
	for i := range past {
		if !known[i].Withheld || !x.enforced {
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
func (x *exchange) told() ([]wire.Past, []gate.Told) {
	past := make([]wire.Past, len(x.links), len(x.links)+len(x.req.Past))
	told := make([]gate.Told, len(x.links), cap(past))
	at := make(map[stopgate.CallID]int, len(x.links))
	for i, c := range x.links {
		told[i] = gate.Told{Proposal: c.Proposal, Call: c.ID, Tool: c.Tool}
		at[c.ID] = i
	}
	for _, p := range x.req.Past {
		t := gate.Told{Call: p.Call, Tool: p.Tool, Definition: x.req.Tool(p.Tool)}
		if p.HasArgs() {
			t.Args = p.Args
		} else if i, ok := at[p.Call]; ok && len(past[i].Results) == 0 {
			past[i].Results = p.Results
			continue
		} else if c, ok := x.unseen(p.Call); ok {
			t.Proposal, t.Tool = c.Proposal, c.Tool
		}
		past = append(past, p)
		told = append(told, t)
	}
	for i := range told {
		answer(&told[i], past[i].Results)
	}
	return past, told
}

// unseen finds a call that the request has only the result of.
func (x *exchange) unseen(id stopgate.CallID) (c ledger.Call, ok bool) {
	if _, remembers := x.dialect.(wire.Rememberer); !remembers || id == "" {
		return c, false
	}
	return found(x, id, x.g.book.Call)
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
