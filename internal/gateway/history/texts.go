package history

import (
	"context"
	"crypto/sha256"
	"strconv"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/gateway/texts"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/session"
)

// pastResults are the results of a request's history as RecordResults passed them to the gate.
type pastResults struct {
	at       []int // by position in the history of the request
	calls    []gate.PastCall
	known    []gate.KnownCall
	enforced bool
}

// ReportTexts starts the report of the texts of a request to the gate; nil if no policy needs them. It
// follows RecordResults. The report reads the body of the request until its Add returns.
func (c *Conversation) ReportTexts(ctx context.Context, req *provider.Request, to *texts.Tracker) *texts.Report {
	past, history := c.past, req.History
	c.past = nil // it references the body
	if !req.Conversational || past == nil {
		return nil
	}
	r := to.Begin(texts.Request{Owner: session.Owner{Principal: c.o.Principal, Session: c.Session}, Named: !c.Guessed, Failed: c.fail})
	if r == nil {
		return nil
	}
	r.Delegated = c.delegated
	if r.Continues = req.Hints.PreviousResponse; r.Continues != "" {
		entry, ok := c.response(ctx, r.Continues)
		r.Known = ok && entry.Session == c.Session
	}
	if id := req.Hints.Conversation; id != "" {
		r.Unseen = append(r.Unseen, "conversation "+id)
	}
	r.Unseen = append(r.Unseen, req.Unseen...)
	r.List = make([]texts.Text, len(req.Texts))
	h := sha256.New()
	for i := range req.Texts {
		t := &req.Texts[i]
		h.Reset()
		t.Hash(h, history)
		at := -1
		if t.IsResult() {
			at = past.at[t.Call]
			k := &past.known[at]
			h.Write(strconv.AppendBool([]byte(k.Proposal), k.Withheld && past.enforced))
		}
		r.List[i] = texts.Text{Source: t.Source, Key: texts.Key(h.Sum(nil)[:len(texts.Key{})]), Read: func() (gate.Text, bool) {
			text, ok := past.text(t, history, at)
			if m := text.Message; m != nil && m.Source == flow.User && (r.Delegated || r.IsPrompt(m.Text)) {
				m.Source = flow.Tool // a model wrote it
			}
			return text, ok
		}}
	}
	return r
}

// text returns a text of the request. at is the position of the call of a result. A result that is
// withheld is none: the model does not receive it. The gate adds the result of a released call whose
// arguments only it has.
func (p *pastResults) text(t *provider.Text, history []provider.PastCall, at int) (gate.Text, bool) {
	if at >= 0 && (p.known[at].Withheld && p.enforced || p.known[at].Proposal != "" && p.calls[at].Args == nil) {
		return gate.Text{}, false
	}
	data, opaque := t.Read(history)
	switch {
	case t.OfProvider:
		return gate.Text{Result: &flow.Result{Data: data, Opaque: opaque}}, true
	case at < 0:
		return gate.Text{Message: &flow.Message{Source: t.Source, Text: data, Opaque: opaque}}, true
	}
	call := &p.calls[at]
	result := &flow.Result{
		Tool: call.Tool, Call: call.Call, Proposal: p.known[at].Proposal, Data: data, Opaque: opaque,
		Released: p.known[at].Proposal != "", Failed: history[t.Call].Results[t.Result].Failed || isRefusal(data),
	}
	if call.Args != nil {
		result.Args = call.Args()
	}
	return gate.Text{Result: result}, true
}

// ContinuedBy returns the id by which a client can continue the response, "" if it cannot.
func (c *Conversation) ContinuedBy(req *provider.Request, codec any) (id string) {
	h, ok := codec.(provider.CallReplacer)
	if _, remembers := c.o.Dialect.(provider.Stateful); ok && remembers && !req.Hints.Unstored {
		id, _ = h.Replaced()
	}
	return id
}
