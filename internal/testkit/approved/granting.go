package approved

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/session"
)

// NewGranting returns a gate with a person who declines calls with No and answers yes to the others. With
// grants, the person takes the first grant that is offered with a question, if the same was offered with an
// earlier question of the session.
func NewGranting(program *policy.Program, definitions map[string]*stopgate.ToolDefinition, grants bool) (*Gate, error) {
	g := &Gate{Program: program, Definitions: maps.Clone(definitions), args: map[stopgate.ProposalID][]byte{}}
	state := kinds.Memory()
	queue, err := approve.New(state, approve.Options{Notify: []approve.Notifier{present{}}, Now: func() time.Time { return g.call.At }})
	if err != nil {
		return nil, err
	}
	return g, g.open(state, granting{queue, g, grants, &offers{by: map[string]string{}}})
}

// Say adds a message of the person to a session, whose texts are complete.
func (g *Gate) Say(ctx context.Context, at time.Time, id, text string) error {
	g.call.At = at
	t := gate.Texts{Known: flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults, List: []gate.Text{{Message: &flow.Message{Source: flow.User, Text: []byte(text)}}}}
	return g.gate.AddTexts(ctx, session.Owner{Session: stopgate.SessionID(id)}, "", t)
}

// present is the person, who sees each question.
type present struct{}

func (present) Name() string                                { return "person" }
func (present) Notify(context.Context, approve.Entry) error { return nil }

// granting is a queue whose questions the person answers as soon as they are complete.
type granting struct {
	*approve.Queue
	of      *Gate
	grants  bool
	offered *offers
}

// offers are the grants that were offered first, by session and sentence, with the question of each.
type offers struct {
	mu sync.Mutex
	by map[string]string
}

// Abilities implements [gate.Approver]: somebody is there.
func (p granting) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true}
}

// Approve implements [gate.Approver].
func (p granting) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	go func() {
		if _, err := q.Complete(ctx); err == nil {
			_ = p.Watch(ctx, p.answer) // until the question is answered, and ctx ends
		}
	}()
	return p.Queue.Approve(ctx, q)
}

// again reports whether the person takes a grant.
func (p granting) again(e approve.Entry, offers []approve.Extension) bool {
	if !p.grants || len(offers) == 0 {
		return false
	}
	key := string(e.Session) + " " + offers[0].Sentence
	if offers[0].Name == "exact" { // the sentence names no values
		key += " " + e.Binding.Args
	}
	p.offered.mu.Lock()
	defer p.offered.mu.Unlock()
	if p.offered.by[key] == "" {
		p.offered.by[key] = e.ID
	}
	return p.offered.by[key] != e.ID
}

func (p granting) answer(open []approve.Entry) error {
	ctx, call := context.Background(), p.of.call
	for _, e := range open {
		if e.State != approve.Waiting || !e.Complete {
			continue
		}
		reply := approve.Reply{Kind: approve.Yes, By: call.By, Seen: e.Binding.Hash()}
		offers := e.Extensions()
		var err error
		switch {
		case call.No:
			reply.Kind = approve.No
			_, err = p.Answer(ctx, e.ID, reply)
		case p.again(e, offers):
			_, _, err = p.Grant(ctx, e.ID, reply, approve.Scope{Wider: offers[0].Wider})
		default:
			_, err = p.Answer(ctx, e.ID, reply)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
