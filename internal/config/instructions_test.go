package config_test

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// An agent cannot write instructions for later sessions unasked, in folders where the work is
// either: a page that it read would go on speaking there.
func TestInstructionsOfAgentsAreAsked(t *testing.T) {
	files, err := config.StarterFor("coding")
	if err != nil {
		t.Fatal(err)
	}
	p, found := prove.Compile([]policy.Source{{Name: "stopgate.toml", Text: files[0].Text, Trusted: true}},
		policy.Options{Root: "/srv/proj", Home: "/home/u", Known: knowntools.Recognise})
	if p == nil {
		t.Fatal(found)
	}
	mode := func(tool stopgate.ToolName, args string) stopgate.Mode {
		e := p.Bind(stopgate.Call{Tool: tool, Definition: &stopgate.ToolDefinition{Name: tool, Schema: []byte(`{"type":"object","properties":{"file_path":{"type":"string"},"command":{"type":"string"}}}`)}}).Evaluate()
		e.Feed([]byte(args))
		return e.Close(stopgate.Ended).Mode
	}
	for _, dir := range []string{"", "src/", "docs/", "internal/a/b/", "/srv/proj/lib/"} {
		for _, name := range []string{
			"AGENTS.md", "AGENTS.override.md", "CLAUDE.md", "claude.md", "CLAUDE.local.md", "GEMINI.md", "SKILL.md",
			"copilot-instructions.md", "go.instructions.md", ".cursorrules", ".windsurfrules", ".clinerules",
		} {
			if m := mode("Write", fmt.Sprintf(`{"file_path":%q}`, dir+name)); m.Permissive() {
				t.Errorf("Write %s is %s", dir+name, m)
			}
			if m := mode("Bash", fmt.Sprintf(`{"command":%q}`, "echo x > "+dir+name)); m.Permissive() {
				t.Errorf("echo > %s is %s", dir+name, m)
			}
		}
	}
	if m := mode("Write", `{"file_path":"docs/agents.go.md"}`); !m.Permissive() {
		t.Errorf("a page of the documentation is %s", m)
	}
}
