package corpus_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy"
)

// lines decodes a file of JSON lines.
func lines[T any](t *testing.T, file string) (rows []T) {
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		var row T
		if err := json.Unmarshal(s.Bytes(), &row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	if s.Err() != nil {
		t.Fatal(s.Err())
	}
	return rows
}

// compares reports the lines of a table that the page docs/streaming.md lacks.
func compares(t *testing.T, table string) {
	page, err := os.ReadFile("../../../docs/streaming.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("\n%s", table)
	for row := range strings.Lines(table) {
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/streaming.md lacks\n%s", row)
		}
	}
}

// Proves D26-34: how the providers of the recorded streams send arguments, as the
// documentation states it.
func TestHowProvidersStream(t *testing.T) {
	type stream struct {
		API, Model                 string
		Calls, Argbytes, Argchunks int
	}
	type group struct {
		streams, calls, whole int
		sizes                 []float64 // mean bytes of a piece, by stream
		longest               int       // bytes of arguments
	}
	families := []string{"claude", "gpt", "o4", "mistral", "ministral", "deepseek", "llama", "qwen", "grok", "gemini"}
	groups := map[string]*group{}
	for _, s := range lines[stream](t, corpus.Path(t, "streams", "manifest.jsonl")) {
		if s.Calls == 0 || s.Argbytes < 20*s.Calls { // shorter ones have little to split
			continue
		}
		model := strings.ToLower(s.Model[strings.LastIndex(s.Model, "/")+1:])
		i := slices.IndexFunc(families, func(f string) bool { return strings.Contains(model, f) })
		family := "others"
		switch {
		case s.API == "gemini":
			family = "gemini"
		case i >= 0:
			family = map[string]string{"o4": "gpt", "ministral": "mistral"}[families[i]]
			family = cmp.Or(family, families[i])
		}
		key := s.API + " | " + family
		g := groups[key]
		if g == nil {
			g = new(group)
			groups[key] = g
		}
		g.streams++
		g.calls += s.Calls
		if s.Argchunks <= s.Calls {
			g.whole++
		}
		g.sizes = append(g.sizes, float64(s.Argbytes)/float64(max(s.Argchunks, 1)))
		g.longest = max(g.longest, s.Argbytes)
	}
	var rows []string
	for key, g := range groups {
		if g.streams < 5 {
			continue
		}
		slices.Sort(g.sizes)
		rows = append(rows, fmt.Sprintf("| %s | %d | %d %% | %.0f |\n", key, g.streams, 100*g.whole/g.streams, g.sizes[len(g.sizes)/2]))
	}
	slices.Sort(rows)
	compares(t, strings.Join(rows, ""))
}

// Proves D26-29: how many bytes of recorded calls are behind the byte that decides them, in
// the order in which the model sent the parameters, and with the parameter of the policy first
// and last.
func TestOrderOfParameters(t *testing.T) {
	const text = `version = 1
[tools."fs_*".parameters]
path = { type = "path" }
[tools."fs_*".policy]
run = [
  { arg = "/path", glob = "locked/**", mode = "deny" },
  { arg = "/path", glob = "**", mode = "ask" },
  { mode = "deny" },
]
`
	program, diags := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	g, err := gate.New(program)
	if err != nil {
		t.Fatal(err)
	}
	decided := func(tool string, args []byte) int64 {
		p, err := g.Open(context.Background(), stopgate.Call{Tool: stopgate.ToolName(tool)})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Cancel(context.Background())
		p.Feed(args)
		v := p.Close(stopgate.Ended)
		return min(v.DecidedAt, int64(len(args)))
	}
	type call struct {
		Tool string
		Args json.RawMessage
	}
	type sum struct{ calls, bytes, recorded, first, last int64 }
	sums := map[string]*sum{}
	for _, c := range lines[call](t, corpus.Path(t, "toolcalls", "coding-agent.jsonl")) {
		root, err := jsonstream.Parse(c.Args, jsonstream.Options{})
		if err != nil {
			continue
		}
		if _, ok := root.Get("path"); !ok || !strings.HasPrefix(c.Tool, "fs_") {
			continue
		}
		var members, path []string
		for k, v := range root.Members() {
			m := string(k.Raw()) + ":" + string(v.Raw())
			if k.IsText("path") {
				path = []string{m}
			} else {
				members = append(members, m)
			}
		}
		object := func(parts ...[]string) []byte { return []byte("{" + strings.Join(slices.Concat(parts...), ",") + "}") }
		s := sums[c.Tool]
		if s == nil {
			s = new(sum)
			sums[c.Tool] = s
		}
		s.calls++
		s.bytes += int64(len(object(path, members)))
		s.recorded += decided(c.Tool, c.Args)
		s.first += decided(c.Tool, object(path, members))
		s.last += decided(c.Tool, object(members, path))
	}
	var rows []string
	for tool, s := range sums {
		part := func(n int64) int64 { return 100 * (s.bytes - n) / s.bytes }
		rows = append(rows, fmt.Sprintf("| `%s` | %d | %d | %d %% | %d %% | %d %% |\n", tool, s.calls, s.bytes/s.calls, part(s.recorded), part(s.first), part(s.last)))
	}
	slices.Sort(rows)
	compares(t, strings.Join(rows, ""))
}
