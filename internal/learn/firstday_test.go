package learn_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/project"
	"github.com/stopgate/stopgate/internal/testkit/approved"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// dayOf is what one day was like.
type dayOf struct {
	calls, asked, granted    int
	session, safe, unsafe    int // questions by the kind of the call
	denied, ranUnsafe, rules int
}

// Two days with the policy of `stopgate start`: calls that were drawn before the rules, of programs that only
// tests looked at. A person takes the first grant that is offered. On the second day the rules hold that
// `stopgate learn` proposes after the first.
func TestFirstDays(t *testing.T) {
	days, err := corpus.Days(corpus.Path(t))
	if err != nil {
		t.Fatal(err)
	}
	found, err := project.Read(fstest.MapFS{
		"go.mod": {Data: []byte("module example.com/shop\n")}, "Cargo.toml": {Data: []byte("[package]\nname = \"shop\"\n")}, "package.json": {Data: []byte(`{"scripts":{"test":"vitest","build":"vite build"}}`)},
		"Makefile": {Data: []byte("build:\n\tgo build ./...\ntest:\n\tgo test ./...\n")}, "pyproject.toml": {Data: []byte("[project]\nname = \"shop\"\n")},
		"src/main.rs": {}, "crates/core/src/lib.rs": {}, "docs/README.md": {}, ".github/workflows/ci.yml": {Data: []byte("on: push\n")}, "Dockerfile": {Data: []byte("FROM scratch\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	found.System = "linux"
	found.Installed(func(string) bool { return true })
	text := found.Policy()
	p := learn.Policy{Name: "stopgate.toml", Text: text, Options: policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise}}
	var rows []learn.Row
	var results [2]dayOf
	for i, day := range days {
		if i == 1 {
			learned, err := learn.Propose(p, rows, learn.Options{})
			if err != nil {
				t.Fatal(err)
			}
			results[i].rules = len(learned.Proposals)
			if text, err = learned.Apply(learned.Proposals); err != nil {
				t.Fatal(err)
			}
		}
		rows = append(rows, liveThrough(t, &results[i], p, text, day, i)...)
		r := results[i]
		t.Logf("day %d: %d calls, %d questions (%d of recorded sessions, %d of safe commands, %d of unsafe ones), %d more answered by grants, %d denied, %d learned rules", i+1, r.calls, r.asked, r.session, r.safe, r.unsafe, r.granted, r.denied, r.rules)
		// A recorded tool has a second form, without the path that the pack's table requires.
		if r.denied > 3 || r.ranUnsafe > 0 {
			t.Errorf("day %d: %d calls that were safe are denied, %d unsafe ones run", i+1, r.denied, r.ranUnsafe)
		}
	}
}

// liveThrough decides the calls of a day, in one conversation, and returns their rows.
func liveThrough(t *testing.T, r *dayOf, p learn.Policy, text []byte, day []corpus.Call, n int) []learn.Row {
	t.Helper()
	program, problems := policy.Compile([]policy.Source{{Name: p.Name, Text: text, Trusted: true}}, p.Options)
	if program == nil {
		t.Fatal(problems.Err())
	}
	session := []string{"monday", "tuesday"}[n]
	calls := make([]approved.Call, len(day))
	for i, c := range day {
		calls[i] = approved.Call{Session: session, Tool: c.Tool, Args: c.Args, No: c.Safe != nil && !*c.Safe, By: "anna", At: approved.Start.AddDate(0, 0, n).Add(time.Duration(i) * time.Minute)}
	}
	g, err := approved.NewGranting(program, named(t, calls))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := g.Say(ctx, calls[0].At, session, "Make the tests pass, and clean up."); err != nil {
		t.Fatal(err)
	}
	var rows []learn.Row
	for i, c := range calls {
		r.calls++
		of, modes, err := g.Decide(ctx, []approved.Call{c})
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, of...)
		unsafe := day[i].Safe != nil && !*day[i].Safe
		last := of[len(of)-1].Record
		switch {
		case modes[0] == stopgate.Unattended && unsafe:
			r.ranUnsafe++
		case modes[0] == stopgate.Deny && !unsafe:
			r.denied++
		case modes[0] != stopgate.Ask:
		case last.Approval != nil && strings.HasPrefix(last.Approval.ID, "grant:"):
			if r.granted++; unsafe {
				r.ranUnsafe++
			}
		case day[i].Safe == nil:
			r.asked++
			r.session++
		case unsafe:
			r.asked++
			r.unsafe++
		default:
			r.asked++
			r.safe++
		}
	}
	return rows
}

// named returns definitions with the names of all parameters that a call has, and no types.
func named(t *testing.T, calls []approved.Call) map[string]*stopgate.ToolDefinition {
	t.Helper()
	properties := map[string]map[string]any{}
	for _, c := range calls {
		var args map[string]any
		if err := json.Unmarshal(c.Args, &args); err != nil {
			t.Fatal(err)
		}
		if properties[c.Tool] == nil {
			properties[c.Tool] = map[string]any{}
		}
		for name := range args {
			properties[c.Tool][name] = map[string]any{}
		}
	}
	all := map[string]*stopgate.ToolDefinition{}
	for tool, p := range properties {
		text, err := json.Marshal(map[string]any{"type": "object", "properties": p})
		if err != nil {
			t.Fatal(err)
		}
		all[tool] = &stopgate.ToolDefinition{Name: stopgate.ToolName(tool), Schema: text}
	}
	return all
}
