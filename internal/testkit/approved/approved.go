// Package approved makes records of calls in memory, through a real gate, for tests of what is learned
// from them. A person answers every question as the call says.
package approved

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/store/kinds"
)

// Call is a call and what a person answers when the gate asks about it.
type Call struct {
	Session, Tool string
	Server        stopgate.ServerID
	Args          []byte
	No            bool // the person declines
	By            string
	At            time.Time
}

// Start is the time of the first session that [Spread] makes.
var Start = time.Date(2026, 11, 2, 9, 0, 0, 0, time.UTC)

// Spread gives calls their times: a day for each session in the order of their first calls, and a minute for
// each call in it.
func Spread(calls []Call) []Call {
	days, minutes := map[string]int{}, map[string]int{}
	calls = slices.Clone(calls)
	for i := range calls {
		c := &calls[i]
		if _, ok := days[c.Session]; !ok {
			days[c.Session] = len(days)
		}
		c.At = Start.AddDate(0, 0, days[c.Session]).Add(time.Duration(minutes[c.Session]) * time.Minute)
		minutes[c.Session]++
		if c.By == "" {
			c.By = "anna"
		}
	}
	return calls
}

// Gate records calls under one policy.
type Gate struct {
	Program     *policy.Program
	Definitions map[string]*stopgate.ToolDefinition
	// To also gets the rows, nil for none.
	To gate.Recorder

	gate *gate.Gate
	rows []learn.Row
	args map[stopgate.ProposalID][]byte
	call Call
}

// New returns a gate with a policy. Definitions are those of the tools.
func New(program *policy.Program, definitions map[string]*stopgate.ToolDefinition) (*Gate, error) {
	g := &Gate{Program: program, Definitions: definitions, args: map[stopgate.ProposalID][]byte{}}
	err := g.open(kinds.Memory(), g)
	return g, err
}

// open makes the gate.
func (g *Gate) open(state backend.State, approver gate.Approver) (err error) {
	g.gate, err = gate.New(g.Program, gate.WithStore(state), gate.WithDenyMode(gate.DenyToolResult), gate.WithApprover(approver), gate.WithRecorder(g),
		gate.WithClock(func() time.Time { return g.call.At }))
	return err
}

// Abilities implements [gate.Approver]: somebody is there.
func (g *Gate) Abilities(context.Context, *stopgate.Call) gate.Abilities {
	return gate.Abilities{Reachable: true}
}

// Approve implements [gate.Approver].
func (g *Gate) Approve(ctx context.Context, q *gate.Question) (gate.Answer, error) {
	view, err := q.Complete(ctx)
	if g.call.No {
		return view.Decline(g.call.By), err
	}
	return view.Approve(g.call.By), err
}

// Capabilities implements [gate.Recorder].
func (g *Gate) Capabilities() gate.Capabilities { return gate.Capabilities{KeepsArguments: true} }

// Record implements [gate.Recorder].
func (g *Gate) Record(ctx context.Context, r *stopgate.Record) error {
	if g.To != nil {
		if err := g.To.Record(ctx, r); err != nil {
			return err
		}
	}
	row := learn.Row{Record: *r}
	if r.Kind == stopgate.RecordDecision && r.Args != nil {
		row.Args = bytes.Clone(r.Args)
		row.Call = g.bound(g.call)
	}
	g.rows = append(g.rows, row)
	return nil
}

// bound is a call as the gate sees it.
func (g *Gate) bound(c Call) stopgate.Call {
	return stopgate.Call{Tool: stopgate.ToolName(c.Tool), Session: stopgate.SessionID(c.Session), Server: c.Server, Surface: stopgate.SurfaceGateway, Definition: g.Definitions[c.Tool]}
}

// Decide passes calls through the gate and returns the rows and the mode of each call.
func (g *Gate) Decide(ctx context.Context, calls []Call) (rows []learn.Row, modes []stopgate.Mode, err error) {
	g.rows = nil
	for _, g.call = range calls {
		pending, err := g.gate.Open(ctx, g.bound(g.call))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", g.call.Tool, err)
		}
		pending.Feed(g.call.Args)
		v := pending.Close(stopgate.Ended)
		modes = append(modes, v.Mode)
		if _, err := pending.Resolve(ctx); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", g.call.Tool, err)
		}
	}
	return g.rows, modes, nil
}

// Definitions returns definitions of the tools of calls, with the parameters that some call has and the JSON
// types of their values, as a server would state them.
func Definitions(calls []Call) map[string]*stopgate.ToolDefinition {
	properties := map[string]map[string]any{}
	for _, c := range calls {
		if properties[c.Tool] == nil {
			properties[c.Tool] = map[string]any{}
		}
		var args map[string]any
		if json.Unmarshal(c.Args, &args) != nil {
			continue
		}
		for name, v := range args {
			properties[c.Tool][name] = merge(properties[c.Tool][name], schemaOf(v))
		}
	}
	all := map[string]*stopgate.ToolDefinition{}
	for tool, p := range properties {
		text, err := json.Marshal(map[string]any{"type": "object", "properties": p})
		if err != nil {
			panic(err) // of maps and strings
		}
		all[tool] = &stopgate.ToolDefinition{Name: stopgate.ToolName(tool), Schema: text}
	}
	return all
}

// schemaOf is a schema that a value fits.
func schemaOf(v any) map[string]any {
	switch x := v.(type) {
	case map[string]any:
		properties := map[string]any{}
		for name, member := range x {
			properties[name] = schemaOf(member)
		}
		return map[string]any{"type": "object", "properties": properties}
	case []any:
		var items any
		for _, e := range x {
			items = merge(items, schemaOf(e))
		}
		if items == nil {
			return map[string]any{"type": "array"}
		}
		return map[string]any{"type": "array", "items": items}
	case string:
		return map[string]any{"type": "string"}
	case bool:
		return map[string]any{"type": "boolean"}
	case nil:
		return map[string]any{"type": "null"}
	}
	return map[string]any{"type": "number"}
}

// merge returns a schema that the values of both fit.
func merge(a, b any) any {
	x, ok := a.(map[string]any)
	y, fine := b.(map[string]any)
	switch {
	case !ok:
		return b
	case !fine:
		return a
	case fmt.Sprint(x["type"]) != fmt.Sprint(y["type"]):
		var types []any
		for _, t := range []any{x["type"], y["type"]} {
			list, many := t.([]any)
			if !many {
				list = []any{t}
			}
			for _, each := range list {
				if !slices.Contains(types, each) {
					types = append(types, each)
				}
			}
		}
		merged := map[string]any{}
		for name, v := range x {
			merged[name] = v
		}
		for name, v := range y {
			merged[name] = v
		}
		merged["type"] = types
		return merged
	}
	properties := func(s map[string]any) map[string]any { p, _ := s["properties"].(map[string]any); return p }
	if p := properties(x); p != nil {
		all := map[string]any{}
		for name, v := range p {
			all[name] = v
		}
		for name, v := range properties(y) {
			all[name] = merge(all[name], v)
		}
		return map[string]any{"type": x["type"], "properties": all}
	}
	if items := merge(x["items"], y["items"]); items != nil {
		return map[string]any{"type": x["type"], "items": items}
	}
	return x
}
