package gate

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/kept"
	"github.com/stopgate/stopgate/internal/gate/port"
	"github.com/stopgate/stopgate/internal/gate/texts"
	"github.com/stopgate/stopgate/session"
)

// Errors of [Gate.AddTexts].
var (
	// ErrNoConversation is the error of texts without a session and a conversation: those of
	// different callers would be mixed.
	ErrNoConversation = errors.New("gate: texts need a session or a conversation")
	// ErrTextsLost is the error of an addition to a conversation of which texts are missing, for
	// example because it was evicted. [Texts.Whole] adds them again.
	ErrTextsLost = texts.ErrLost
	// ErrTextsUnsaved is the error of texts that are not in the store: only this process knows that
	// there are some. A program that ends with the call must keep the model from reading them, or
	// call [Gate.LoseTexts].
	ErrTextsUnsaved = texts.ErrUnsaved
	// ErrTexts is the error of texts that are none: a message that is not of a person or an
	// operator, or neither a message nor a result.
	ErrTexts = errors.New("gate: a text is a message of the user or the system, or a result")
)

// maxTextMemory limits the indexes of texts in memory, and maxResultArgs the arguments that are kept
// of a released call for its result.
const (
	maxTextMemory = 256 << 20
	maxResultArgs = 256 << 10
)

// Text is a message or a result: one of both.
type Text struct {
	Message *flow.Message
	Result  *flow.Result
}

// Texts are additions to the texts of a conversation.
type Texts struct {
	// Known are the sources whose texts the caller reports completely, now and later.
	Known flow.Knowledge
	// Whole reports that List is the conversation from its first text on. Only such a list
	// replaces texts that are missing.
	Whole bool
	// List has the new texts in their order. Those that were added before are ignored.
	List []Text
}

// ReadsTexts reports whether any rule needs the texts of sessions. If not, AddTexts has no effect,
// and nothing is kept.
func (g *Gate) ReadsTexts() bool {
	return slices.ContainsFunc(g.current.Load().all(), func(c *compiled) bool { return c.reader != nil })
}

// AddTexts adds texts to a conversation of a session, in which conditions on origins find the values
// of later calls; conversation "" is the session itself. It is for the program that runs the agent:
// nothing that a model writes may reach it as a message. Results of calls that the gate released
// become texts by [Gate.Observe]; those here are of calls that it does not know, or of all calls
// where the surface adds the history of a request ([Memory.Texts]).
//
// After an error texts may be missing: conditions on origins are then in doubt for the rest of the
// conversation.
func (g *Gate) AddTexts(ctx context.Context, o session.Owner, conversation string, t Texts) error {
	c := g.current.Load().of(o.Session)
	if c.reader == nil {
		return nil
	}
	for _, text := range t.List {
		switch m := text.Message; {
		case (m == nil) == (text.Result == nil), m != nil && m.Source != flow.User && m.Source != flow.System && m.Source != flow.Tool:
			return ErrTexts
		}
	}
	var list []kept.Addition
	if t.Known != 0 {
		list = append(list, kept.Addition{Known: t.Known})
	}
	for _, text := range t.List {
		list = append(list, kept.Addition{Message: text.Message, Result: text.Result})
	}
	return g.texts.add(ctx, c, conversationOf(o, conversation), t.Whole, list)
}

// LoseTexts records that texts of a conversation are missing, for a program that could not add one that
// the model reads: conditions on origins are in doubt there, in every process that shares the store.
func (g *Gate) LoseTexts(ctx context.Context, o session.Owner, conversation string) error {
	c := g.current.Load().of(o.Session)
	of := conversationOf(o, conversation)
	if c.reader == nil || !hasTexts(of) {
		return nil
	}
	ctx, cancel := port.Detached(ctx)
	defer cancel()
	return g.texts.keeper.Lose(ctx, c.access(of))
}

// conversations are the texts of all conversations.
type conversations struct{ keeper *texts.Keeper }

// add adds texts under a policy. What is read already must not be lost because a client left.
func (t conversations) add(ctx context.Context, c *compiled, of flow.Conversation, whole bool, list []kept.Addition) error {
	if !hasTexts(of) {
		return ErrNoConversation
	}
	ctx, cancel := port.Detached(ctx)
	defer cancel()
	return t.keeper.Add(ctx, c.access(of), whole, list)
}

// conversationOf names the texts of a call.
func conversationOf(o session.Owner, conversation string) flow.Conversation {
	return flow.Conversation{Principal: o.Principal, Session: o.Session, ID: conversation}
}

// hasTexts reports whether a conversation can have texts.
func hasTexts(c flow.Conversation) bool {
	return (c.Session != "" || c.ID != "") && len(c.Principal)+len(c.Session)+len(c.ID) <= maxKeyText
}

func (c *compiled) access(of flow.Conversation) texts.Access {
	return texts.Access{Of: of, Reader: c.reader, Keep: c.keepTexts, Text: c.keepText}
}

// view returns the texts of a conversation as a policy reads them, nil if they are not known, and
// their position in the stored log, nil if there is none.
func (t conversations) view(ctx context.Context, c *compiled, of flow.Conversation) (flow.View, *stopgate.TextPosition) {
	if c.reader == nil || !hasTexts(of) {
		return nil, nil
	}
	v, at, err := t.keeper.View(ctx, c.access(of))
	switch {
	case err != nil:
		return nil, nil
	case at.Log == "":
		return v, nil
	}
	return v, &stopgate.TextPosition{Log: at.Log, Number: at.Number}
}

// loadTexts takes the view of the texts that the call is evaluated with.
func (l *sessionLayer) loadTexts(ctx context.Context) {
	if p := l.p; p.under.reader != nil {
		l.texts, l.textsAt = p.g.texts.view(ctx, p.under, p.conversation())
	}
}

// conversation names the texts of the call.
func (p *pending) conversation() flow.Conversation {
	return conversationOf(owner(&p.call), p.call.Conversation)
}

// origins returns where the values of the call come from, as far as conditions evaluated that; p.mu
// is held.
func (p *pending) origins() (all []stopgate.Origin) {
	if p.under.reader == nil || p.verdicts.eval == nil {
		return nil
	}
	defer func() {
		if recover() != nil { // the evaluation panicked before
			all = nil
		}
	}()
	return p.verdicts.eval.Origins()
}

// addResult adds a result that the model receives. rel is nil if it belongs to no released call.
func (t conversations) addResult(ctx context.Context, c *compiled, rel *release, r *stopgate.Result, data []byte) error {
	if c.reader == nil {
		return nil
	}
	of := conversationOf(session.Owner{Principal: r.Principal, Session: r.Session}, r.Conversation)
	if r.Text != nil && bytes.Equal(data, r.Data) {
		data = r.Text
	}
	result := flow.Result{Call: r.Call, Data: data, Failed: r.Failed, Opaque: r.Opaque}
	if rel != nil {
		if rel.call.Conversation != "" {
			of.ID = rel.call.Conversation
		}
		result.Tool, result.Call, result.Proposal = rel.call.Tool, rel.call.ID, rel.id
		result.Args = rel.executed(r)
		// Of a program that asks over the API, only what it saw itself is the result of the call.
		result.Released = result.Args != nil && (r.Observed || rel.call.Surface != stopgate.SurfaceDecide)
	}
	if !hasTexts(of) {
		return nil
	}
	return t.add(ctx, c, of, false, []kept.Addition{{Result: &result}})
}

// newConversations returns the texts of conversations, which are kept with sessions.
func newConversations(s *sessionStore, report func(flow.Conversation, texts.Reason, error)) conversations {
	c := texts.Config{Report: report, Memory: maxTextMemory}
	store := s.texts
	if store != nil {
		c.Load = func(ctx context.Context, of flow.Conversation, after uint64) (flow.Log, error) {
			r := ask(ctx, s, func(ctx context.Context) (flow.Log, error) { return store.LoadTexts(ctx, of, after) })
			s.trouble("store", "", r.Fault, r.Err)
			return r.Value, r.Problem("texts")
		}
		c.Append = func(ctx context.Context, of flow.Conversation, change flow.Change) error {
			r := ask(ctx, s, func(ctx context.Context) (struct{}, error) { return struct{}{}, store.AppendTexts(ctx, of, change) })
			if !refusesTexts(r.Err) {
				s.trouble("store", "", r.Fault, r.Err)
			}
			return r.Problem("texts")
		}
	}
	return conversations{texts.New(c)}
}

// reportTexts records that texts of a conversation are missing. The row has no text of an error.
func (g *Gate) reportTexts(of flow.Conversation, why texts.Reason, err error) {
	g.reportTrouble("texts", "", port.Failed, err)
	_ = g.Note(context.Background(), stopgate.Record{ // one that is lost is counted
		Event: stopgate.AuditTextsLost, Code: stopgate.CodeOriginUnknown, Principal: of.Principal, Session: of.Session, Cause: string(why),
	})
}
