package gate_test

import (
	"context"
	"slices"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// named is a policy in Go with a name, and with a version if it has one.
type named struct{ name string }

func (n named) Name() string { return n.name }

func (named) Check(context.Context, gate.Proposal) (gate.Decision, error) {
	return gate.Decision{Kind: gate.NoOpinion}, nil
}

func (named) CheckHandoff(context.Context, gate.Proposal) (gate.Decision, error) {
	return gate.Decision{Kind: gate.NoOpinion}, nil
}

type versioned struct {
	named
	version string
}

func (v versioned) Version() string { return v.version }

// governs is a session policy in Go.
type governs struct{ named }

func (governs) Tools() session.Selector                           { return session.Select("t") }
func (governs) Needs(session.Call) []session.Key                  { return nil }
func (governs) Check(session.View, session.Call) session.Decision { return session.Allow() }

type governsAt struct {
	governs
	version string
}

func (g governsAt) Version() string { return g.version }

// Proves S36: policies in Go are part of the policy hash with their version, and
// records name those that have none.
func TestVersionsOfPoliciesInGo(t *testing.T) {
	program := compile(t, filePolicy)
	seen := map[string]string{}
	for _, c := range []struct {
		name        string
		tools       []gate.ToolPolicy
		handoffs    []gate.HandoffPolicy
		sessions    []session.Policy
		unversioned []string
	}{
		{name: "none"},
		{name: "one", tools: []gate.ToolPolicy{versioned{named{"a"}, "1"}}},
		{name: "another version", tools: []gate.ToolPolicy{versioned{named{"a"}, "2"}}},
		{name: "another name", tools: []gate.ToolPolicy{versioned{named{"b"}, "1"}}},
		{name: "no version", tools: []gate.ToolPolicy{named{"a"}}, unversioned: []string{"a"}},
		{name: "handoff", handoffs: []gate.HandoffPolicy{versioned{named{"h"}, "1"}, named{"i"}}, unversioned: []string{"i"}},
		{name: "session", sessions: []session.Policy{governsAt{governs{named{"s"}}, "1"}}},
		{name: "session, conditional", sessions: []session.Policy{session.Conditional(governsAt{governs{named{"s"}}, "2"}, func(session.View) bool { return true })}},
		{name: "session without", sessions: []session.Policy{governs{named{"s"}}}, unversioned: []string{"s"}},
	} {
		registry, rec := session.NewRegistry(), new(ports.Recorder)
		for _, p := range c.sessions {
			if err := registry.Register(p); err != nil {
				t.Fatal(err)
			}
		}
		g, err := gate.New(program, gate.WithRecorder(rec), gate.WithToolPolicies(c.tools...), gate.WithHandoffPolicies(c.handoffs...),
			gate.WithSessionPolicies(registry), gate.WithDenyMode(gate.DenyToolResult))
		if err != nil {
			t.Fatal(err)
		}
		if c.name == "none" && g.PolicyHash() != program.Hash() {
			t.Error("the hash of the file alone")
		}
		if other, twice := seen[g.PolicyHash()]; twice {
			t.Errorf("%s has the hash of %s", c.name, other)
		}
		seen[g.PolicyHash()] = c.name
		if _, err := g.Decide(t.Context(), stopgate.Call{Tool: "nothing", Args: []byte(`{}`)}); err != nil {
			t.Fatal(err)
		}
		row := rec.Decisions()[0]
		if row.Policy != g.PolicyHash() || !slices.Equal(row.Unversioned, c.unversioned) {
			t.Errorf("%s: %s %v", c.name, row.Policy, row.Unversioned)
		}
	}
}
