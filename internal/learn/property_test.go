package learn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/testkit/approved"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"pgregory.net/rapid"
)

// drawn is a random record: calls that people approve and refuse.
func drawn(t *rapid.T) (calls []approved.Call) {
	paths := rapid.SampledFrom([]string{"lib/a.go", "lib/b.go", "lib/c.go", "lib/x/d.go", "lib/.env", "doc/a.md", "doc/../lib/a.go", ".env", "a.go", "/etc/passwd", "lib/*", "lib/é.go", "doc/b.md", "doc/c.md"})
	words := rapid.SampledFrom([]string{"core", "cli", "web", "a/b", "..", "-x", "a b", "x@y.org", "core\u200b", "ünï", "A1-b2"})
	commands := rapid.SampledFrom([]string{
		"make lint", "make test", "cargo test core", "cargo test cli", "cargo test web", "cargo test --exec x", "git push origin a", "git push origin +a", "git -c core.sshCommand=x push",
		"git commit -m 'one two'", "git commit -m three", "git commit -m four", "git commit -m four --amend", "python3 -c 'x'", "xargs rm", "ls && make lint", "curl https://a.example", "rm -rf lib", "cat .env",
	})
	n := rapid.IntRange(1, 40).Draw(t, "calls")
	for i := range n {
		c := approved.Call{Session: fmt.Sprint("s", rapid.IntRange(0, 4).Draw(t, "session")), No: rapid.IntRange(0, 9).Draw(t, "no") == 0}
		switch rapid.IntRange(0, 6).Draw(t, "tool") {
		case 0:
			c.Tool, c.Args = "edit_file", fmt.Appendf(nil, `{"path":%q}`, paths.Draw(t, "path"))
		case 1:
			c.Tool, c.Args = "check", fmt.Appendf(nil, `{"package":%q,"n":%d}`, words.Draw(t, "word"), i)
		case 2:
			c.Tool, c.Args = "send", fmt.Appendf(nil, `{"to":%q}`, words.Draw(t, "word"))
		case 3:
			c.Tool, c.Args = "sh", fmt.Appendf(nil, `{"command":%q}`, commands.Draw(t, "command"))
		case 5: // each parameter may be missing
			c.Tool, c.Args = "cargo_test", object{}.with("package", words, t).with("testname", words, t).json()
		case 6:
			c.Tool, c.Args = "fs_modify_file", object{}.with("path", paths, t).json()
			if rapid.Bool().Draw(t, "own") {
				c.Args = object{"patterns": []object{{"old": "a", "paths": []string{paths.Draw(t, "path")}}}}.with("path", paths, t).json()
			}
		case 4:
			c.Tool, c.Args = "read_page", fmt.Appendf(nil, `{"url":"https://%s/%d"}`, rapid.SampledFrom([]string{"docs.example.org", "u@docs.example.org", "xn--dcs-8ka.example.org", "docs.example.org:8443", "127.0.0.1"}).Draw(t, "host"), i)
		}
		calls = append(calls, c)
	}
	return approved.Spread(calls)
}

// with adds a drawn value, or not.
func (o object) with(name string, values *rapid.Generator[string], t *rapid.T) object {
	if rapid.Bool().Draw(t, "has "+name) {
		o[name] = values.Draw(t, name)
	}
	return o
}

func (o object) json() []byte {
	text, err := json.Marshal(o)
	if err != nil {
		panic(err) // of maps and strings
	}
	return text
}

// drawnPolicy is a random policy that asks: with guards, denials and wanted questions, or without.
func drawnPolicy(t *rapid.T) learn.Policy {
	text := "version = 1\n"
	if rapid.Bool().Draw(t, "guard") {
		text += "[[guard]]\non = \"path\"\nglob = \"**/.env*\"\nmode = \"deny\"\n"
	}
	if rapid.Bool().Draw(t, "principal") {
		text += "[[guard]]\non = \"path\"\nglob = \"doc/b.md\"\nmode = \"ask\"\nwhen = { principal = \"cand*\" }\n"
	}
	text += "[tools.\"*\"]\nparameters.path = { type = \"path\" }\npolicy.run = \"ask\"\n[tools.sh]\nparameters.command = { type = \"command\", required = true }\n[tools.sh.policy]\nrun = [\n"
	for _, r := range []string{`{ arg = "/command", usage = "rm **", mode = "deny" }`, `{ arg = "/command", usage = "git push **", mode = "ask" }`, `{ arg = "/command", usage = "ls **", mode = "unattended" }`} {
		if rapid.Bool().Draw(t, r) {
			text += "  " + r + ",\n"
		}
	}
	return policyOf(text + "  { mode = \"ask\" },\n]\n")
}

// For random policies and records: under what was learned as a whole no learned call asks, nothing that was refused
// or denied runs, no verdict but an ask changes, and nothing runs that a guard objects to. The naive evaluator
// permits it, too.
func TestLearnedPolicies(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		p, calls := drawnPolicy(rt), drawn(rt)
		definitions := approved.Definitions(calls)
		modes := func(text []byte) []stopgate.Mode {
			program, found := policy.Compile([]policy.Source{{Name: p.Name, Text: text, Trusted: true}}, p.Options)
			if program == nil {
				rt.Fatalf("%v\n%s", found, text)
			}
			g, err := approved.New(program, definitions)
			if err != nil {
				rt.Fatal(err)
			}
			_, modes, err := g.Decide(context.Background(), calls)
			if err != nil {
				rt.Fatal(err)
			}
			return modes
		}
		rows := record(t, p, calls)
		result, err := learn.Propose(p, rows, learn.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		text, err := result.Apply(result.Proposals)
		if err != nil {
			rt.Fatal(err)
		}
		before, after := modes(p.Text), modes(text)
		covered := map[stopgate.ProposalID]bool{}
		for _, each := range result.Proposals {
			for _, id := range each.Covers {
				covered[id] = true
			}
		}
		at := 0
		for _, row := range rows {
			if row.Record.Kind != stopgate.RecordDecision {
				continue
			}
			c, was, now := calls[at], before[at], after[at]
			at++
			switch {
			case covered[row.Record.ID] && now != stopgate.Unattended:
				rt.Errorf("%s %s was learned, and is %s\n%s", c.Tool, c.Args, now, text)
			case c.No && was != stopgate.Unattended && now == stopgate.Unattended:
				rt.Errorf("%s %s was refused, and runs\n%s", c.Tool, c.Args, text)
			case was != stopgate.Ask && now != was && stopgate.Strictest(now, was) != now:
				rt.Errorf("%s %s was %s and is %s\n%s", c.Tool, c.Args, was, now, text)
			case now == stopgate.Unattended && was != now && hostile(c):
				rt.Errorf("%s %s runs\n%s", c.Tool, c.Args, text)
			case now == stopgate.Unattended && was != now:
				if second := oracle(text, c.Tool, string(c.Args), definitions[c.Tool]); second != "" && second != "unattended" {
					rt.Errorf("%s %s runs, and is %s by the naive evaluator\n%s", c.Tool, c.Args, second, text)
				}
			}
		}
	})
}

// For random policies and records, rules that are compiled together are judged as one by one.
func TestTogether(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		p, calls := drawnPolicy(rt), drawn(rt)
		rows := record(t, p, calls)
		together, err := learn.Propose(p, rows, learn.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		single, err := learn.ProposeOneByOne(p, rows, learn.Options{})
		if err != nil {
			rt.Fatal(err)
		}
		a, err := json.Marshal(together)
		if err != nil {
			rt.Fatal(err)
		}
		b, err := json.Marshal(single)
		if err != nil {
			rt.Fatal(err)
		}
		if !bytes.Equal(a, b) {
			rt.Errorf("together:\n%s\none by one:\n%s", a, b)
		}
	})
}

// hostile reports calls of the draw that must never be learned, as a person would say it: secrets, other
// readings of paths, options that run code, hosts that only look like another, hidden characters.
func hostile(c approved.Call) bool {
	text := string(c.Args)
	for _, bad := range []string{"core.sshCommand", "xargs", "u@docs", "\u200b", `\u200b`} {
		if strings.Contains(text, bad) {
			return true
		}
	}
	return false
}

// Names that are chosen to make a rule wide are spelled out or not learned: no rule of a hostile record permits
// another call than the recorded ones.
func TestHostileRecords(t *testing.T) {
	p := policyOf(asking)
	for _, test := range []struct {
		name   string
		calls  []approved.Call
		probes []approved.Call // must ask
	}{
		{"an option that runs code among tests", []approved.Call{call("a", "sh", object{"command": "cargo test core"}), call("b", "sh", object{"command": "cargo test cli"}), call("c", "sh", object{"command": "cargo test web"})},
			[]approved.Call{call("d", "sh", object{"command": "cargo test --config x"}), call("d", "sh", object{"command": "cargo -Zx test core"}), call("d", "sh", object{"command": "cargo test ../x"}), call("d", "sh", object{"command": "cargo test core && rm x"}), call("d", "sh", object{"command": "cargo test $(rm x)"}), call("d", "sh", object{"command": "X=1 cargo test core"}), call("d", "sh", object{"command": "cargo test core > x"})}},
		{"git with settings", []approved.Call{call("a", "sh", object{"command": "git -c core.sshCommand=./x fetch"}), call("b", "sh", object{"command": "git -c core.sshCommand=./y fetch"}), call("c", "sh", object{"command": "git -c core.sshCommand=./z fetch"})},
			[]approved.Call{call("d", "sh", object{"command": "git -c core.sshCommand=./w fetch"})}},
		{"interpreters", []approved.Call{call("a", "sh", object{"command": "python3 a.py"}), call("b", "sh", object{"command": "python3 b.py"}), call("c", "sh", object{"command": "python3 c.py"})},
			[]approved.Call{call("d", "sh", object{"command": "python3 d.py"}), call("d", "sh", object{"command": "python3 -c x"})}},
		{"a growing argument", []approved.Call{call("a", "sh", object{"command": "make lint"}), call("a", "sh", object{"command": "make lint lint"}), call("a", "sh", object{"command": "make lint lint lint"}), call("a", "sh", object{"command": "make lint lint lint deploy"})},
			[]approved.Call{call("d", "sh", object{"command": "make deploy"}), call("d", "sh", object{"command": "make lint"})}},
		{"directories that climb", []approved.Call{call("a", "edit_file", object{"path": "lib/../a"}), call("b", "edit_file", object{"path": "lib/../b"}), call("c", "edit_file", object{"path": "lib/../c"})},
			[]approved.Call{call("d", "edit_file", object{"path": "d"}), call("d", "edit_file", object{"path": "lib/d"})}},
		{"globs in names", []approved.Call{call("a", "edit_file", object{"path": "lib/*"}), call("b", "edit_file", object{"path": "lib/**"}), call("c", "edit_file", object{"path": "lib/{a,b}"})},
			[]approved.Call{call("d", "edit_file", object{"path": "lib/d"}), call("d", "edit_file", object{"path": "lib/a"})}},
		{"hosts with a user", []approved.Call{call("a", "read_page", object{"url": "https://docs.example.org@evil.example/a"}), call("b", "read_page", object{"url": "https://docs.example.org@evil.example/b"}), call("c", "read_page", object{"url": "https://docs.example.org@evil.example/c"})},
			[]approved.Call{call("d", "read_page", object{"url": "https://evil.example/d"}), call("d", "read_page", object{"url": "https://docs.example.org/d"})}},
		{"punycode", []approved.Call{call("a", "read_page", object{"url": "https://xn--dcs-8ka.example/a"}), call("b", "read_page", object{"url": "https://xn--dcs-8ka.example/b"}), call("c", "read_page", object{"url": "https://xn--dcs-8ka.example/c"})},
			[]approved.Call{call("d", "read_page", object{"url": "https://xn--dcs-8ka.example/d"})}},
		{"hidden characters", []approved.Call{call("a", "check", object{"package": "co\u200bre"}), call("b", "check", object{"package": "cl\u202ei"}), call("c", "check", object{"package": "w\u00adeb"})},
			[]approved.Call{call("d", "check", object{"package": "core"})}},
		{"a word that is a secret", []approved.Call{call("a", "check", object{"token": "one"}), call("b", "check", object{"token": "one"}), call("c", "check", object{"token": "one"})},
			[]approved.Call{call("d", "check", object{"token": "one"})}},
	} {
		t.Run(test.name, func(t *testing.T) {
			rows := record(t, p, approved.Spread(test.calls))
			r := proposed(t, p, rows, learn.Options{})
			text, err := r.Apply(r.Proposals)
			if err != nil {
				t.Fatal(err)
			}
			program, found := policy.Compile([]policy.Source{{Name: p.Name, Text: text, Trusted: true}}, p.Options)
			if program == nil {
				t.Fatal(found)
			}
			g, err := approved.New(program, approved.Definitions(append(test.calls, test.probes...)))
			if err != nil {
				t.Fatal(err)
			}
			_, modes, err := g.Decide(t.Context(), approved.Spread(test.probes))
			if err != nil {
				t.Fatal(err)
			}
			for i, m := range modes {
				if m == stopgate.Unattended {
					t.Errorf("%s runs by %q", test.probes[i].Args, rules(r))
				}
			}
			for _, each := range r.Proposals {
				if strings.Contains(each.Rule, "token") || strings.ContainsAny(each.Rule, "\u200b\u202e\u00ad") {
					t.Errorf("%s", each.Rule)
				}
			}
		})
	}
}
