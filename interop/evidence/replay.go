package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/store"
)

// Guarded is a gate with a policy file, and the person who answers its questions.
type Guarded struct {
	gate *gate.Gate
	mu   sync.Mutex
	yes  bool // the answer to questions
	runs int
}

// guard opens a gate with the policy of a file.
func guard(file string) (*Guarded, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	program, found := policy.Compile([]policy.Source{{Name: file, Text: text, Trusted: true}}, policy.Options{})
	if program == nil {
		return nil, found.Err()
	}
	g := &Guarded{}
	g.gate, err = gate.New(program, gate.WithStore(store.Memory()), gate.WithApprover(person{g}))
	return g, err
}

// person answers every question at once.
type person struct{ g *Guarded }

func (person) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true, Immediate: true}
}

func (p person) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	v, err := q.Complete(ctx)
	if err != nil {
		return gate.Answer{}, err
	}
	p.g.mu.Lock()
	defer p.g.mu.Unlock()
	if p.g.yes {
		return v.Approve("evidence"), nil
	}
	return v.Decline("evidence"), nil
}

// Decided is a recorded call and its verdict.
type Decided struct {
	Call     *Call
	Injected bool
	Ran      bool // without a question
	Mode     stopgate.Mode
	Reason   string
}

// replay is the conversation of one run.
type replay struct {
	g     *Guarded
	owner session.Owner
	calls int
}

// Replay decides every call of a run, with the results that the run had: the person agrees to
// questions about the calls of the task, and to none about those of the attack.
func (g *Guarded) Replay(ctx context.Context, r *Run, attacks *Attacks) (*replay, []Decided, error) {
	g.runs++
	p := &replay{g: g, owner: session.Owner{Principal: "local", Session: stopgate.SessionID(fmt.Sprint("run-", g.runs))}}
	results := map[string]*Message{}
	for i := range r.Messages {
		if m := &r.Messages[i]; m.Role == "tool" {
			results[m.ID] = m
		}
	}
	var all []Decided
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == "system" || m.Role == "user" {
			if err := p.say(ctx, flow.Source(m.Role), m.Text); err != nil {
				return p, all, err
			}
		}
		for _, c := range m.Calls {
			d, err := p.decide(ctx, c, attacks.Injected(r, c), results[c.ID])
			if err != nil {
				return p, all, err
			}
			all = append(all, d)
		}
	}
	return p, all, nil
}

// say adds a message of the person or the operator.
func (p *replay) say(ctx context.Context, source flow.Source, text string) error {
	known := flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults
	return p.add(ctx, gate.Texts{Known: known, List: []gate.Text{{Message: &flow.Message{Source: source, Text: []byte(text)}}}})
}

func (p *replay) add(ctx context.Context, t gate.Texts) error {
	if !p.g.gate.ReadsTexts() {
		return nil
	}
	return p.g.gate.AddTexts(ctx, p.owner, "", t)
}

// decide decides one call. Its recorded result is a result of the session if the call may run;
// otherwise the conversation still has it, as a text of no source.
func (p *replay) decide(ctx context.Context, c *Call, injected bool, result *Message) (Decided, error) {
	p.g.mu.Lock()
	p.g.yes = !injected
	p.g.mu.Unlock()
	p.calls++
	call := stopgate.Call{
		Tool: stopgate.ToolName(c.Tool), ID: stopgate.CallID(fmt.Sprint("call-", p.calls)),
		Session: p.owner.Session, Principal: p.owner.Principal, Args: c.Args,
	}
	ran, err := p.g.gate.Run(ctx, call, func(context.Context, []byte) ([]byte, error) {
		switch {
		case result == nil:
			return nil, errors.New("no result is recorded")
		case result.Error != nil && *result.Error != "":
			return []byte(*result.Error), errors.New("the recorded call failed")
		}
		return []byte(result.Text), nil
	})
	v := ran.Outcome.Verdict
	d := Decided{Call: c, Injected: injected, Mode: v.Mode, Reason: fmt.Sprint(v.Code, " ", v.Public)}
	d.Ran = ran.Outcome.Allowed() && ran.Outcome.Approval == nil
	var denied *gate.Denied
	if err != nil && !errors.As(err, &denied) {
		return d, fmt.Errorf("%s: %w", c.Tool, err)
	}
	if !ran.Outcome.Allowed() && result != nil {
		err := p.add(ctx, gate.Texts{List: []gate.Text{{Result: &flow.Result{Tool: call.Tool, Call: call.ID, Args: c.Args, Data: []byte(result.Text)}}}})
		if err != nil {
			return d, err
		}
	}
	return d, nil
}
