package imports_test

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"pgregory.net/rapid"
)

// fatal is a test, or a case of a property.
type fatal interface {
	Helper()
	Fatalf(format string, args ...any)
}

const root = "/srv/proj"

// strength orders the modes that hosts have, the weakest first.
var strength = map[stopgate.Mode]int{stopgate.Unattended: 0, stopgate.Ask: 1, stopgate.Deny: 2}

// judge evaluates calls by an imported policy.
type judge struct {
	program *policy.Program
	text    string
}

func judgeOf(t fatal, r *draft.Result) judge {
	t.Helper()
	p, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: r.Policy, Trusted: true}},
		policy.Options{Root: root, Home: "/home/u", UnknownTool: stopgate.Ask})
	if mistakes.HasErrors() {
		t.Fatalf("%v\n%s", mistakes, r.Policy)
	}
	return judge{p, string(r.Policy)}
}

func (j judge) decide(tool string, args map[string]any) stopgate.Verdict {
	text, _ := json.Marshal(args)
	return j.judge(tool, text)
}

// judge evaluates a call of a declared tool, as hooks do.
func (j judge) judge(tool string, args []byte) stopgate.Verdict {
	d := &stopgate.ToolDefinition{Name: stopgate.ToolName(tool), Schema: []byte(`{"type":"object","additionalProperties":true}`)}
	e := j.program.Bind(stopgate.Call{Tool: d.Name, Definition: d, Surface: stopgate.SurfaceHook, Agent: "main"}).Evaluate()
	e.Feed(args)
	return e.Close(stopgate.Ended)
}

// line is a command line with the commands that the shell runs.
type line struct {
	commands [][]string // simple commands with their words
	joined   []string   // the operators between them
	before   []string   // the text before each: an assignment, a program that runs it
	after    []string   // the text after each: a redirection, a substitution
	quoted   []int      // the index of the quoted word of each, -1 for none
}

// text returns the command line.
func (l line) text() string {
	var b strings.Builder
	for i := range l.commands {
		if i > 0 {
			b.WriteString(l.joined[i-1])
		}
		b.WriteString(l.command(i))
	}
	return b.String()
}

// command returns one command with the text around it.
func (l line) command(i int) string {
	return strings.TrimSpace(l.before[i] + " " + l.bare(i) + " " + l.after[i])
}

// bare returns one command.
func (l line) bare(i int) string {
	out := append([]string(nil), l.commands[i]...)
	if q := l.quoted[i]; q >= 0 && q < len(out) {
		out[q] = `"` + out[q] + `"`
	}
	return strings.Join(out, " ")
}

// plain reports whether the line has only words and operators between them. `npm x` starts the
// program that follows, which the policy evaluates and no host does.
func (l line) plain() bool {
	for i, words := range l.commands {
		if len(words) > 2 && words[0] == "npm" && slices.Contains(words[1:len(words)-1], "x") {
			return false
		}
		if l.before[i] != "" || l.after[i] != "" || l.quoted[i] >= 0 {
			return false
		}
	}
	return true
}

var vocabulary = []string{"git", "status", "push", "commit", "main", "--force", "npm", "run", "test", "echo", "build:x", "build", "ls", "lsx", "-la", "src/a", "cat", "x"}

// nextLine continues with a word on the next line.
const nextLine = "\\\n main"

// aLine draws command lines.
func aLine() *rapid.Generator[line] {
	return rapid.Custom(func(t *rapid.T) (l line) {
		for i := range rapid.IntRange(1, 3).Draw(t, "commands") {
			words := rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 5).Draw(t, "words")
			l.commands = append(l.commands, words)
			l.before = append(l.before, rapid.SampledFrom([]string{"", "", "", "", "FOO=1", "CI=1", "!", "timeout 5", "sudo", "env"}).Draw(t, "before"))
			l.after = append(l.after, rapid.SampledFrom([]string{"", "", "", "", "> out", "$(git push)", "$?", "$HOME", "2>&1", nextLine}).Draw(t, "after"))
			l.quoted = append(l.quoted, rapid.SampledFrom([]int{-1, -1, -1, 0, 1, 2}).Draw(t, "quoted"))
			if i > 0 {
				l.joined = append(l.joined, rapid.SampledFrom([]string{" && ", "; ", " | ", " || ", "\n"}).Draw(t, "joined"))
			}
		}
		return l
	})
}

// aPath draws paths, some of them spelled in odd ways.
func aPath() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		base := rapid.SampledFrom([]string{"", "", root + "/", "/etc/", "./", "../", "/home/u/", "src/../"}).Draw(t, "base")
		return base + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"src", "a.go", ".env", "docs", "b.md", "secrets", "x", "node_modules"}), 1, 3).Draw(t, "parts"), "/")
	})
}

// cleaned returns a path as the file system resolves it, relative to the project if it is below.
func cleaned(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = root + "/" + p
	}
	var out []string
	for _, c := range strings.Split(p, "/") {
		switch c {
		case "", ".":
		case "..":
			out = out[:max(0, len(out)-1)]
		default:
			out = append(out, c)
		}
	}
	return "/" + strings.Join(out, "/")
}

// compare checks that a verdict is not weaker than the host's, and equal if that is claimed.
func compare(t *rapid.T, j judge, input any, got stopgate.Verdict, host stopgate.Mode, same bool) {
	t.Helper()
	if strength[got.Mode] < strength[host] {
		t.Fatalf("weaker: %v is %v, the host says %v\n%s", input, got.Mode, host, j.text)
	}
	if same && got.Mode != host {
		t.Fatalf("not the same: %v is %v (%s), the host says %v\n%s", input, got.Mode, got.Code, host, j.text)
	}
}

func strictest(a, b stopgate.Mode) stopgate.Mode {
	if strength[a] > strength[b] {
		return a
	}
	return b
}

// theSame reports whether every rule is reported as the same.
func theSame(r *draft.Result) bool {
	for _, x := range r.Rules {
		if x.Outcome != draft.Same {
			return false
		}
	}
	return true
}
