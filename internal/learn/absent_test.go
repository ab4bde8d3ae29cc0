package learn_test

import (
	"slices"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/approved"
)

// A learned rule permits no parameter that the tool has and no approved call had, whatever its type, and next to a
// command only remarks and numbers.
func TestParametersThatWereNotSeen(t *testing.T) {
	for _, test := range []struct {
		name     string
		approved []approved.Call
		probes   []approved.Call // must ask
	}{
		{"a tool without arguments", []approved.Call{call("a", "deploy", object{}), call("b", "deploy", object{})},
			[]approved.Call{call("d", "deploy", object{"force": true}), call("d", "deploy", object{"retries": 9}), call("d", "deploy", object{"to": "x"}), call("d", "deploy", object{"hosts": []string{"x"}}), call("d", "deploy", object{"options": object{"x": 1}})}},
		{"a tool with one", []approved.Call{call("a", "deploy", object{"to": "x"}), call("b", "deploy", object{"to": "x"})},
			[]approved.Call{call("d", "deploy", object{"to": "x", "force": true}), call("d", "deploy", object{"to": "x", "server": "y"}), call("d", "deploy", object{"to": "x", "options": object{"x": 1}})}},
		{"a member of an object", []approved.Call{call("a", "deploy", object{"to": object{"host": "x"}}), call("b", "deploy", object{"to": object{"host": "x"}})},
			[]approved.Call{call("d", "deploy", object{"to": object{"host": "x", "force": true}}), call("d", "deploy", object{"to": object{"host": "x", "more": []object{{"host": "y"}}}})}},
		{"a tool that looks", []approved.Call{call("a", "check", object{"package": "a"}), call("b", "check", object{"package": "b"}), call("c", "check", object{"package": "c"})},
			[]approved.Call{call("d", "check", object{"package": "a", "fix": true})}},
		{"a member of what may vary", []approved.Call{
			call("a", "fs_modify_file", object{"path": "lib/a", "patterns": []object{{"old": "a", "new": "b"}}}), call("b", "fs_modify_file", object{"path": "lib/b", "patterns": []object{{"old": "a", "new": "b"}}}), call("c", "fs_modify_file", object{"path": "lib/c", "patterns": []object{{"old": "a", "new": "b"}}})},
			[]approved.Call{call("d", "fs_modify_file", object{"path": "lib/a", "patterns": []object{{"old": "a", "new": "b", "paths": []string{"web/a"}}}})}},
		{"next to a command", []approved.Call{call("a", "sh", object{"command": "make lint"}), call("b", "sh", object{"command": "make lint"})},
			[]approved.Call{call("d", "sh", object{"command": "make lint", "cwd": "web"}), call("d", "sh", object{"command": "make lint", "env": object{"CC": "./x"}}), call("d", "sh", object{"command": "make lint", "shell": "./x"})}},
		{"a directory of a command", []approved.Call{call("a", "run_it", object{"command": "make lint", "cwd": "lib", "description": "one"}), call("b", "run_it", object{"command": "make lint", "cwd": "lib", "description": "two"})},
			[]approved.Call{call("d", "run_it", object{"command": "make lint", "cwd": "web"}), call("d", "run_it", object{"command": "make lint"})}},
		{"a truth value next to a command", []approved.Call{call("a", "run_it", object{"command": "make lint", "sandbox": true}), call("b", "run_it", object{"command": "make lint", "sandbox": true})},
			[]approved.Call{call("d", "run_it", object{"command": "make lint", "sandbox": false}), call("d", "run_it", object{"command": "make lint"})}},
		{"what a command reads", []approved.Call{call("a", "run_it", object{"command": "make lint", "content": "a"}), call("b", "run_it", object{"command": "make lint", "content": "a"})},
			[]approved.Call{call("d", "run_it", object{"command": "make lint", "content": "b"})}},
		{"operands from a pipe", []approved.Call{call("a", "sh", object{"command": "xargs make"}), call("b", "sh", object{"command": "xargs make"})},
			[]approved.Call{call("d", "sh", object{"command": "echo deploy | xargs make"}), call("d", "sh", object{"command": "xargs make"})}},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := policyOf(asking)
			calls := approved.Spread(test.approved)
			definitions := approved.Definitions(slices.Concat(calls, test.probes))
			decide := func(text []byte, calls []approved.Call) ([]learn.Row, []stopgate.Mode) {
				program, found := policy.Compile([]policy.Source{{Name: p.Name, Text: text, Trusted: true}}, p.Options)
				if program == nil {
					t.Fatalf("%v\n%s", found, text)
				}
				g, err := approved.New(program, definitions)
				if err != nil {
					t.Fatal(err)
				}
				rows, modes, err := g.Decide(t.Context(), calls)
				if err != nil {
					t.Fatal(err)
				}
				return rows, modes
			}
			rows, _ := decide(p.Text, calls)
			r := proposed(t, p, rows, learn.Options{})
			text, err := r.Apply(r.Proposals)
			if err != nil {
				t.Fatal(err)
			}
			if _, modes := decide(text, calls); len(r.Proposals) > 0 && slices.Contains(modes, stopgate.Ask) || len(r.Proposals) == 0 && test.name != "operands from a pipe" {
				t.Errorf("%q: %v", rules(r), modes)
			}
			_, modes := decide(text, approved.Spread(test.probes))
			for i, m := range modes {
				if m == stopgate.Unattended {
					t.Errorf("%s runs by %q", test.probes[i].Args, rules(r))
				}
			}
		})
	}
}
