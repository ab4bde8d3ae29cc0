package knowntools_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// A gate that knows a tool only by its name guards every parameter that a row of the name
// gives a meaning, whatever the request declares it to be, and lets harmless calls run.
func TestRecognise(t *testing.T) {
	program, found := prove.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(`
version = 1
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
[[guard]]
on = "command"
prefix = "rm "
mode = "deny"
[[guard]]
on = "url"
host = "evil.example"
mode = "deny"
`)}}, policy.Options{Known: knowntools.Recognise})
	if found.HasErrors() {
		t.Fatal(found)
	}
	values := map[string][2]string{"path": {`"a/.env"`, `"a/b.go"`}, "command": {`"rm a"`, `"ls"`}, "argv": {`"rm a"`, `"ls"`}, "url": {`"https://evil.example/"`, `"https://go.dev/"`}}
	for _, product := range knowntools.All() {
		for _, tool := range product.Tools {
			for _, name := range tool.Names {
				for _, p := range tool.Parameters {
					v, typed := values[p.Kind.Type()]
					if !typed {
						continue
					}
					for i, want := range []stopgate.Mode{stopgate.Deny, stopgate.Unattended} {
						value, declared := v[i], `{"type":"string"}`
						if p.Members {
							value, declared = "["+value+"]", `{"type":"array","items":`+declared+`}`
						}
						if p.Member != "" {
							value, declared = fmt.Sprintf("{%q:%s}", p.Member, value), fmt.Sprintf(`{"type":"object","properties":{%q:%s}}`, p.Member, declared)
						}
						if p.List {
							value, declared = "["+value+"]", `{"type":"array","items":`+declared+`}`
						}
						call := stopgate.Call{Tool: stopgate.ToolName(name), Surface: stopgate.SurfaceGateway, Definition: &stopgate.ToolDefinition{
							Name: stopgate.ToolName(name), Schema: fmt.Appendf(nil, `{"type":"object","properties":{%q:%s}}`, p.Name, declared),
						}}
						if strings.Contains(name, "__") {
							call.Server = stopgate.ServerID(strings.Split(name, "__")[0])
						}
						e := program.Bind(call).Evaluate()
						fmt.Fprintf(feed{e.Feed}, "{%q:%s}", p.Name, value)
						if got := e.Close(stopgate.Ended); got.Mode != want {
							t.Errorf("%s: %s %s: %s: %v (%s), want %v", product.Name, name, p, value, got.Mode, got.Code, want)
						}
					}
				}
			}
		}
	}
}

type feed struct{ f func([]byte) stopgate.Verdict }

func (w feed) Write(text []byte) (int, error) {
	w.f(text)
	return len(text), nil
}

// Only the tool that a host has built in is certain, and one of a server whose pinned
// definition has the parameters of the row.
func TestCertain(t *testing.T) {
	whole := stopgate.ToolDefinition{Schema: []byte(`{"properties":{"repo_path":{},"files":{}}}`), Pinned: true}
	less, loose := whole, whole
	less.Schema = []byte(`{"properties":{"repo_path":{}}}`)
	loose.Pinned = false
	for _, test := range []struct {
		call       stopgate.Call
		ok, surely bool
	}{
		{stopgate.Call{Tool: "Bash", Surface: stopgate.SurfaceHook, Dialect: "claude-code"}, true, true},
		{stopgate.Call{Tool: "Bash", Surface: stopgate.SurfaceGateway, Dialect: "claude-code"}, true, false},
		{stopgate.Call{Tool: "git__git_add", Server: "git", Surface: stopgate.SurfaceHook, Dialect: "claude-code"}, true, false},
		{stopgate.Call{Tool: "git_add", Server: "git", Surface: stopgate.SurfaceMCP}, true, false},
		{stopgate.Call{Tool: "git__git_add", Server: "git", Surface: stopgate.SurfaceMCP, Definition: &whole}, true, true},
		{stopgate.Call{Tool: "git__git_add", Server: "git", Surface: stopgate.SurfaceMCP, Definition: &less}, true, false},
		{stopgate.Call{Tool: "git__git_add", Server: "git", Surface: stopgate.SurfaceMCP, Definition: &loose}, true, false},
		{stopgate.Call{Tool: "other__git_add", Server: "other", Surface: stopgate.SurfaceMCP, Definition: &whole}, true, false},
		{stopgate.Call{Tool: "git_add", Surface: stopgate.SurfaceGateway, Definition: &whole}, true, false},
		{stopgate.Call{Tool: "get_weather", Surface: stopgate.SurfaceHook, Dialect: "claude-code"}, false, false},
	} {
		known, ok := knowntools.Recognise(test.call)
		if ok != test.ok || known.Certain != test.surely {
			t.Errorf("%s of %s on %s: known %t, certain %t", test.call.Tool, test.call.Server, test.call.Surface, ok, known.Certain)
		}
	}
}

// Where it is certain which tool it is, the row declares its values with all that is in them,
// and guards leave them alone. A name alone declares nothing.
func TestCertainRowsDeclareValues(t *testing.T) {
	program, found := prove.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(`
version = 1
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
`)}}, policy.Options{Known: knowntools.Recognise})
	if found.HasErrors() {
		t.Fatal(found)
	}
	edits := []byte(`{"type":"object","properties":{"path":{"type":"string"},"dryRun":{"type":"boolean"},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"}}}}}}`)
	for _, c := range []struct {
		call stopgate.Call
		args string
		want stopgate.Mode
	}{
		{stopgate.Call{Tool: "filesystem__edit_file", Server: "filesystem", Definition: &stopgate.ToolDefinition{Schema: edits, Pinned: true}}, `{"path":"a","edits":[{"oldText":".env"}]}`, stopgate.Unattended},
		{stopgate.Call{Tool: "filesystem__edit_file", Server: "filesystem", Definition: &stopgate.ToolDefinition{Schema: edits, Pinned: true}}, `{"path":".env","edits":[{"oldText":"a"}]}`, stopgate.Deny},
		{stopgate.Call{Tool: "filesystem__edit_file", Server: "filesystem", Definition: &stopgate.ToolDefinition{Schema: edits}}, `{"path":"a","edits":[{"oldText":".env"}]}`, stopgate.Deny},
		{stopgate.Call{Tool: "t", Surface: stopgate.SurfaceAgent, Definition: &stopgate.ToolDefinition{Schema: edits}}, `{"path":".env","edits":[{"oldText":".env"}]}`, stopgate.Unattended},
		{stopgate.Call{Tool: "t", Surface: stopgate.SurfaceAgent, Server: "s", Definition: &stopgate.ToolDefinition{Schema: edits}}, `{"path":"a","edits":[{"oldText":".env"}]}`, stopgate.Deny},
	} {
		c.call.Definition.Name = c.call.Tool
		e := program.Bind(c.call).Evaluate()
		e.Feed([]byte(c.args))
		if v := e.Close(stopgate.Ended); v.Mode != c.want {
			t.Errorf("%s of %q on %q, pinned %t: %s: %v %s", c.call.Tool, c.call.Server, c.call.Surface, c.call.Definition.Pinned, c.args, v.Mode, v.Code)
		}
	}
}

// A server of another name is known by the name that the operator's files give it, unless two of them differ; a
// file that is not trusted says nothing.
func TestServersOfOtherNames(t *testing.T) {
	const guarded = `
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = "unattended"
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
`
	file := func(name, more string, trusted bool) policy.Source {
		return policy.Source{Name: name, Trusted: trusted, Text: []byte("version = 1\nuse = [\"mcp/filesystem\", \"mcp/slack\"]\n" + more)}
	}
	edits := []byte(`{"type":"object","properties":{"path":{"type":"string"},"dryRun":{"type":"boolean"},"edits":{"type":"array","items":{"type":"object","properties":{"oldText":{"type":"string"},"newText":{"type":"string"}}}}}}`)
	named := file("a.toml", guarded+"[servers]\nmyfiles = \"mcp/filesystem\"\n", true)
	for _, c := range []struct {
		name  string
		files []policy.Source
		want  bool
	}{
		{"no file", []policy.Source{file("a.toml", guarded, true)}, false},
		{"one file", []policy.Source{named}, true},
		{"two files", []policy.Source{named, file("b.toml", "[servers]\nmyfiles = \"mcp/filesystem\"\n", true)}, true},
		{"two files that differ", []policy.Source{named, file("b.toml", "[servers]\nmyfiles = \"mcp/slack\"\n", true)}, false},
		{"a file that is not trusted", []policy.Source{file("a.toml", guarded, true), file("b.toml", "[servers]\nmyfiles = \"mcp/filesystem\"\n", false)}, false},
		{"another name", []policy.Source{file("a.toml", guarded+"[servers]\nother = \"mcp/filesystem\"\n", true)}, false},
	} {
		var seen []stopgate.Call
		program, found := policy.Compile(c.files, policy.Options{Known: func(call stopgate.Call) (eval.KnownTool, bool) {
			seen = append(seen, call)
			return knowntools.Recognise(call)
		}})
		if program == nil {
			t.Fatal(found)
		}
		program.Bind(stopgate.Call{Tool: "myfiles__edit_file", Server: "myfiles", Surface: stopgate.SurfaceMCP, Definition: &stopgate.ToolDefinition{Name: "myfiles__edit_file", Schema: edits, Pinned: true}})
		known, _ := knowntools.Recognise(seen[len(seen)-1])
		if known.Certain != c.want {
			t.Errorf("%s: %+v", c.name, seen)
		}
	}
}

// A known tool has the effect of its row, as the row states it or its class has it; a structured
// output has none. A tool that is not known has no answer.
func TestEffect(t *testing.T) {
	for tool, want := range map[stopgate.ToolName]bool{
		"Bash": true, "Write": true, "Read": false, "Grep": false, "WebFetch": false, "WebSearch": false, "Task": false, "TodoWrite": false, "CronCreate": true,
		"save_memory": true, "send_file": true, "get_current_time": false, "read_query": true, "list_tables": false, "git_push": false,
	} {
		known, ok := knowntools.Recognise(stopgate.Call{Tool: tool})
		switch {
		case tool == "git_push":
			if ok || known.Effect != nil {
				t.Errorf("%s is known", tool)
			}
		case !ok || known.Effect == nil || *known.Effect != want:
			t.Errorf("%s: known %v, effect %v, want %v", tool, ok, known.Effect, want)
		}
	}
	own := stopgate.Call{Tool: "fs_delete_file", Surface: stopgate.SurfaceAgent, Definition: &stopgate.ToolDefinition{Name: "fs_delete_file"}}
	if known, _ := knowntools.Recognise(own); known.Effect == nil || !*known.Effect {
		t.Error("a tool of the own agent has no effect")
	}
	own.Tool = "deploy"
	if known, _ := knowntools.Recognise(own); known.Effect != nil {
		t.Error("a local tool has the effect of another one")
	}
}
