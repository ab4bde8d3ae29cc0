package begin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/jsonstream"
)

// example is a call and what the policy says of it.
type example struct {
	Text   string `json:"call"` // for people
	Mode   string `json:"mode"`
	Reason string `json:"reason"`
	Rule   string `json:"rule,omitempty"` // file and line

	tool stopgate.ToolName
	args map[string]string
}

// examples returns calls that show what the policy does in this project.
func (p *plan) examples() (list []example) {
	add := func(text string, tool stopgate.ToolName, key, value string) {
		list = append(list, example{Text: text, tool: tool, args: map[string]string{key: value}})
	}
	read := func(path string) { add("read "+path, "Read", "file_path", path) }
	write := func(path string) {
		add("write "+path, "Write", "file_path", path)
	}
	run := func(line string) { add(line, "Bash", "command", line) }
	read("README.md")
	writable := "src/new.txt"
	for _, glob := range p.project.Work {
		if dir, ok := strings.CutSuffix(glob, "/**"); ok && !strings.Contains(dir, "{") {
			writable = dir + "/new.txt"
			break
		}
	}
	write(writable)
	run("ls -la")
	if p.project.Has("git") {
		run("git diff")
	}
	for _, c := range p.project.Covered() {
		run(c.Line)
	}
	if p.project.Has("git") {
		run("git push")
	}
	for _, f := range slices.Concat(p.project.Languages, p.project.Tools) {
		if strings.Contains(f.Source, ".") || f.Name == "make" {
			write(f.Source)
			break
		}
	}
	write("stopgate.toml")
	run("curl https://example.com")
	run("rm -rf build")
	read("/etc/hosts")
	read(".env")
	read("~/.ssh/id_rsa")
	run("rm -rf /")
	return list
}

// judged returns the examples with the verdicts of all policies that will be in force: that of the project, as if
// it were trusted if it is going to be, and those of the user and the machine.
func (p *plan) judged(trust bool, home string) ([]example, error) {
	set, err := config.Discover(config.Standard(p.root))
	if err != nil {
		return nil, fmt.Errorf("start: %w", err)
	}
	file := filepath.Join(p.root, config.FileName)
	trusted := p.trusted || trust
	var sources []policy.Source
	for _, s := range set.Sources() {
		if s.Name == file || s.Embedded && trusted {
			continue
		}
		sources = append(sources, s)
	}
	sources = append(sources, policy.Source{Name: file, Text: p.policy, Trusted: trusted})
	program, found := prove.Compile(sources, policy.Options{Root: p.root, Home: home})
	if program == nil {
		return nil, config.MistakesError{List: found, Set: set}
	}
	return p.decided(program)
}

// decided returns the examples with the verdicts of a policy.
func (p *plan) decided(program *policy.Program) ([]example, error) {
	list := p.examples()
	for i, e := range list {
		args, err := json.Marshal(e.args)
		if err != nil {
			return nil, fmt.Errorf("start: %w", err)
		}
		call := stopgate.Call{Tool: e.tool}
		under := eval.Circumstances{Situation: program.Situation(call.Groups, jsonstream.Value{}, unread{})}
		evaluation := program.BindUnder(call, under).EvaluateWith(unread{})
		evaluation.Feed(args)
		v := evaluation.Close(stopgate.Ended)
		list[i].Mode, list[i].Reason = v.Mode.String(), v.Public
		if v.Rule != nil {
			list[i].Rule = fmt.Sprintf("%s:%d", filepath.Base(v.Rule.File), v.Rule.Line)
			if name, ok := strings.CutPrefix(v.Rule.File, packs.Prefix); ok && v.Mode == stopgate.Ask && v.Public == stopgate.CodeRuleMatched.Public() {
				list[i].Reason = "no rule of the pack " + name + " lets it run"
			}
		}
	}
	return list, nil
}

// unread are the texts of a conversation in which nothing was read yet.
type unread struct{}

func (unread) Find([]byte, *flow.Query) flow.Finding               { return flow.Finding{} }
func (unread) Carries([]byte, *flow.Query) flow.Finding            { return flow.Finding{} }
func (unread) Origin([]byte, flow.Kind) flow.Ref                   { return flow.Ref{} }
func (unread) Said(string) bool                                    { return false }
func (unread) Read(*flow.Query, func(name string) bool, bool) bool { return false }

// lineCount is the number of lines of a text.
func lineCount(text []byte) int { return bytes.Count(text, []byte("\n")) }
