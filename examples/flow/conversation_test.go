// Package flow_test runs the policies of this directory through a gate: conversations in which texts
// of strangers want a destination of their own, in every way that is known for its kind.
package flow_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/store"
)

// step is a part of a conversation: a text of the person, or a call with its result. A failed call
// has its text as the error.
type step struct {
	user   string
	tool   string
	args   any
	result any // a string is the text of the result, every other value its JSON text
	failed bool
}

// conversation is a session at a gate with one of the policies.
type conversation struct {
	t     testing.TB
	gate  *gate.Gate
	owner session.Owner
	calls int
}

// programs are the compiled policies by name.
func program(t testing.TB, name string) *policy.Program {
	t.Helper()
	text, err := os.ReadFile(name + ".toml")
	if err != nil {
		t.Fatal(err)
	}
	p, found := policy.Compile([]policy.Source{{Name: name + ".toml", Text: text, Trusted: true}}, policy.Options{})
	if p == nil {
		t.Fatal(found.Err())
	}
	return p
}

// talk opens a session in which the person wrote a text.
func talk(t testing.TB, p *policy.Program, user string) *conversation {
	t.Helper()
	g, err := gate.New(p, gate.WithStore(store.Memory()))
	if err != nil {
		t.Fatal(err)
	}
	c := &conversation{t: t, gate: g, owner: session.Owner{Principal: "ann", Session: "s"}}
	c.say(user)
	return c
}

// say adds a text of the person.
func (c *conversation) say(text string) {
	c.t.Helper()
	texts := gate.Texts{
		Known: flow.KnowsUser | flow.KnowsSystem | flow.KnowsResults,
		List:  []gate.Text{{Message: &flow.Message{Source: flow.User, Text: []byte(text)}}},
	}
	if err := c.gate.AddTexts(context.Background(), c.owner, "", texts); err != nil {
		c.t.Fatal(err)
	}
}

// call decides a call. If it may run without a question, its result is the given one.
func (c *conversation) call(s step) stopgate.Outcome {
	c.t.Helper()
	c.calls++
	args, err := json.Marshal(s.args)
	if err != nil {
		c.t.Fatal(err)
	}
	ran, err := c.gate.Run(context.Background(), stopgate.Call{
		Tool: stopgate.ToolName(s.tool), ID: stopgate.CallID(fmt.Sprint("call-", c.calls)),
		Session: c.owner.Session, Principal: c.owner.Principal, Args: args,
	}, func(context.Context, []byte) ([]byte, error) {
		text, ok := s.result.(string)
		data := []byte(text)
		if !ok {
			data, err = json.Marshal(s.result)
			if err != nil {
				c.t.Fatal(err)
			}
		}
		if s.failed {
			return data, errors.New("failed")
		}
		return data, nil
	})
	var denied *gate.Denied
	if err != nil && !errors.As(err, &denied) {
		c.t.Fatal(err)
	}
	return ran.Outcome
}

// play runs the steps before the call that matters; each of their calls must run.
func (c *conversation) play(steps []step) {
	c.t.Helper()
	for _, s := range steps {
		if s.user != "" {
			c.say(s.user)
			continue
		}
		if out := c.call(s); !out.Allowed() {
			c.t.Fatalf("%s %v does not run: %s %s", s.tool, s.args, out.Verdict.Code, out.Verdict.Public)
		}
	}
}
