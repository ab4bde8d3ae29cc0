package servers_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/host/servers"
)

const program = "/usr/local/bin/stopgate"

func file(t *testing.T, path string) servers.File {
	t.Helper()
	for _, f := range servers.Files(servers.Location{Home: "/home/u", Dir: "/srv/shop"}) {
		if f.Path == path {
			return f
		}
	}
	t.Fatalf("no file %s", path)
	return servers.File{}
}

// Every agent's format, as its documentation writes it, before and after.
func TestFormats(t *testing.T) {
	for _, c := range []struct{ path, before, after string }{
		{"/srv/shop/.mcp.json",
			"{\n  \"mcpServers\": {\n    \"github\": { \"command\": \"npx\", \"args\": [\"-y\", \"@modelcontextprotocol/server-github\"], \"env\": {\"T\": \"${T}\"} },\n    \"wiki\": {\"type\": \"http\", \"url\": \"https://wiki.example.com/mcp\"}\n  }\n}\n",
			"{\n  \"mcpServers\": {\n    \"github\": { \"command\": \"/usr/local/bin/stopgate\", \"args\": [\"mcp\", \"--name\", \"github\", \"--\", \"npx\", \"-y\", \"@modelcontextprotocol/server-github\"], \"env\": {\"T\": \"${T}\"} },\n    \"wiki\": {\"type\": \"http\", \"url\": \"https://wiki.example.com/mcp\"}\n  }\n}\n"},
		{"/home/u/.claude.json",
			`{"numStartups":3,"mcpServers":{"a":{"command":"x"}},"projects":{"/srv/shop":{"mcpServers":{"b":{"command":"y","args":[]}}},"/other":{"mcpServers":{"c":{"command":"z","args":[]}}}}}`,
			`{"numStartups":3,"mcpServers":{"a":{"command":"/usr/local/bin/stopgate", "args": [ "mcp", "--name", "a", "--", "x"]}},"projects":{"/srv/shop":{"mcpServers":{"b":{"command":"/usr/local/bin/stopgate","args":["mcp", "--name", "b", "--", "y"]}}},"/other":{"mcpServers":{"c":{"command":"z","args":[]}}}}}`},
		{"/home/u/.codex/config.toml",
			"model = \"o\" # mine\n\n[mcp_servers.files]\ncommand = 'npx' # a comment\nargs = [\n  \"-y\", # yes\n  \"server\",\n]\n\n[mcp_servers.plain]\n  command = \"run\"\n\n[mcp_servers.far]\nurl = \"https://x.example.com/mcp\"\n",
			"model = \"o\" # mine\n\n[mcp_servers.files]\ncommand = \"/usr/local/bin/stopgate\" # a comment\nargs = [\"mcp\", \"--name\", \"files\", \"--\", 'npx', \n  \"-y\", # yes\n  \"server\",\n]\n\n[mcp_servers.plain]\n  args = [ \"mcp\", \"--name\", \"plain\", \"--\", \"run\"]\ncommand = \"/usr/local/bin/stopgate\"\n\n[mcp_servers.far]\nurl = \"https://x.example.com/mcp\"\n"},
		{"/srv/shop/.codex/config.toml",
			"mcp_servers = { a = { command = \"x\", env = { A = \"1\" } }, b = { args = [], command = \"y\" } }\n",
			"mcp_servers = { a = { args = [ \"mcp\", \"--name\", \"a\", \"--\", \"x\"], command = \"/usr/local/bin/stopgate\", env = { A = \"1\" } }, b = { args = [\"mcp\", \"--name\", \"b\", \"--\", \"y\"], command = \"/usr/local/bin/stopgate\" } }\n"},
		{"/home/u/.gemini/settings.json",
			"{\n  // servers\n  \"mcpServers\": {\n    \"a\": {\n      \"args\": [\n        \"server.py\", // the server\n      ],\n      \"command\": \"python\",\n    },\n  },\n}\n",
			"{\n  // servers\n  \"mcpServers\": {\n    \"a\": {\n      \"args\": [\"mcp\", \"--name\", \"a\", \"--\", \"python\", \n        \"server.py\", // the server\n      ],\n      \"command\": \"/usr/local/bin/stopgate\",\n    },\n  },\n}\n"},
		{"/srv/shop/opencode.jsonc",
			`{"mcp": {"a": {"type": "local", "command": [ "bun", "x", "s" ], "enabled": true}, "b": {"type": "remote", "url": "https://b.example.com"}}}`,
			`{"mcp": {"a": {"type": "local", "command": ["/usr/local/bin/stopgate", "mcp", "--name", "a", "--",  "bun", "x", "s" ], "enabled": true}, "b": {"type": "remote", "url": "https://b.example.com"}}}`},
		{"/srv/shop/.crush.json",
			`{"mcp": {"a": {"type": "stdio", "command": "node", "args": ["s.js"]}, "b": {"type": "http", "url": "https://b.example.com"}}}`,
			`{"mcp": {"a": {"type": "stdio", "command": "/usr/local/bin/stopgate", "args": ["mcp", "--name", "a", "--", "node", "s.js"]}, "b": {"type": "http", "url": "https://b.example.com"}}}`},
		{"/srv/shop/.vscode/mcp.json",
			`{"servers": {"a": {"type": "stdio", "command": "n\u0070x", "args": []}}, "inputs": []}`,
			`{"servers": {"a": {"type": "stdio", "command": "/usr/local/bin/stopgate", "args": ["mcp", "--name", "a", "--", "n\u0070x"]}}, "inputs": []}`},
	} {
		f := file(t, c.path)
		after, changed, err := f.Insert([]byte(c.before), servers.Gate{Program: program, Name: func(s servers.Server) string { return s.Name }})
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if string(after) != c.after {
			t.Errorf("%s:\n%s\nwant\n%s", c.path, after, c.after)
		}
		again, none, err := f.Insert(after, servers.Gate{Program: program})
		if err != nil || len(none) > 0 || string(again) != string(after) {
			t.Errorf("%s: the second time %v, %v:\n%s", c.path, none, err, again)
		}
		if back, err := f.Remove(after, changed); err != nil || string(back) != c.before {
			t.Errorf("%s: %v, back to\n%s\nfrom\n%s", c.path, err, back, c.before)
		}
	}
}

// What has another form, or a gate already, stays, and the reason is known.
func TestServersThatStay(t *testing.T) {
	for _, c := range []struct{ path, text, problem string }{
		{"/srv/shop/.mcp.json", `{"mcpServers":{"a":{"url":"https://a.example.com/mcp","headers":{"Authorization":"x"}}}}`, "it has an address"},
		{"/srv/shop/.mcp.json", `{"mcpServers":{"a":{"command":["x"]}}}`, "unusual form"},
		{"/srv/shop/.mcp.json", `{"mcpServers":{"a":{"command":"x","args":"y"}}}`, "unusual form"},
		{"/srv/shop/.mcp.json", `{"mcpServers":{"a":{"command":"x","args":[1]}}}`, "not all texts"},
		{"/srv/shop/.mcp.json", `{"mcpServers":{"a":{}}}`, "no command"},
		{"/srv/shop/.mcp.json", `{"mcpServers":{"a":"x"}}`, "no table"},
		{"/srv/shop/.mcp.json", `{"mcpServers":{"a":{"command":"stopgate","args":["mcp","--","x"]}}}`, ""},
		{"/srv/shop/opencode.json", `{"mcp":{"a":{"command":"x"}}}`, "unusual form"},
		{"/home/u/.codex/config.toml", "mcp_servers.a.command = \"x\"\n", ""},
	} {
		f := file(t, c.path)
		found, err := f.Servers([]byte(c.text))
		if err != nil || len(found) != 1 || !strings.Contains(found[0].Problem, c.problem) || c.problem == "" && found[0].Problem != "" {
			t.Errorf("%s: %+v, %v", c.text, found, err)
		}
		after, changed, err := f.Insert([]byte(c.text), servers.Gate{Program: program})
		if err != nil || len(changed) > 0 || string(after) != c.text {
			t.Errorf("%s: %v, %v: %s", c.text, changed, err, after)
		}
	}
	for _, text := range []string{"{", `{"mcpServers":{},"mcpServers":{}}`, "[1]", "// no comments here\n{}"} {
		if _, _, err := file(t, "/srv/shop/.mcp.json").Insert([]byte(text), servers.Gate{Program: program}); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
	if _, err := file(t, "/home/u/.codex/config.toml").Servers([]byte("a = 1\na = 2\n")); err == nil {
		t.Error("a key twice: no error")
	}
}

// Only the gate that Insert put there is taken away, also from a text that others changed since.
func TestRemoveTakesOnlyItsOwn(t *testing.T) {
	f := file(t, "/srv/shop/.mcp.json")
	text := `{"mcpServers":{"own":{"command":"stopgate","args":["mcp","--","x"]},"a":{"command":"y"},"b":{"command":"z","args":["1"]}}}`
	after, changed, err := f.Insert([]byte(text), servers.Gate{Program: program})
	if err != nil || len(changed) != 2 {
		t.Fatal(changed, err)
	}
	edited := strings.Replace(string(after), `"own"`, `"new":{"command":"n","args":[]},"own"`, 1)
	back, err := f.Remove([]byte(edited), changed)
	if want := strings.Replace(text, `"own"`, `"new":{"command":"n","args":[]},"own"`, 1); err != nil || string(back) != want {
		t.Errorf("%v: %s\nwant %s", err, back, want)
	}
	pretty := `{"mcpServers": {"b": {"command": "/usr/local/bin/stopgate", "args": [` + "\n\"mcp\",\n\"--\",\n\"z\",\n\"1\"\n" + `]}}}`
	back, err = f.Remove([]byte(pretty), changed)
	if err != nil || string(back) != `{"mcpServers": {"b": {"command": "z", "args": [`+"\n\"1\"\n"+`]}}}` {
		t.Errorf("%v: %s", err, back)
	}
	moved := strings.Replace(string(after), `"--", "y"`, `"y"`, 1) // no line of Insert any more
	if back, err = f.Remove([]byte(moved), changed); err != nil || !strings.Contains(string(back), `"mcp", "y"`) {
		t.Errorf("%v: %s", err, back)
	}
}

// The variables that move the settings of agents move their files.
func TestFilesFollowTheEnvironment(t *testing.T) {
	env := map[string]string{"CLAUDE_CONFIG_DIR": "/cc", "CODEX_HOME": "/cx", "XDG_CONFIG_HOME": "/xdg", "COPILOT_HOME": "relative"}
	var paths []string
	for _, f := range servers.Files(servers.Location{Home: "/home/u", Getenv: func(name string) string { return env[name] }}) {
		paths = append(paths, f.Path)
	}
	for _, want := range []string{"/cc/.claude.json", "/cx/config.toml", "/xdg/crush/crush.json", "/xdg/opencode/opencode.json", "/home/u/.copilot/mcp-config.json", "/home/u/.cline/data/settings/cline_mcp_settings.json"} {
		if !slices.Contains(paths, want) {
			t.Errorf("%s is not in %v", want, paths)
		}
	}
}
