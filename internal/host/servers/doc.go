// Package servers finds the MCP servers in the settings of coding agents, puts the gate before those that
// are started by a command, and takes it away again without changing any other byte:
//
//	for _, f := range servers.Files(servers.Location{Home: home, Dir: dir}) {
//		found, err := f.Servers(text)
//		after, changed, err := f.Insert(text, servers.Gate{Program: "/usr/bin/stopgate"})
//		before, err := f.Remove(after, changed)
//	}
//
// It does no I/O: the caller reads and writes the files. The formats are those that the documentation of each agent
// describes. A server with an address is found and not changed: its agent signs in there, which the gate cannot.
//
// Insert returns only texts that Remove turns back into the bytes that were there, and that are read as the same
// settings with other commands; if either does not hold, it is an error and the file stays as it is.
package servers

import (
	"path/filepath"
	"strings"
)

// Location describes where settings are.
type Location struct {
	Home string // the home directory
	Dir  string // the root of the project
	// Getenv reads the environment of the agents, for the variables that move their settings; nil for none.
	Getenv func(string) string
}

// File is a settings file that may have MCP servers.
type File struct {
	Host string // the agent, as package hook names it
	Path string
	// Shared is set for a file of the project, which others may have too.
	Shared bool

	tables   [][]string // paths of the tables of servers
	toml     bool
	words    bool // `command` is the array of all words
	comments bool
}

// Server is one server of a file.
type Server struct {
	Table   string   `json:"table"` // the path of its table, for [File.Remove]
	Name    string   `json:"name"`
	Command []string `json:"command,omitempty"`
	URL     string   `json:"url,omitempty"`
	Gated   bool     `json:"gated"` // it is started by stopgate mcp
	// Problem is the reason for which the gate cannot be put before it, "" for none.
	Problem string `json:"problem,omitempty"`
}

// Files returns the settings files of all agents that are known, existing or not.
func Files(at Location) []File {
	var list []File
	user := func(host, variable, replaces, path string, f File) {
		f.Host, f.Path = host, filepath.Join(at.Home, filepath.FromSlash(path))
		if variable != "" && at.Getenv != nil {
			if dir := at.Getenv(variable); filepath.IsAbs(dir) {
				f.Path = filepath.Join(dir, filepath.FromSlash(strings.TrimPrefix(path, replaces)))
			}
		}
		if at.Home != "" {
			list = append(list, f)
		}
	}
	project := func(host, path string, f File) {
		f.Host, f.Path, f.Shared = host, filepath.Join(at.Dir, filepath.FromSlash(path)), true
		if at.Dir != "" {
			list = append(list, f)
		}
	}
	mcpServers := File{tables: [][]string{{"mcpServers"}}}
	commented := File{tables: [][]string{{"mcpServers"}}, comments: true}
	codex := File{tables: [][]string{{"mcp_servers"}}, toml: true}
	mcp := File{tables: [][]string{{"mcp"}}, comments: true}
	words := File{tables: [][]string{{"mcp"}}, comments: true, words: true}

	user("claude-code", "CLAUDE_CONFIG_DIR", "", ".claude.json", File{tables: [][]string{{"mcpServers"}, {"projects", at.Dir, "mcpServers"}}})
	project("claude-code", ".mcp.json", mcpServers)
	user("codex", "CODEX_HOME", ".codex", ".codex/config.toml", codex)
	project("codex", ".codex/config.toml", codex)
	user("gemini-cli", "GEMINI_CLI_HOME", "", ".gemini/settings.json", commented)
	project("gemini-cli", ".gemini/settings.json", commented)
	user("copilot-cli", "COPILOT_HOME", ".copilot", ".copilot/mcp-config.json", mcpServers)
	project("copilot-cli", ".github/mcp.json", mcpServers)
	project("vscode", ".vscode/mcp.json", File{tables: [][]string{{"servers"}}, comments: true})
	user("cursor", "", "", ".cursor/mcp.json", commented)
	project("cursor", ".cursor/mcp.json", commented)
	user("qwen-code", "QWEN_HOME", ".qwen", ".qwen/settings.json", commented)
	project("qwen-code", ".qwen/settings.json", commented)
	user("crush", "XDG_CONFIG_HOME", ".config", ".config/crush/crush.json", mcp)
	for _, name := range []string{"crush.json", ".crush.json"} {
		project("crush", name, mcp)
	}
	for _, agent := range []struct{ host, name, dir string }{{"opencode", "opencode", ".opencode"}, {"kilo", "kilo", ".kilo"}} {
		for _, ext := range []string{".json", ".jsonc"} {
			user(agent.host, "XDG_CONFIG_HOME", ".config", ".config/"+agent.name+"/"+agent.name+ext, words)
			project(agent.host, agent.name+ext, words)
			project(agent.host, agent.dir+"/"+agent.name+ext, words)
		}
	}
	project("kilo", ".kilocode/mcp.json", mcpServers)
	user("cline", "", "", ".cline/data/settings/cline_mcp_settings.json", mcpServers)
	return list
}
