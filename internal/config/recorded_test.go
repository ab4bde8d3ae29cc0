package config_test

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/jsonstream"
)

// recordedCall is one call of a recording.
type recordedCall struct {
	Tool string          `json:"tool"`
	Args json.RawMessage `json:"args"`
}

// recordedCalls are the calls of all recorded agent runs.
func recordedCalls(t *testing.T) (all []recordedCall) {
	t.Helper()
	for _, name := range []string{"toolcalls/airline.jsonl", "toolcalls/coding-agent.jsonl", "agentdyn/dailylife.jsonl.gz", "agentdyn/github.jsonl.gz"} {
		f, err := os.Open(corpus.Path(t, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var r io.Reader = f
		if strings.HasSuffix(name, ".gz") {
			if r, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var run struct {
				recordedCall
				Messages []struct {
					Calls []recordedCall `json:"calls"`
				} `json:"messages"`
			}
			if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
				t.Fatal(err)
			}
			if run.Tool != "" {
				all = append(all, run.recordedCall)
			}
			for _, m := range run.Messages {
				all = append(all, m.Calls...)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// Guards of the policies that init writes read the strings that nobody declares. Over all
// recorded calls, of which no schema is known, they refuse what names a secret, and nothing else.
func TestSuspicionRefusesNoHarmlessCall(t *testing.T) {
	calls := recordedCalls(t)
	for _, kind := range []string{"", "coding", "shell"} {
		text := config.Starter()
		if kind != "" {
			text = starter(t, kind)
		}
		p, list := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: text, Trusted: true}}, policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise})
		if p == nil {
			t.Fatal(list)
		}
		found := make(map[string]bool)
		bound := make(map[string]*eval.Binding)
		for _, c := range calls {
			b := bound[c.Tool]
			if b == nil {
				b = p.Bind(stopgate.Call{Tool: stopgate.ToolName(c.Tool), Surface: stopgate.SurfaceGateway, Definition: &stopgate.ToolDefinition{
					Name: stopgate.ToolName(c.Tool), Schema: []byte(`{"type":"object"}`),
				}})
				bound[c.Tool] = b
			}
			e := b.Evaluate()
			e.Feed(c.Args)
			v := e.Close(stopgate.Ended)
			if v.Layer != stopgate.LayerGuard {
				continue
			}
			for _, l := range e.Explain().Lists {
				if !l.Named || !l.Rules[0].Conditions[0].Undeclared {
					continue
				}
				found[fmt.Sprintf("%s %s %.200s at %s", v.Mode, c.Tool, c.Args, v.Pointer)] = true
				if pointer, err := jsonstream.ParsePointer(v.Pointer); err != nil || !secret.MatchString(at(t, c.Args, pointer)) {
					t.Errorf("%q: %s is refused at %s: %s", kind, c.Tool, v.Pointer, c.Args)
				}
			}
		}
		t.Logf("%q: %d of %d calls\n%s", kind, len(found), len(calls), strings.Join(slices.Sorted(maps.Keys(found)), "\n"))
		if len(found) == 0 && kind != "shell" {
			t.Errorf("%q: nothing is refused", kind)
		}
	}
}

// secret are the names that the guards are about, in the values that they refuse: keys, and
// the directory of a repository.
var secret = regexp.MustCompile(`/\.(ssh|git)\b`)

// at is a string of arguments.
func at(t *testing.T, args json.RawMessage, pointer jsonstream.Pointer) string {
	t.Helper()
	for _, token := range pointer {
		var object map[string]json.RawMessage
		if err := json.Unmarshal(args, &object); err != nil {
			t.Fatal(err)
		}
		args = object[token]
	}
	return string(args)
}
