package learn_test

import (
	"context"
	"fmt"
	"slices"
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
// tests looked at, with one person who answers every question by itself, and one who takes the grant that is
// offered for the second time in a conversation. On the second day the rules hold that `stopgate learn` proposes
// after the first. The page docs/start.md has the numbers.
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
	for _, person := range []struct {
		name             string
		grants, commands bool   // commands: the project's own commands may run
		most             [2]int // questions that docs/start.md states: lower both when they become fewer
	}{
		{"no grants", false, false, [2]int{56, 36}}, {"grants", true, false, [2]int{54, 31}},
		{"no grants, `c`", false, true, [2]int{47, 29}}, {"grants, `c`", true, true, [2]int{47, 29}},
	} {
		found.Unattended = person.commands
		for i, r := range twoDays(t, found.Policy(), days, person.grants) {
			row := fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n", person.name, []string{"first", "second"}[i],
				r.calls, r.asked, r.session, r.safe, r.unsafe, r.granted, r.rules, r.denied, r.ranUnsafe)
			t.Log(row)
			if r.asked > person.most[i] {
				t.Errorf("%s, day %d: %d questions, and no more than %d before: see docs/start.md", person.name, i+1, r.asked, person.most[i])
			}
			if r.denied > 0 || r.ranUnsafe > 0 {
				t.Errorf("%s, day %d: %d calls that were safe are denied, %d unsafe ones run", person.name, i+1, r.denied, r.ranUnsafe)
			}
		}
	}
}

// twoDays decides the calls of a day under a policy, and those of the next under what was learned by then.
func twoDays(t *testing.T, text []byte, days [2][]corpus.Call, grants bool) (results [2]dayOf) {
	t.Helper()
	p := learn.Policy{Name: "stopgate.toml", Text: text, Options: policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise}}
	var rows []learn.Row
	for i := range days {
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
		rows = append(rows, liveThrough(t, &results[i], p, text, days, i, grants)...)
	}
	return results
}

// liveThrough decides the calls of a day and returns their rows. A recorded session is a conversation, and all
// commands are another.
func liveThrough(t *testing.T, r *dayOf, p learn.Policy, text []byte, days [2][]corpus.Call, n int, grants bool) []learn.Row {
	t.Helper()
	program, problems := policy.Compile([]policy.Source{{Name: p.Name, Text: text, Trusted: true}}, p.Options)
	if program == nil {
		t.Fatal(problems.Err())
	}
	calls := callsOf(days[n], n)
	g, err := approved.NewGranting(program, approved.Definitions(slices.Concat(callsOf(days[0], 0), callsOf(days[1], 1))), grants)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	began := map[string]bool{}
	var rows []learn.Row
	day := days[n]
	for i, c := range calls {
		if !began[c.Session] {
			began[c.Session] = true
			if err := g.Say(ctx, c.At, c.Session, "Make the tests pass, and clean up."); err != nil {
				t.Fatal(err)
			}
		}
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

// callsOf returns the calls of a day, one a minute.
func callsOf(day []corpus.Call, n int) []approved.Call {
	calls := make([]approved.Call, len(day))
	for i, c := range day {
		session := fmt.Sprintf("day %d %s", n+1, c.Session)
		calls[i] = approved.Call{Session: session, Tool: c.Tool, Args: c.Args, No: c.Safe != nil && !*c.Safe, By: "anna", At: approved.Start.AddDate(0, 0, n).Add(time.Duration(i) * time.Minute)}
	}
	return calls
}
