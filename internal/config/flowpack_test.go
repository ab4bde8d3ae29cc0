package config_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/jsonstream"
)

// compiledPolicy compiles a policy file as a hook does.
func compiledPolicy(t testing.TB, text string) *policy.Program {
	t.Helper()
	p, list := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}}, policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// withoutFlow takes the pack "flow" out of the coding starter.
func withoutFlow(t testing.TB, text string) string {
	t.Helper()
	before, after, ok := strings.Cut(text, "  \"flow\",\n")
	if !ok {
		t.Fatal("the starter has no pack")
	}
	return before + after
}

// day is a day of recorded work: one conversation, of which the texts are known or not.
type day struct {
	program *policy.Program
	reader  flow.Reader
	index   flow.Index
	calls   int
}

func begin(p *policy.Program, texts bool) *day {
	d := &day{program: p, reader: p.Reader()}
	if texts && d.reader != nil {
		d.index = d.reader.NewIndex(bytes.Repeat([]byte{7}, 32))
		d.reader.Knows(d.index, flow.KnowsUser|flow.KnowsSystem|flow.KnowsResults)
		d.reader.Message(d.index, &flow.Message{Source: flow.User, Text: []byte("please go on")})
	}
	return d
}

// decider returns how calls of a tool are decided now.
func (d *day) decider(tool string) func(args []byte) stopgate.Mode {
	var view flow.View
	if d.index != nil {
		view = d.index.View()
	}
	call := stopgate.Call{Tool: stopgate.ToolName(tool), Surface: stopgate.SurfaceHook, Definition: &stopgate.ToolDefinition{Name: stopgate.ToolName(tool), Schema: []byte(`{"type":"object"}`)}}
	rules := d.program.RulesFor(call, gate.Circumstances{Situation: d.program.SituationOf(stopgate.Groups{}, jsonstream.Value{}, view)})
	return func(args []byte) stopgate.Mode {
		e := rules.Evaluate(view)
		e.Feed(args)
		return e.Close(stopgate.Ended).Mode
	}
}

// call decides a call, of which the result is then read.
func (d *day) call(tool string, args []byte) stopgate.Mode {
	mode := d.decider(tool)(args)
	if d.index != nil {
		d.calls++
		d.reader.Result(d.index, &flow.Result{Tool: stopgate.ToolName(tool), Call: stopgate.CallID(strconv.Itoa(d.calls)), Args: args, Data: []byte("done"), Released: true})
	}
	return mode
}

// The pack "flow" of the coding starter asks at most three more times in a recorded day of work than
// the starter without it, whether the host reports texts or not.
func TestFlowPackAsksLittle(t *testing.T) {
	text := string(starter(t, "coding"))
	with, without := compiledPolicy(t, text), compiledPolicy(t, withoutFlow(t, text))
	days := map[string][]recordedCall{}
	lines(t, "toolcalls/coding-agent.jsonl", func(line []byte) {
		var c struct {
			recordedCall
			Session string `json:"session"`
		}
		if err := json.Unmarshal(line, &c); err != nil {
			t.Fatal(err)
		}
		start, _, _ := strings.Cut(c.Session, "-") // in tenths of a second
		n, err := strconv.Atoi(start)
		if err != nil {
			t.Fatal(err)
		}
		at := strconv.Itoa(n / 864_000)
		days[at] = append(days[at], c.recordedCall)
	})
	for _, texts := range []bool{true, false} {
		for at, calls := range days {
			a, b := begin(with, texts), begin(without, texts)
			more, asked := 0, 0
			a.call("WebFetch", []byte(`{"url":"https://pkg.go.dev/x","prompt":"x"}`)) // so that all of the day is after a page
			for _, c := range calls {
				was, is := b.call(c.Tool, c.Args), a.call(c.Tool, c.Args)
				if was != stopgate.Unattended {
					asked++
				} else if is != stopgate.Unattended {
					more++
					t.Logf("%s: %s %.200s", is, c.Tool, c.Args)
				}
			}
			t.Logf("day %s, texts known: %t: %d calls, %d questions, %d more with the pack", at, texts, len(calls), asked, more)
			if more > 3 {
				t.Errorf("day %s, texts known: %t: %d more questions", at, texts, more)
			}
		}
	}
}

// Of the commands that are labelled as safe, those that run without a question do so after a page,
// too, where the person has named nothing.
func TestFlowPackLetsLookingRun(t *testing.T) {
	text := string(starter(t, "coding"))
	with, without := compiledPolicy(t, text), compiledPolicy(t, withoutFlow(t, text))
	for _, texts := range []bool{true, false} {
		a, b := begin(with, texts), begin(without, texts)
		a.call("WebFetch", []byte(`{"url":"https://pkg.go.dev/x","prompt":"x"}`))
		is, was := a.decider("Bash"), b.decider("Bash")
		ran, more := 0, 0
		lines(t, "commands/labelled.jsonl", func(line []byte) {
			var c struct {
				Command string `json:"command"`
				Safe    bool   `json:"safe"`
			}
			if err := json.Unmarshal(line, &c); err != nil {
				t.Fatal(err)
			}
			args, err := json.Marshal(map[string]string{"command": c.Command})
			if err != nil || !c.Safe || was(args) != stopgate.Unattended {
				return
			}
			if ran++; is(args) != stopgate.Unattended {
				more++
				t.Logf("asked after a page: %s", c.Command)
			}
		})
		t.Logf("texts known: %t: of %d commands that run, %d ask after a page", texts, ran, more)
		if more > 3 {
			t.Errorf("texts known: %t: %d more questions", texts, more)
		}
	}
}

// lines calls each for the lines of a file of the corpus.
func lines(t *testing.T, name string, each func(line []byte)) {
	t.Helper()
	f, err := os.Open(corpus.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		each(s.Bytes())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// Results of every known tool that fetches, and of every MCP server, are texts of strangers.
func TestStrangersAreAllThatFetch(t *testing.T) {
	p := compiledPolicy(t, string(starter(t, "coding")))
	var globs []*glob.Name
	for _, name := range p.Sources()[0].Sources[0].Tools {
		g, err := glob.ParseName(name)
		if err != nil {
			t.Fatal(err)
		}
		globs = append(globs, g)
	}
	matches := func(name string) bool {
		for _, g := range globs {
			if g.Match(name) {
				return true
			}
		}
		return false
	}
	// send_file gives a file to the person, and diff is also a name of tools that compare files.
	none := map[string]bool{"send_file": true, "diff": true}
	for _, product := range knowntools.All() {
		server := strings.HasPrefix(product.Name, "mcp-") // its tools are SERVER__NAME
		for _, tool := range product.Tools {
			for _, name := range tool.Names {
				if tool.Class == knowntools.Fetch && !server && !none[name] && !matches(name) {
					t.Errorf("%s: %s is no source of strangers", product.Name, name)
				}
			}
		}
	}
	for _, name := range []string{"mcp__github__get_issue", "mail__search"} {
		if !matches(name) {
			t.Errorf("%s is no source of strangers", name)
		}
	}
}
