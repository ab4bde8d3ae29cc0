package mcp_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// files lets an agent read one directory, and write nothing.
const files = `version = 1
[gate]
strict = false
[tools."*".policy]
run = "deny"
[tools.read_text_file]
parameters.path = { type = "path" }
policy.run = [{ arg = "/path", prefix = "ROOT", mode = "unattended" }, { mode = "deny", reason = "outside of the project" }]
[tools.list_directory]
parameters.path = { type = "path" }
policy.run = [{ arg = "/path", prefix = "ROOT", mode = "unattended" }, { mode = "deny" }]
[tools.write_file.policy]
run = [{ arg = "/path", present = true, mode = "deny", reason = "this project is not written to" }, { mode = "ask" }]
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
reason = "secrets stay out of reach"
`

// gated is the command that puts the gate before a server.
func gated(policy string, server ...string) []string {
	return append([]string{stopgate, "mcp", "--policy", policy, "--"}, server...)
}

// inspect asks through the inspector's command line.
func inspect(t *testing.T, command []string, args ...string) string {
	t.Helper()
	config, err := json.Marshal(map[string]any{"mcpServers": map[string]any{"it": map[string]any{"command": command[0], "args": command[1:]}}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "servers.json")
	if err := os.WriteFile(path, config, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, append([]string{filepath.Join(modules, ".bin", "mcp-inspector"), "--cli", "--config", path, "--server", "it"}, args...)...)
	cmd.Env, cmd.Dir = home(t), t.TempDir()
	var log strings.Builder
	cmd.Stderr = &log
	out, err := cmd.Output()
	if len(out) == 0 {
		t.Fatalf("the inspector says nothing: %v\n%s", err, &log)
	}
	return string(out)
}

// project is a directory with a file, a secret, and a way out.
func project(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "proj")
	for name, text := range map[string]string{"proj/a.txt": "hello", "proj/.env": "KEY=hunter2", "secret.txt": "hunter2"} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../secret.txt", filepath.Join(dir, "link.txt")); err != nil {
		t.Fatal(err)
	}
	return dir
}

func script(name string) string { return filepath.Join(modules, ".bin", name) }

// Proves D25-44: real servers, asked by the inspector: what may run runs, what may not
// is not even there, and what the arguments decide is refused with the reason.
func TestInspector(t *testing.T) {
	dir := project(t)
	fs := gated(write(t, strings.ReplaceAll(files, "ROOT", dir)), node, script("mcp-server-filesystem"), dir)
	memory := gated(write(t, "version = 1\n[tools.\"*\"]\nuncovered = \"allow\"\n[tools.\"*\".policy]\nrun = \"unattended\"\n[tools.delete_entities.policy]\nrun = \"deny\"\n"), node, script("mcp-server-memory"))
	every := gated(write(t, "version = 1\n[tools.\"*\".policy]\nrun = \"deny\"\n[tools.echo.policy]\nrun = [{ arg = \"/message\", prefix = \"hello\", mode = \"unattended\" }, { mode = \"deny\", reason = \"be polite\" }]\n"), node, script("mcp-server-everything"))
	for _, c := range []struct {
		name        string
		command     []string
		args        []string
		has, hasNot []string
	}{
		{"filesystem, list", fs, []string{"--method", "tools/list"}, []string{`"read_text_file"`, `"write_file"`}, []string{`"move_file"`, `"edit_file"`}},
		{"filesystem, call", fs, []string{"--method", "tools/call", "--tool-name", "read_text_file", "--tool-arg", "path=" + dir + "/a.txt"}, []string{"hello"}, nil},
		{"filesystem, denied", fs, []string{"--method", "tools/call", "--tool-name", "write_file", "--tool-arg", "path=" + dir + "/b.txt", "--tool-arg", "content=x"}, []string{"not written to", `"isError": true`}, nil},
		{"memory, list", memory, []string{"--method", "tools/list"}, []string{`"create_entities"`}, []string{`"delete_entities"`}},
		{"memory, call", memory, []string{"--method", "tools/call", "--tool-name", "read_graph"}, []string{"entities"}, []string{`"isError": true`}},
		{"everything, call", every, []string{"--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=hello you"}, []string{"hello you"}, []string{`"isError": true`}},
		{"everything, denied", every, []string{"--method", "tools/call", "--tool-name", "echo", "--tool-arg", "message=go away"}, []string{"be polite"}, []string{"go away"}},
		{"everything, prompts", every, []string{"--method", "prompts/list"}, []string{`"prompts"`}, nil},
		{"everything, resources", every, []string{"--method", "resources/list"}, []string{`"resources"`}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			out := inspect(t, c.command, c.args...)
			for _, want := range c.has {
				if !strings.Contains(out, want) {
					t.Errorf("there is no %q in:\n%s", want, out)
				}
			}
			for _, no := range c.hasNot {
				if strings.Contains(out, no) {
					t.Errorf("there is %q in:\n%s", no, out)
				}
			}
		})
	}
}

// Proves C1, C4, C5: no spelling of a path leads out of the project, through the gate
// and the real server behind it, with the official SDK's client.
func TestPathEscapes(t *testing.T) {
	dir := project(t)
	command := gated(write(t, strings.ReplaceAll(files, "ROOT", dir)), node, script("mcp-server-filesystem"), dir)
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = home(t)
	client := mcp.NewClient(&mcp.Implementation{Name: "interop", Version: "1"}, nil)
	s, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	read := func(path any) (text string, failed bool) {
		t.Helper()
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "read_text_file", Arguments: map[string]any{"path": path}})
		if err != nil {
			return err.Error(), true
		}
		all, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(all), r.IsError
	}
	if text, failed := read(dir + "/a.txt"); failed || !strings.Contains(text, "hello") {
		t.Fatalf("the project cannot be read: %s", text)
	}
	for _, path := range []any{
		dir + "/../secret.txt", dir + "/./../secret.txt", dir + "//..//secret.txt", dir + "/x/../../secret.txt",
		filepath.Dir(dir) + "/secret.txt", dir + "2/secret.txt", dir + "/.env", dir + "/.ENV", dir + "/./.env", dir + "/%2e%2e/secret.txt", dir + "/.env\u200b",
		dir + "/\u2025/secret.txt", dir + "/link.txt", "/etc/passwd", "../secret.txt", "~/secret.txt", "file://" + dir + "/.env", `\\?\` + dir + `\.env`, dir + "/.env/", "", 7, nil, []any{dir + "/.env"},
	} {
		if text, failed := read(path); !failed || strings.Contains(text, "hunter2") {
			t.Errorf("%q leads out: %s", path, text)
		}
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	if got := strings.Join(names, " "); got != "read_text_file write_file list_directory" {
		t.Errorf("tools %s", got)
	}
}
