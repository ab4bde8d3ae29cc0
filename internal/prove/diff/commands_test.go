package diff_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// commandRules and commandLines are what random policies on commands, and calls, are made of.
var commandRules = []string{
	`{ arg = "/c", usage = "git {status,log} [-*] **", mode = "%s" }`,
	`{ arg = "/c", usage = "git push **", mode = "%s" }`,
	`{ arg = "/c", usage = "{rm,rmdir} **", mode = "%s" }`,
	`{ arg = "/c", usage = ["ls [-*] **", "cat **"], mode = "%s" }`,
	`{ arg = "/c", usage = "cat **", mode = "%s" }`,
	`{ arg = "/c", usage = "git log [-p] *", mode = "%s" }`,
	`{ arg = "/c", usage = ["cat x", "git {log,push} [-p] **"], mode = "%s" }`,
	`{ arg = "/c", pattern = ["^git .*x", "src"], mode = "%s" }`,
	`{ arg = "/c", const = "make", mode = "%s" }`,
	`{ arg = "/c", writes = "src/**", mode = "ask" }`,
	`{ all = [{ arg = "/c", usage = "cat **" }, { arg = "/c", writes = "src/**" }], mode = "%s" }`,
	`{ all = [{ arg = "/c", usage = "cat **" }, { arg = "/c", reads = "**" }], mode = "%s" }`,
	`{ mode = "%s" }`,
}

var commandGuards = []string{
	"[[guard]]\non = \"path\"\nglob = \"**/.env\"\nmode = \"deny\"\n",
	"[[guard]]\non = \"path\"\nglob = [\"**/.env\", \"**/*.pem\"]\nmode = \"deny\"\n",
	"[[guard]]\non = \"path\"\nglob = \"src/**\"\nmode = \"ask\"\n",
	"[[guard]]\non = \"command\"\nusage = \"rm **\"\nmode = \"ask\"\n",
}

var commandLines = []string{
	"git status", "git log -p", "git -P log x", "git push", "git log push", "git --no-pager status", "rm x", "rmdir src", "rm -rf /q", "ls", "ls -la src", "ls x > src/y",
	"cat x", "cat .env", "cat src/a.pem", "cat x > src/y", "cat x > y", "cat < x", "cat < .env", "cat *", "cat src/*", "make", "make x", "make > src/a", "env rm x", "$X", "x < $X", "eval x",
	"xargs cat", "xargs rm", "ls | xargs rm", "ls && rm x", "git status; make", "cat x | make", "/bin/rm x", "CAT x", "Rm x", "cat 'a b'", "sh -c 'rm x'", "cd src && cat x", "cat \"$X\"", "echo $(rm x)",
	"cat x=rm y", "git log --x=git push", "git log --x=rm > src/y", "ls a=cat b", "cat q=git log x", "cat src/* > y", "git log -p x", "tee src/x", "cp .env x", "grep -r x .", "", "#x", "cat a b > src/.env",
}

// randomCommands writes a policy of some rules and guards.
func randomCommands(rules, guards []string) string {
	return withLists("version = 1\n[tools.t.parameters]\nc = { type = \"command\", required = true }\n[tools.t.policy]\nrun = [\n" +
		strings.Join(rules, ",\n") + "\n]\n" + strings.Join(guards, ""))
}

// A difference of policies on command lines that calls itself complete misses no direction:
// judged by both programs, a line moves only as a listed change does.
func TestDiffOfCommandsIsTrue(t *testing.T) {
	modes := []string{"unattended", "ask", "deny", "skip"}
	complete, compared := 0, 0
	for seed := range property.Cases(60, 300, 5_000) {
		g := rand.New(rand.NewPCG(uint64(seed), 9))
		rule := func() string {
			text := commandRules[g.IntN(len(commandRules))]
			if strings.Contains(text, "%s") {
				text = fmt.Sprintf(text, modes[g.IntN(len(modes)-g.IntN(2))])
			}
			return text
		}
		var rules, guards []string
		for range 1 + g.IntN(4) {
			rules = append(rules, rule())
		}
		for range g.IntN(3) {
			guards = append(guards, commandGuards[g.IntN(len(commandGuards))])
		}
		newRules, newGuards := append([]string{}, rules...), append([]string{}, guards...)
		switch i := g.IntN(len(rules)); g.IntN(5) {
		case 0:
			newRules = append(newRules[:i:i], newRules[i+1:]...)
		case 1:
			newRules = append(newRules[:i:i], append([]string{rule()}, newRules[i:]...)...)
		case 2:
			newRules[i] = rule()
		case 3:
			newGuards = append(newGuards, commandGuards[g.IntN(len(commandGuards))])
		default:
			newGuards = nil
		}
		old, new := randomCommands(rules, guards), randomCommands(newRules, newGuards)
		d, _, _ := diff.Files(policy.Source{Name: "old.toml", Text: []byte(old)}, policy.Source{Name: "new.toml", Text: []byte(new)}, policy.Options{}, nil)
		if d == nil {
			continue
		}
		compared++
		if d.Complete {
			complete++
		}
		before, after := compiled(old), compiled(new)
		if before == nil || after == nil {
			continue // with a rule that nothing reaches
		}
		for _, line := range commandLines {
			call := stopgate.Call{Tool: "t", Args: []byte(fmt.Sprintf(`{"c":%q}`, line))}
			from, to := modeIn(before, call), modeIn(after, call)
			if !d.Complete || from == to {
				continue
			}
			direction := diff.Tightened
			if stopgate.Strictest(from, to) == from {
				direction = diff.Loosened
			}
			listed := false
			for _, c := range d.Changes {
				listed = listed || c.Direction == direction
			}
			if !listed {
				t.Errorf("seed %d: %q moves from %v to %v, which is not listed\nold\n%s\nnew\n%s", seed, line, from, to, old, new)
			}
		}
	}
	t.Logf("%d of %d complete", complete, compared)
	if complete*2 < compared {
		t.Errorf("only %d of %d are decided", complete, compared)
	}
}

func compiled(text string) *policy.Program {
	p, _ := prove.Compile([]policy.Source{{Name: "x.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	return p
}

func modeIn(p *policy.Program, call stopgate.Call) stopgate.Mode {
	e := p.Bind(call).Evaluate()
	e.Feed(call.Args)
	return e.Close(stopgate.Ended).Mode
}

// What deleting a pattern above lets run is found among lines that other rules permit; a
// suspicious rule with a condition less is never looser.
func TestDiffOfPatternsOnCommands(t *testing.T) {
	const before = `version = 1
[tools.Bash.parameters]
command = { type = "command", required = true }
[tools.Bash.policy]
run = [
  { all = [
    { arg = "/command", usage = "git **" },
    { arg = "/command", pattern = "force" },
  ], mode = "deny" },
  { arg = "/command", pattern = '^git\b.*\bextraheader\b', mode = "ask" },
  { arg = "/command", usage = "git {log,show} **", mode = "unattended" },
  { mode = "ask" },
]
`
	for _, c := range []struct{ name, without, loosened, tightened string }{
		{"a pattern above", "  { arg = \"/command\", pattern = '^git\\b.*\\bextraheader\\b', mode = \"ask\" },\n", "extraheader", ""},
		{"a member", "    { arg = \"/command\", pattern = \"force\" },\n", "", "git"},
	} {
		after := strings.Replace(before, c.without, "", 1)
		if after == before {
			t.Fatal(c.name)
		}
		d, old, new := diff.Files(policy.Source{Name: "old.toml", Text: []byte(before)}, policy.Source{Name: "new.toml", Text: []byte(after)}, policy.Options{}, nil)
		if d == nil {
			t.Fatal(old, new)
		}
		if !d.Complete {
			t.Errorf("%s: not decided: %v", c.name, d.Open)
		}
		shown := map[diff.Direction]string{}
		for _, change := range d.Changes {
			shown[change.Direction] += string(change.Witness.Args)
		}
		if (c.loosened == "") != (shown[diff.Loosened] == "") || !strings.Contains(shown[diff.Loosened], c.loosened) ||
			(c.tightened == "") != (shown[diff.Tightened] == "") || !strings.Contains(shown[diff.Tightened], c.tightened) {
			t.Errorf("%s: %v", c.name, shown)
		}
	}
}
