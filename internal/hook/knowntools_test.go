package hook_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/knowntools"
)

// guarding permits every call that no guard matches.
const guarding = `
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
`

// values has a value that the guards deny and one that they permit, of every kind.
var values = map[knowntools.Kind][2]string{
	knowntools.Value:     {`"x"`, `"x"`},
	knowntools.Path:      {`"src/.env"`, `"src/a.go"`},
	knowntools.Directory: {`"src/.env"`, `"src"`},
	knowntools.Folder:    {`"src/.env"`, `"src"`},
	knowntools.Glob:      {`"src/.env"`, `"src/*.go"`},
	knowntools.Filter:    {`".env"`, `"*.go"`},
	knowntools.Command:   {`"rm a"`, `"ls"`},
	knowntools.Argv:      {`"rm a"`, `"ls"`},
	knowntools.URL:       {`"https://evil.example/"`, `"https://go.dev/"`},
	knowntools.Patch:     {`"*** Begin Patch\n*** Delete File: .env\n*** End Patch"`, `"*** Begin Patch\n*** Delete File: a.go\n*** End Patch"`},
}

// argument returns a parameter with a value as JSON.
func argument(p knowntools.Parameter, value string) string {
	if p.Members {
		value = "[" + value + "]"
	}
	if p.Member != "" {
		value = fmt.Sprintf("{%q:%s}", p.Member, value)
	}
	if p.List {
		value = "[" + value + "]"
	}
	return fmt.Sprintf("%q:%s", p.Name, value)
}

// Every row of the table guards: with any of its relevant parameters, a call of the tool is denied
// by the hook of its host if the value is guarded, and permitted if not. Tools of MCP servers, and
// of agents without an adapter, are found by name.
func TestKnownTools(t *testing.T) {
	p := program(t, guarding)
	rows := 0
	for _, product := range knowntools.All() {
		name, prefix := "generic", ""
		switch {
		case len(product.Hosts) > 0 && before[product.Hosts[0]] != "":
			name = product.Hosts[0]
		case len(product.Servers) > 0:
			name, prefix = "claude-code", "mcp__"+product.Servers[0]+"__"
		}
		h := host(t, name)
		o := hook.Options{Open: opener(t, p, h)}
		answer := func(tool, args string) string {
			r := ask(t, h, o, fmt.Sprintf(before[name], prefix+tool, args))
			if h.Blocks(r) {
				return blocks
			}
			return runs
		}
		for _, tool := range product.Tools {
			rows++
			for _, n := range tool.Names {
				if got := answer(n, `{}`); got != runs && !patched(tool) {
					t.Errorf("%s: %s without arguments: %s", product.Name, n, got)
				}
				for _, parameter := range tool.Parameters {
					v := values[parameter.Kind]
					for i, want := range []string{blocks, runs} {
						if parameter.Kind == knowntools.Value || patched(tool) && parameter.Kind != knowntools.Patch {
							continue
						}
						args := "{" + argument(parameter, v[i]) + "}"
						if parameter.Kind == knowntools.Directory { // without a command it has no effect
							args = "{" + argument(parameter, v[i]) + `,"command":"ls"}`
						}
						if want == runs && name == "generic" && prefix == "" && product.Name != "generic" && builtIn(h, n) {
							continue // the host's own tool of this name has other parameters
						}
						if got := answer(n, args); got != want {
							t.Errorf("%s: %s %s: %s, want %s", product.Name, n, args, got, want)
						}
					}
				}
			}
		}
	}
	if rows < 200 {
		t.Errorf("the table has %d rows", rows)
	}
}

func builtIn(h *hook.Host, name string) bool {
	return slices.ContainsFunc(h.KnownTools(), func(k hook.KnownTool) bool { return string(k.Name) == name })
}

func patched(t *knowntools.Tool) bool {
	for _, p := range t.Parameters {
		if p.Kind == knowntools.Patch {
			return true
		}
	}
	return false
}
