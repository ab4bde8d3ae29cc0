package packs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// cases are commands of data/NAME.test.toml.
type cases struct {
	Runs, Asks []string
}

// judge returns how a policy judges commands.
func judge(t *testing.T, text string) func(command string) stopgate.Mode {
	t.Helper()
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}}, policy.Options{Root: "/srv/proj", Home: "/home/u"})
	if p == nil {
		t.Fatal(found)
	}
	b := p.Bind(stopgate.Call{Tool: "Bash"})
	e := b.Evaluate()
	return func(command string) stopgate.Mode {
		args, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		e.Reset(b)
		e.Feed(args)
		return e.Close(stopgate.Ended).Mode
	}
}

// Every pack of commands has cases: each usage of what runs has a command that it matches, and what is
// near to it but writes, runs or sends something is asked about, whatever other packs are used.
func TestCasesOfPacks(t *testing.T) {
	all := judge(t, "version = 1\nuse = [\""+strings.Join(packs.Names(), `", "`)+"\"]\n")
	for _, name := range packs.Names() {
		p, _ := packs.Lookup(name)
		file, mistakes := parser.Parse(kinds.Table(), p.File(), p.Text)
		if mistakes.HasErrors() {
			t.Fatal(mistakes)
		}
		var usages []string
		for _, l := range file.Lists {
			if slices.Contains([]string{"look", "tools"}, l.Name) {
				for _, v := range l.Values {
					usages = append(usages, v.Text)
				}
			}
		}
		if name == "coding" || name == "flow" || p.Server() != "" || len(usages) == 0 {
			continue // tests of the starters have their cases
		}
		text, err := packs.Cases(name)
		if err != nil {
			t.Errorf("%s has no cases: %v", name, err)
			continue
		}
		var c cases
		if err := toml.Unmarshal(text, &c); err != nil || len(c.Asks) < 5 {
			t.Errorf("%s: %d commands are asked about: %v", name, len(c.Asks), err)
		}
		with := judge(t, "version = 1\nuse = [\"coding\", \""+name+"\"]\n")
		for _, command := range c.Runs {
			if m := with(command); m != stopgate.Unattended {
				t.Errorf("%s: %q: %v", name, command, m)
			}
		}
		for _, command := range c.Asks {
			if m := all(command); m != stopgate.Ask && m != stopgate.Deny {
				t.Errorf("%s: %q: %v", name, command, m)
			}
		}
		for _, usage := range usages {
			alone := judge(t, "version = 1\n[tools.Bash.parameters]\ncommand = { type = \"command\" }\n[tools.Bash.policy]\nrun = [{ arg = \"/command\", usage = '"+usage+"', mode = \"unattended\" }, { mode = \"ask\" }]\n")
			if !slices.ContainsFunc(c.Runs, func(command string) bool { return alone(command) == stopgate.Unattended }) {
				t.Errorf("%s: no case for %s", name, usage)
			}
		}
	}
}

// A program that runs another is free where that one is, and changes nothing about it.
func TestWrappers(t *testing.T) {
	with := judge(t, "version = 1\nuse = [\"coding\", \"unix\"]\n")
	for _, wrapper := range []string{"time -v", "time -l -p", "timeout -p -s KILL 5", "env -v -i", "command -p", "setsid -w", "xargs --max-lines=1", "nice -n 5 timeout 5"} {
		if m := with(wrapper + " echo"); m != stopgate.Unattended {
			t.Errorf("%s echo: %v", wrapper, m)
		}
		if m := with(wrapper + " make"); m != stopgate.Ask {
			t.Errorf("%s make: %v", wrapper, m)
		}
	}
	for _, command := range []string{"time -o x ls", "env -C / ls", "env -S 'ls' x", "setsid -f ls", "xargs -a x ls", "command -p"} {
		if m := with(command); m != stopgate.Ask {
			t.Errorf("%s: %v", command, m)
		}
	}
}
