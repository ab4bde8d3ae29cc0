package agents

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
)

// declared are the tools that an agent offered its model, with the parameters of each, in
// the form of any of the APIs.
func declared(t *testing.T, bodies string) map[string][]string {
	t.Helper()
	type function struct {
		Name                 string
		Parameters           struct{ Properties map[string]any }
		ParametersJSONSchema struct{ Properties map[string]any } `json:"parametersJsonSchema"`
		InputSchema          struct{ Properties map[string]any } `json:"input_schema"`
	}
	tools := map[string][]string{}
	add := func(f function) {
		if f.Name == "" {
			return
		}
		for _, properties := range []map[string]any{f.Parameters.Properties, f.ParametersJSONSchema.Properties, f.InputSchema.Properties} {
			for p := range properties {
				tools[f.Name] = append(tools[f.Name], p)
			}
		}
	}
	for decoder := json.NewDecoder(strings.NewReader(bodies)); decoder.More(); {
		var body struct {
			Tools []struct {
				function
				Function             function
				FunctionDeclarations []function `json:"functionDeclarations"`
			}
		}
		if err := decoder.Decode(&body); err != nil {
			t.Fatalf("a request of the agent: %v", err)
		}
		for _, tool := range body.Tools {
			for _, f := range append(tool.FunctionDeclarations, tool.function, tool.Function) {
				add(f)
			}
		}
	}
	return tools
}

// speaks are names of parameters that say where a tool works or what it runs.
var speaks = regexp.MustCompile(`(?i)^(path|paths|files|.*_?path|filePath|dir|directory|workdir|.*_dir|command|commands|cmd|url|requests)$`)

// What an agent offers its model is what the adapter of its host knows: no tool has a path, a
// command or an address that guards do not see.
func knows(t *testing.T, a *agent, bodies string) {
	t.Helper()
	h, err := hook.Lookup(a.host)
	if err != nil {
		t.Fatal(err)
	}
	known := h.KnownTools()
	for name, parameters := range declared(t, bodies) {
		i := slices.IndexFunc(known, func(k hook.KnownTool) bool { return string(k.Name) == name })
		for _, p := range parameters {
			if !speaks.MatchString(p) || name == "task" { // whose command is one of the agent's own
				continue
			}
			if i < 0 {
				t.Errorf("%s: the adapter does not know the tool %s, which has a parameter %s", a.name, name, p)
			} else if at := bytes.Index(known[i].Schema, []byte(`"`+p+`":{}`)); at >= 0 || !bytes.Contains(known[i].Schema, []byte(`"`+p+`":`)) {
				t.Errorf("%s: guards see nothing of %s of the tool %s", a.name, p, name)
			}
		}
	}
}
