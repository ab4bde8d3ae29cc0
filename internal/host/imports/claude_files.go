package imports

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// claudeReaders are the tools of Claude Code that read files, claudeWriters those that change
// them. Each has a table of its own: a table for several tools would declare parameters that
// some of them do not have, and no call of these would fit it.
var (
	claudeReaders = []toolOfFiles{{"Read", "file_path"}, {"NotebookRead", "notebook_path"}, {"Grep", "path"}, {"LS", "path"}}
	claudeWriters = []toolOfFiles{{"Edit", "file_path"}, {"MultiEdit", "file_path"}, {"Write", "file_path"}, {"NotebookEdit", "notebook_path"}}
)

// toolOfFiles is a tool and its parameter that names a file.
type toolOfFiles struct{ tool, arg string }

// claudeParams are the further parameters of the tools, so that a call without a definition fits.
var claudeParams = map[string][]param{
	"Read":         {{"offset", "number"}, {"limit", "number"}, {"pages", "string"}},
	"NotebookRead": {{"cell_id", "string"}},
	"Grep":         {{"pattern", "string"}, {"glob", "string"}, {"type", "string"}, {"output_mode", "string"}, {"-n", "boolean"}, {"-i", "boolean"}, {"-A", "number"}, {"-B", "number"}, {"-C", "number"}, {"head_limit", "number"}, {"multiline", "boolean"}},
	"LS":           {{"ignore", "array"}},
	"Edit":         {{"old_string", "string"}, {"new_string", "string"}, {"replace_all", "boolean"}},
	"MultiEdit":    {{"edits", "array"}},
	"Write":        {{"content", "string"}},
	"NotebookEdit": {{"cell_id", "string"}, {"cell_type", "string"}, {"edit_mode", "string"}, {"new_source", "string"}},
}

// files creates the tables of the tools for files.
func (c *claude) files() {
	for _, f := range slices.Concat(claudeReaders, claudeWriters) {
		kind := "path!"
		if f.tool == "Grep" {
			kind = "path"
		}
		c.table(f.tool, append([]param{{f.arg, kind}}, claudeParams[f.tool]...)...)
	}
}

// each calls f for the table of every tool of a list.
func (c *claude) each(list []toolOfFiles, f func(t *table, arg string)) {
	for _, l := range list {
		f(c.table(l.tool), "/"+l.arg)
	}
}

// globs returns the globs of a rule for files, none if it cannot be converted.
func (c *claude) globs(r claudeRule) []string {
	globs, exact, problem := ignored{text: r.pattern}.globs(r.mode == stopgate.Unattended)
	switch {
	case problem != "" && r.mode == stopgate.Unattended:
		r.from.leftOut("%s", problem)
	case problem != "":
		r.from.stricter("every file, because %s", problem)
		return []string{"**"}
	case !exact && r.mode == stopgate.Unattended:
		r.from.stricter("only files that the pattern names by themselves, not what lies below directories that it names")
	case !exact:
		r.from.stricter("wherever such a file is")
	}
	return globs
}

// readRule converts Read(PATTERN). Denied files are denied to commands and edits too.
func (c *claude) readRule(r claudeRule) {
	globs := c.globs(r)
	if len(globs) == 0 {
		return
	}
	if r.mode != stopgate.Unattended {
		r.from.stricter("for every tool, and for commands that name such a file")
		c.guards = append(c.guards, &rule{from: r.from, mode: r.mode, on: "path", conds: []cond{{matcher: "glob", values: globs}}})
		return
	}
	c.each(claudeReaders, func(t *table, arg string) {
		t.put(&rule{from: r.from, mode: r.mode, conds: []cond{{arg: arg, matcher: "glob", values: globs}}})
	})
}

// editRule converts Edit(PATTERN). Files that may be changed may be read.
func (c *claude) editRule(r claudeRule) {
	globs := c.globs(r)
	if len(globs) == 0 {
		return
	}
	list := claudeWriters
	outside := func(glob string) bool { return strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~") }
	if r.mode == stopgate.Unattended && slices.ContainsFunc(globs, outside) {
		list = slices.Concat(claudeReaders, claudeWriters) // files of the project may be read
	}
	c.each(list, func(t *table, arg string) {
		t.put(&rule{from: r.from, mode: r.mode, conds: []cond{{arg: arg, matcher: "glob", values: globs}}})
	})
	if r.mode != stopgate.Unattended {
		r.from.stricter("also for commands that may write such a file")
		c.table("Bash").put(&rule{from: r.from, mode: r.mode, conds: []cond{{arg: "/command", matcher: "writes", values: globs}}})
	}
}

// settingsOfTools are files that Claude Code asks about even if edits are accepted.
var settingsOfTools = []string{
	"**/.git/**", "**/.vscode/**", "**/.idea/**", "**/.husky/**", "**/.claude/**", "**/.devcontainer/**", "**/.cargo/**", "**/.yarn/**", "**/.mvn/**",
	"**/.{gitconfig,gitmodules,bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zprofile,zshenv,zlogin,zlogout,ripgreprc,mcp.json,claude.json,npmrc,yarnrc,yarnrc.yml,pypirc}",
}

// reading adds the defaults of Claude Code below the working directories.
func (c *claude) reading() {
	globs := []string{inside}
	for _, dir := range c.dirs {
		globs = append(globs, join(dir, inside))
	}
	free := func(t *table, arg, comment string) {
		t.rules = append(t.rules, &rule{mode: stopgate.Unattended, rank: rankDefault, comment: comment,
			conds: []cond{{arg: arg, matcher: "glob", values: globs}}})
	}
	c.each(claudeReaders, func(t *table, arg string) {
		free(t, arg, "Claude Code reads the working directories without a question.")
		if t.name == "Grep" {
			t.rules = append(t.rules, &rule{mode: stopgate.Unattended, rank: rankDefault, conds: []cond{{arg: arg, matcher: "present", values: []string{"false"}}}})
		}
	})
	if c.mode != "acceptEdits" {
		return
	}
	c.each(claudeWriters, func(t *table, arg string) {
		t.rules = append(t.rules, &rule{mode: stopgate.Ask, rank: rankDefault, conds: []cond{{arg: arg, matcher: "glob", values: settingsOfTools}}})
		free(t, arg, "defaultMode acceptEdits")
	})
}
