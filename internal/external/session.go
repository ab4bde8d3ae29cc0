package external

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Limits of a session policy.
const (
	maxState   = 64 << 10  // of its state in a session
	maxContent = 256 << 10 // of a result that it sees
)

// sessionPolicy is a session policy (TPS-06) whose state is facts of the session: one JSON value
// for each session, which the service gets with a question and returns with the answer to a result.
//
// The state permits and restricts, and the gate does not know which parts do which. A note that
// permits counts from the next turn on, and not after a restore took it back; one that restricts
// counts at once and for ever. A call is therefore checked with the state in force and, where they
// differ, with the newest state too: both must allow it (S75).
type sessionPolicy struct {
	*service
	tools session.Selector
	limit time.Duration
}

// The values of the notes. The newest text of stateNote is also the state that restricts, until a
// restore makes them differ: from then on restrictNote has it.
const (
	stateNote    = "state"
	restrictNote = "restrict"
)

func newSessionPolicy(s *service) *sessionPolicy {
	p := &sessionPolicy{service: s, limit: 2*s.timeout + 50*time.Millisecond}
	for _, name := range s.table.Tools {
		p.tools = p.tools.Or(session.SelectMatch(name, s.table.Governs, nil))
	}
	return p
}

var (
	_ session.Policy = (*sessionPolicy)(nil)
	_ session.Remote = (*sessionPolicy)(nil)
)

// Name returns the name of the table.
func (p *sessionPolicy) Name() string { return p.table.Name }

// Tools returns the tools of the table.
func (p *sessionPolicy) Tools() session.Selector { return p.tools }

// Needs returns the cells of the state and of the session's data.
func (p *sessionPolicy) Needs(session.Call) []session.Key {
	return []session.Key{session.NoteKey(p.table.Name, stateNote), session.NoteKey(p.table.Name, restrictNote), session.DataKey}
}

// Limit returns the time of two answers.
func (p *sessionPolicy) Limit() time.Duration { return p.limit }

// states returns the state in force and the newest state, as JSON; "" is none.
func (p *sessionPolicy) states(v session.View) (inForce, newest string) {
	inForce, _ = v.Note(p.table.Name, stateNote)
	newest = v.Cell(session.NoteKey(p.table.Name, restrictNote)).Text
	if newest == "" {
		newest = v.Cell(session.NoteKey(p.table.Name, stateNote)).Text
	}
	return inForce, newest
}

// Check asks about a call.
func (p *sessionPolicy) Check(v session.View, c session.Call) session.Decision {
	inForce, newest := p.states(v)
	d := p.check(v, c, inForce)
	if newest == inForce || !d.Allowed && !d.Ask {
		return d
	}
	if other := p.check(v, c, newest); !other.Allowed && (d.Allowed || !other.Ask) {
		return other
	}
	return d
}

func (p *sessionPolicy) check(v session.View, c session.Call, state string) session.Decision {
	q := p.question(askCheck, v, c, state)
	d, _, err := ask(context.Background(), p.service, q, func(a *answer) (session.Decision, string, stopgate.Code) {
		word := a.decision("allow", "ask", "deny")
		d := session.Decision{
			Allowed: word == "allow", Ask: word == "ask", Code: a.code(word == "allow"), Public: a.sentence("public_reason", maxSentence),
			Detail: a.sentence("detail", maxSentence), Missing: a.texts("missing"), Meta: a.metadata(),
		}
		slices.Sort(d.Missing)
		return d, word, d.Code
	})
	if err != nil {
		return session.Deny(codeOf(err), "")
	}
	return d
}

// codeOf returns the code of the denial after an error.
func codeOf(err error) stopgate.Code {
	var f *failure
	if errors.As(err, &f) {
		return f.code
	}
	return stopgate.CodePolicyError
}

// question describes a call in its session.
func (p *sessionPolicy) question(kind string, v session.View, c session.Call, state string) *question {
	q := &question{ask: kind, hook: "session", proposal: c.Proposal}
	var args []byte
	if c.Args.IsValid() {
		args = jsonstream.AppendCanonical(nil, c.Args)
	}
	call := callOf(&stopgate.Call{
		Tool: c.Tool, Agent: c.Agent, Session: v.Owner.Session, Turn: c.Turn, ID: c.ID, Principal: v.Owner.Principal,
	}, c.Proposal, string(args))
	call.string("to", string(c.To))
	q.members.raw("call", call.end())
	q.members.raw("state", []byte(state))
	var data []byte
	if d := v.Data(); d.IsValid() {
		data = jsonstream.AppendCanonical(nil, d)
	}
	q.members.raw("data", data)
	return q
}

// OnResult is Learn without its error.
func (p *sessionPolicy) OnResult(v session.View, r session.Result) []session.Fact {
	facts, _ := p.Learn(v, r)
	return facts
}

// Learn tells the service the result of a call that did not fail, and returns notes of the states
// that it answers.
func (p *sessionPolicy) Learn(v session.View, r session.Result) ([]session.Fact, error) {
	inForce, newest := p.states(v)
	permits, err := p.learn(v, r, inForce)
	if err != nil {
		return nil, err
	}
	if newest == inForce {
		return p.notes(stateNote, inForce, permits, nil), nil
	}
	restricts, err := p.learn(v, r, newest)
	if err != nil {
		return nil, err
	}
	return p.notes(restrictNote, "", restricts, p.notes(stateNote, "", permits, nil)), nil
}

// notes appends the note of a state that is not that of before.
func (p *sessionPolicy) notes(value, before, state string, list []session.Fact) []session.Fact {
	if state == before {
		return list
	}
	return append(list, session.Note(p.table.Name, value, state))
}

// learn returns the state after a result.
func (p *sessionPolicy) learn(v session.View, r session.Result, state string) (string, error) {
	q := p.question(askResult, v, r.Call, state)
	var result object
	status := "finished"
	if r.Kind == session.Succeeded {
		status = "succeeded"
	}
	result.always("status", status)
	result.bool("observed", r.Seen)
	result.int("bytes", int64(len(r.Data)))
	if len(r.Data) <= maxContent {
		result.always("content", string(r.Data))
	}
	q.members.raw("result", result.end())
	after, _, err := ask(context.Background(), p.service, q, func(a *answer) (string, string, stopgate.Code) {
		s := a.get("state", jsonstream.Null, jsonstream.Object, jsonstream.Array, jsonstream.String, jsonstream.Number, jsonstream.True, jsonstream.False)
		if !s.IsValid() {
			return state, "unchanged", ""
		}
		after := string(jsonstream.AppendCanonical(nil, s))
		if len(after) > maxState {
			a.fail(fmt.Sprintf("state of %d bytes: want at most %d", len(after), maxState))
		}
		return after, "noted", ""
	})
	return after, err
}
