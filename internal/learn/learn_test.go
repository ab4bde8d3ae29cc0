package learn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/approved"
)

// asking is a policy that asks about everything, with a guard and a question that somebody wanted.
const asking = `version = 1

[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"

[tools."*"]
parameters.path = { type = "path" }
policy.run = "ask"

[tools.sh]
parameters.command = { type = "command", required = true }

[tools.sh.policy]
run = [
  { arg = "/command", usage = "git push **", mode = "ask", reason = "this publishes" },
  { mode = "ask" },
]
`

func policyOf(text string) learn.Policy {
	return learn.Policy{Name: "stopgate.toml", Text: []byte(text), Options: policy.Options{Root: "/srv/proj", Home: "/home/u"}}
}

// call is a call of a session that anna approves.
func call(session, tool string, args any) approved.Call {
	text, err := json.Marshal(args)
	if err != nil {
		panic(err)
	}
	return approved.Call{Session: session, Tool: tool, Args: text}
}

type object map[string]any

// record passes calls through a gate.
func record(t testing.TB, p learn.Policy, calls []approved.Call) []learn.Row {
	t.Helper()
	program, found := policy.Compile([]policy.Source{{Name: p.Name, Text: p.Text, Trusted: true}}, p.Options)
	if program == nil {
		t.Fatal(found)
	}
	g, err := approved.New(program, approved.Definitions(calls))
	if err != nil {
		t.Fatal(err)
	}
	rows, _, err := g.Decide(context.Background(), calls)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func proposed(t testing.TB, p learn.Policy, rows []learn.Row, o learn.Options) *learn.Result {
	t.Helper()
	r, err := learn.Propose(p, rows, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// rules lists the rules of a result, with their tools.
func rules(r *learn.Result) (list []string) {
	for _, p := range r.Proposals {
		list = append(list, fmt.Sprintf("%s %s: %s", p.Tool, p.How, p.Rule))
	}
	slices.Sort(list)
	return list
}

// Generalisations need approvals of several sessions, and are the narrowest that those support.
func TestProposals(t *testing.T) {
	for _, test := range []struct {
		name  string
		calls []approved.Call
		want  []string
	}{
		{"twice in one session is too seldom", []approved.Call{call("a", "build_all", object{}), call("a", "build_all", object{})}, nil},
		{"in two sessions", []approved.Call{call("a", "deploy", object{"to": "test"}), call("b", "deploy", object{"to": "test"})},
			[]string{`deploy exactly this: { arg = "/to", const = "test", mode = "unattended" }`}},
		{"what acts is never generalised", []approved.Call{call("a", "send", object{"to": "a"}), call("b", "send", object{"to": "b"}), call("c", "send", object{"to": "c"}), call("d", "send", object{"to": "d"})}, nil},
		{"files of a directory", []approved.Call{call("a", "edit_file", object{"path": "lib/a.go"}), call("b", "edit_file", object{"path": "lib/b.go"}), call("c", "edit_file", object{"path": "lib/x/c.go"})},
			[]string{`edit_file same directory: { arg = "/path", prefix = "lib", mode = "unattended" }`}},
		{"files of one session", []approved.Call{call("a", "edit_file", object{"path": "lib/a.go"}), call("a", "edit_file", object{"path": "lib/b.go"}), call("a", "edit_file", object{"path": "lib/x/c.go"})}, nil},
		{"never the root", []approved.Call{call("a", "edit_file", object{"path": "a.go"}), call("b", "edit_file", object{"path": "b.go"}), call("c", "edit_file", object{"path": "c.go"})}, nil},
		{"words of a tool that looks", []approved.Call{call("a", "check", object{"package": "core"}), call("b", "check", object{"package": "cli"}), call("c", "check", object{"package": "web"})},
			[]string{`check same tool: { arg = "/package", pattern = "^[A-Za-z0-9_]{1,64}$", mode = "unattended" }`}},
		{"words that the table of tools lets vary", []approved.Call{call("a", "cargo_test", object{"package": "core"}), call("b", "cargo_test", object{"package": "cli"}), call("c", "cargo_test", object{"package": "web"})},
			[]string{`cargo_test same tool: { arg = "/package", pattern = "^[A-Za-z0-9_]{1,64}$", mode = "unattended" }`}},
		{"no options in their place", []approved.Call{call("a", "cargo_test", object{"package": "core"}), call("b", "cargo_test", object{"package": "--all"}), call("c", "cargo_test", object{"package": "web"})}, nil},
		{"no other parameter", []approved.Call{call("a", "cargo_update", object{"package": "core"}), call("b", "cargo_update", object{"package": "cli"}), call("c", "cargo_update", object{"package": "web"})}, nil},
		{"nor the directory of a path", []approved.Call{call("a", "cargo_test", object{"package": "core", "path": "x/a"}), call("b", "cargo_test", object{"package": "cli", "path": "x/b"}), call("c", "cargo_test", object{"package": "web", "path": "x/c"})}, nil},
		{"without a parameter that may vary", []approved.Call{call("a", "cargo_test", object{}), call("b", "cargo_test", object{"package": "core"}), call("c", "cargo_test", object{"package": "core"})},
			[]string{`cargo_test exactly this: { arg = "/package", present = false, mode = "unattended" }`, `cargo_test same tool: { arg = "/package", pattern = "^[A-Za-z0-9_]{1,64}$", mode = "unattended" }`}},
		{"in one session", []approved.Call{call("a", "cargo_test", object{}), call("a", "cargo_test", object{"package": "core"}), call("a", "cargo_test", object{"package": "cli"})}, nil},
		{"without one that may not", []approved.Call{call("a", "cargo_update", object{}), call("b", "cargo_update", object{"package": "core"}), call("c", "cargo_update", object{"package": "cli"})}, nil},
		{"another value in one that may not", []approved.Call{call("a", "cargo_test", object{"path": "x"}), call("b", "cargo_test", object{"package": "core", "path": "y"}), call("c", "cargo_test", object{"package": "cli", "path": "z"})}, nil},
		{"files in another parameter", []approved.Call{
			call("a", "fs_modify_file", object{"path": "lib/a.go"}), call("b", "fs_modify_file", object{"path": "lib/b.go"}), call("c", "fs_modify_file", object{"patterns": []object{{"old": "a", "paths": []string{"lib/c.go"}}}})},
			[]string{`fs_modify_file same directory: { all = [{ arg = "/path", prefix = "lib" }, { arg = "/patterns/paths", present = false }], mode = "unattended" }`,
				`fs_modify_file same directory: { all = [{ arg = "/patterns/paths", prefix = "lib" }, { arg = "/path", present = false }], mode = "unattended" }`}},
		{"files in two parameters", []approved.Call{
			call("a", "fs_modify_file", object{"path": "lib/a.go"}), call("b", "fs_modify_file", object{"path": "lib/b.go"}), call("c", "fs_modify_file", object{"path": "lib/c.go", "patterns": []object{{"old": "a", "paths": []string{"lib/c.go"}}}})}, nil},
		{"files in another directory", []approved.Call{
			call("a", "fs_modify_file", object{"path": "lib/a.go"}), call("b", "fs_modify_file", object{"path": "lib/b.go"}), call("c", "fs_modify_file", object{"patterns": []object{{"old": "a", "paths": []string{"web/c.go"}}}})}, nil},
		{"files in another parameter of an unknown tool", []approved.Call{call("a", "edit_doc", object{"path": "lib/a.go"}), call("b", "edit_doc", object{"path": "lib/b.go"}), call("c", "edit_doc", object{"files": []string{"lib/c.go"}})}, nil},
		{"what is written may vary, where it is written does not", []approved.Call{
			call("a", "fs_modify_file", object{"path": "lib/a.go", "string_to_replace": "a", "new_string": "b"}), call("b", "fs_modify_file", object{"path": "lib/b.go", "patterns": []object{{"old": "a", "new": "b"}}}),
			call("c", "fs_modify_file", object{"path": "lib/c.go", "string_to_replace": "c", "new_string": "d", "replace_using_regex": true})},
			[]string{`fs_modify_file same directory: { arg = "/path", prefix = "lib", mode = "unattended" }`}},
		{"pages of a host", []approved.Call{call("a", "read_page", object{"url": "https://docs.example.org/a"}), call("b", "read_page", object{"url": "https://docs.example.org/b"}), call("c", "read_page", object{"url": "https://docs.example.org/c"})},
			[]string{`read_page same host: { arg = "/url", host = "docs.example.org", mode = "unattended" }`}},
		{"commands of tests", []approved.Call{call("a", "sh", object{"command": "cargo test core"}), call("b", "sh", object{"command": "cargo test cli"}), call("c", "sh", object{"command": "cargo test web && ls"})},
			[]string{`sh same subcommand: { all = [{ arg = "/command", usage = "cargo test *" }, { arg = "/command", pattern = "^cargo test [A-Za-z0-9_]{1,64}$" }], mode = "unattended" }`}},
		{"targets of make are programs", []approved.Call{call("a", "sh", object{"command": "make lint"}), call("b", "sh", object{"command": "make test"}), call("c", "sh", object{"command": "make lint"}), call("d", "sh", object{"command": "make test"})},
			[]string{`sh exactly this: { arg = "/command", enum = ["make lint", "make test"], mode = "unattended" }`}},
		{"a wanted question", []approved.Call{call("a", "sh", object{"command": "git push origin a"}), call("b", "sh", object{"command": "git push origin b"}), call("c", "sh", object{"command": "git push origin c"}), call("d", "sh", object{"command": "git push origin a"})},
			[]string{`sh exactly this: { arg = "/command", const = "git push origin a", mode = "unattended" }`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := policyOf(asking)
			r := proposed(t, p, record(t, p, approved.Spread(test.calls)), learn.Options{})
			if got := rules(r); !slices.Equal(got, test.want) {
				t.Errorf("%s\nwant %s\n%+v", strings.Join(got, "\n"), strings.Join(test.want, "\n"), r.Counts)
			}
		})
	}
}

// Questions of the pack for coding agents are general: a command that runs, tests or commits what is written may have
// other operands of the same form, and no other option. What publishes, throws work away or is a program is learned
// exactly.
func TestCommandsOfPacks(t *testing.T) {
	for _, test := range []struct {
		name     string
		commands []string // each in a session of its own
		want     []string
	}{
		{"packages of Go", []string{"go test ./a", "go test ./b/c", "go test ./b"},
			[]string{`Bash same subcommand: { all = [{ arg = "/command", usage = "go test *" }, { arg = "/command", pattern = '^go test \./[A-Za-z0-9_]{1,64}(?:[/][A-Za-z0-9_]{1,64}){0,8}$' }], mode = "unattended" }`}},
		{"two forms", []string{"go test ./a", "go test b", "go test ./c"}, nil},
		{"all below", []string{"go test ./a/...", "go test ./b/...", "go test ./..."}, nil},
		{"with an option", []string{"go test -race ./a", "go test ./b", "go test ./c"}, nil},
		{"messages", []string{"git commit -m 'fix: a'", "git commit -m 'fix: b'", "git commit -m c"},
			[]string{`Bash same subcommand: { arg = "/command", usage = "git commit [-m *]", mode = "unattended" }`}},
		{"what a stash does", []string{"git stash pop", "git stash apply", "git stash clear"}, nil},
		{"what publishes", []string{"git push origin a", "git push origin b", "git push origin c"}, nil},
		{"targets", []string{"make a", "make b", "make c"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var calls []approved.Call
			for i, c := range test.commands {
				calls = append(calls, call(fmt.Sprint("s", i), "Bash", object{"command": c}))
			}
			p := coding(t)
			r := proposed(t, p, record(t, p, approved.Spread(calls)), learn.Options{})
			if got := rules(r); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			if _, err := r.Apply(r.Proposals); err != nil {
				t.Error(err)
			}
		})
	}
}

// A proposal names the parameters in which the calls differ that count for it, and lists those that it does not permit.
func TestKinAreNamed(t *testing.T) {
	p := policyOf(asking)
	rows := record(t, p, approved.Spread([]approved.Call{
		call("a", "cargo_test", object{}), call("b", "cargo_test", object{"package": "core"}), call("c", "cargo_test", object{"package": "core"})}))
	var got []string
	for _, each := range proposed(t, p, rows, learn.Options{}).Proposals {
		got = append(got, fmt.Sprintf("%s: %d approvals in %d sessions, %d answered, %d more", each.Sentence, each.Approvals, each.Sessions, len(each.Covers), len(each.With)))
	}
	if want := []string{
		"cargo_test with any word in /package (calls that differ in /package count): 3 approvals in 3 sessions, 2 answered, 1 more",
		"cargo_test with no /package (calls that differ in /package count): 3 approvals in 3 sessions, 1 answered, 2 more",
	}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// What a table does not declare next to a command keeps no rule from being learned, and no rule looks at it.
func TestUndeclaredNextToCommands(t *testing.T) {
	p := coding(t)
	r := proposed(t, p, record(t, p, approved.Spread([]approved.Call{
		call("a", "Bash", object{"command": "make lint", "run_in_background": true, "timeout": 5}), call("b", "Bash", object{"command": "make lint", "run_in_background": false})})), learn.Options{})
	if got := rules(r); !slices.Equal(got, []string{`Bash exactly this: { arg = "/command", const = "make lint", mode = "unattended" }`}) {
		t.Errorf("%q", got)
	}
}

// A rule with a condition asks a question of its own, of which only the exact calls are learned, unless it asks for the
// reason for which the end of its list asks.
func TestQuestionsOfTheEnd(t *testing.T) {
	for _, test := range []struct {
		name, reason, end string
		want              []string
	}{
		{"the same reason", `, reason = "read what changes"`, `, reason = "read what changes"`,
			[]string{`edit_file same directory: { all = [{ arg = "/force", const = "yes" }, { arg = "/path", prefix = "lib" }], mode = "unattended" }`}},
		{"another reason", `, reason = "this overwrites"`, `, reason = "read what changes"`, nil},
		{"no reason", ``, `, reason = "read what changes"`, nil},
		{"no reason at all", ``, ``, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := policyOf("version = 1\n[tools.edit_file.parameters]\npath = { type = \"path\" }\nforce = { type = \"string\" }\n[tools.edit_file.policy]\nrun = [\n  { arg = \"/force\", present = true, mode = \"ask\"" + test.reason + " },\n  { mode = \"ask\"" + test.end + " },\n]\n")
			r := proposed(t, p, record(t, p, approved.Spread([]approved.Call{
				call("a", "edit_file", object{"path": "lib/a.go", "force": "yes"}), call("b", "edit_file", object{"path": "lib/b.go", "force": "yes"}), call("c", "edit_file", object{"path": "lib/c.go", "force": "yes"})})), learn.Options{})
			if got := rules(r); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

// A refusal within a generalisation ends it; the exact calls stay.
func TestRefusalsNarrow(t *testing.T) {
	no := call("d", "edit_file", object{"path": "lib/x/key.go"})
	no.No = true
	calls := approved.Spread([]approved.Call{
		call("a", "edit_file", object{"path": "lib/a.go"}), call("b", "edit_file", object{"path": "lib/b.go"}), call("c", "edit_file", object{"path": "lib/c.go"}),
		call("a", "edit_file", object{"path": "lib/a.go"}), call("b", "edit_file", object{"path": "lib/a.go"}), no,
	})
	p := policyOf(asking)
	rows := record(t, p, calls)
	r := proposed(t, p, rows, learn.Options{})
	if got := rules(r); !slices.Equal(got, []string{`edit_file same directory: { arg = "/path", glob = "lib/*", mode = "unattended" }`}) {
		t.Errorf("%q", got)
	}
	if len(r.Proposals) == 1 && len(r.Proposals[0].Kept) != 1 {
		t.Errorf("kept: %v", r.Proposals[0].Kept)
	}
	// The arguments of the refused call are not kept: nothing is generalised.
	rows[len(rows)-1].Args = nil
	if got := rules(proposed(t, p, rows, learn.Options{})); !slices.Equal(got, []string{`edit_file exactly this: { arg = "/path", const = "lib/a.go", mode = "unattended" }`}) {
		t.Errorf("%q", got)
	}
}

// Only a yes of a person to a question of the gate is evidence.
func TestEvidence(t *testing.T) {
	p := policyOf(asking)
	calls := approved.Spread([]approved.Call{call("a", "build", object{"to": "x"}), call("b", "build", object{"to": "x"})})
	for _, test := range []struct {
		name   string
		change func(r *stopgate.Record)
		o      learn.Options
		learns bool
	}{
		{"a person", func(*stopgate.Record) {}, learn.Options{}, true},
		{"a selected person", func(*stopgate.Record) {}, learn.Options{By: []string{"anna"}}, true},
		{"another person", func(*stopgate.Record) {}, learn.Options{By: []string{"ben"}}, false},
		{"a grant of a person", func(r *stopgate.Record) { r.Approval.ID = "grant:G1:p" }, learn.Options{}, true},
		{"a grant of a program", func(r *stopgate.Record) { r.Approval.ID, r.Approval.By = "grant:G1:p", learn.Program }, learn.Options{}, false},
		{"a grant of another person", func(r *stopgate.Record) { r.Approval.ID = "grant:G1:p" }, learn.Options{By: []string{"ben"}}, false},
		{"a program", func(r *stopgate.Record) { r.Approval.By = learn.Program }, learn.Options{}, false},
		{"nobody", func(r *stopgate.Record) { r.Approval.By = "" }, learn.Options{}, false},
		{"a judge", func(r *stopgate.Record) { r.Judge = &stopgate.Review{} }, learn.Options{}, false},
		{"an external policy", func(r *stopgate.Record) { r.External = make([]stopgate.ExternalAnswer, 1) }, learn.Options{}, false},
		{"an edit", func(r *stopgate.Record) { r.Approval.Edited = true }, learn.Options{}, false},
		{"a host", func(r *stopgate.Record) { r.Approval.Referred = true }, learn.Options{}, false},
		{"a host without a result", func(r *stopgate.Record) { r.Approval.Referred = true }, learn.Options{Referred: true}, false},
		{"no approval", func(r *stopgate.Record) { r.Approval = nil }, learn.Options{}, false},
		{"a denial", func(r *stopgate.Record) { r.Status = stopgate.StatusDenied }, learn.Options{}, false},
		{"a session policy", func(r *stopgate.Record) { r.Objections = []string{"read first"} }, learn.Options{}, false},
		{"a floor", func(r *stopgate.Record) { r.Floors = []stopgate.Floor{{Code: stopgate.CodeProtectedTarget}} }, learn.Options{}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := record(t, p, calls)
			for i := range rows {
				if rows[i].Record.Kind == stopgate.RecordDecision {
					of := rows[i].Record
					if of.Approval != nil {
						approval := *of.Approval
						of.Approval = &approval
					}
					test.change(&of)
					rows[i].Record = of
				}
			}
			if got := rules(proposed(t, p, rows, test.o)); (len(got) > 0) != test.learns {
				t.Errorf("%q", got)
			}
		})
	}
	// Without the row of the question there was none.
	rows := slices.DeleteFunc(record(t, p, calls), func(r learn.Row) bool { return r.Record.Event == stopgate.AuditAsked })
	if got := rules(proposed(t, p, rows, learn.Options{})); got != nil {
		t.Errorf("without questions: %q", got)
	}
}

// A call that was left to the prompt of a host counts if somebody vouches for that prompt and the call has a
// result. A host that reports results, and has none of a call, refused it.
func TestReferred(t *testing.T) {
	p := policyOf(asking)
	calls := approved.Spread([]approved.Call{call("a", "build", object{"to": "x"}), call("b", "build", object{"to": "x"}), call("b", "build", object{"to": "y"})})
	var rows []learn.Row
	for _, r := range record(t, p, calls) {
		if r.Record.Approval != nil && r.Record.Kind == stopgate.RecordDecision {
			r.Record.Approval = &stopgate.Approval{By: "claude-code", Referred: true}
			rows = append(rows, r)
			if !strings.Contains(string(r.Args), "y") {
				rows = append(rows, learn.Row{Record: stopgate.Record{Kind: stopgate.RecordEvent, Event: stopgate.AuditResult, ID: r.Record.ID, Session: r.Record.Session}})
			}
		}
	}
	r := proposed(t, p, rows, learn.Options{Referred: true})
	if got := rules(r); !slices.Equal(got, []string{`build exactly this: { arg = "/to", const = "x", mode = "unattended" }`}) || r.Refused != 1 || r.Ran != 2 {
		t.Errorf("%q %+v", got, r.Counts)
	}
	if r := proposed(t, p, rows, learn.Options{}); len(r.Proposals) > 0 || r.Approved != 0 || r.Referred != 2 {
		t.Errorf("%+v", r.Counts)
	}
}

// A grant is one decision of the person who gave it: in one session, the calls that it let pass teach what it
// permits, if it was used again, and nothing that is wider than them.
func TestGrants(t *testing.T) {
	p := policyOf(asking)
	edit := func(name string) approved.Call { return call("a", "edit_file", object{"path": name}) }
	for _, test := range []struct {
		name   string
		calls  []approved.Call
		grants []string // of each call, "" for an answer
		want   []string
	}{
		{"a directory", []approved.Call{edit("lib/a.go"), edit("lib/b.go"), edit("lib/c.go")}, []string{"", "G1", "G1"},
			[]string{`edit_file same directory: { arg = "/path", prefix = "lib", mode = "unattended" }`}},
		{"used once", []approved.Call{edit("lib/a.go"), edit("lib/b.go")}, []string{"", "G1"}, nil},
		{"the same call", []approved.Call{edit("lib/a.go"), edit("lib/a.go"), edit("lib/a.go")}, []string{"", "G1", "G1"},
			[]string{`edit_file exactly this: { arg = "/path", const = "lib/a.go", mode = "unattended" }`}},
		{"with answers about other directories", []approved.Call{edit("lib/a/1.go"), edit("lib/a/2.go"), edit("lib/b/1.go"), edit("lib/c/1.go")}, []string{"G1", "G1", "", ""}, nil},
		{"two grants", []approved.Call{edit("lib/a/1.go"), edit("lib/b/2.go"), edit("lib/c/1.go")}, []string{"G1", "G2", "G3"}, nil},
		{"what acts", []approved.Call{call("a", "send", object{"to": "x"}), call("a", "send", object{"to": "y"}), call("a", "send", object{"to": "z"})}, []string{"", "G1", "G1"}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := record(t, p, approved.Spread(test.calls))
			n := 0
			for i := range rows {
				if r := &rows[i].Record; r.Kind == stopgate.RecordDecision {
					if g := test.grants[n]; g != "" {
						r.Approval = &stopgate.Approval{ID: "grant:" + g + ":" + string(r.ID), By: "anna"}
					}
					n++
				}
			}
			r := proposed(t, p, rows, learn.Options{})
			if got := rules(r); !slices.Equal(got, test.want) {
				t.Errorf("%q, want %q", got, test.want)
			}
			if want := len(slices.DeleteFunc(slices.Clone(test.grants), func(g string) bool { return g == "" })); r.Granted != want {
				t.Errorf("%d calls by grants, want %d", r.Granted, want)
			}
		})
	}
}

// Somebody who says yes many times a minute decides once.
func TestFatigue(t *testing.T) {
	p := policyOf(asking)
	var calls []approved.Call
	for i := range 30 {
		calls = append(calls, call(fmt.Sprint("s", i%3), "edit_file", object{"path": fmt.Sprintf("lib/%d.go", i)}))
	}
	calls = approved.Spread(calls)
	for i := range calls {
		calls[i].At = approved.Start.Add(time.Duration(i) * time.Second)
	}
	if got := rules(proposed(t, p, record(t, p, calls), learn.Options{})); got != nil {
		t.Errorf("%q", got)
	}
}
