package imports

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// reader is a tool of Claude Code that reads files, and writer one that changes them.
var (
	claudeReaders = []tableOfFiles{{"Read", "file_path", nil}, {"NotebookRead", "notebook_path", nil}, {"Grep", "path", nil}, {"LS", "path", nil}}
	claudeWriters = []tableOfFiles{{"Edit", "file_path", []string{"MultiEdit", "Write"}}, {"NotebookEdit", "notebook_path", nil}}
)

// tableOfFiles is a table about files: where they stand, and the further tools that it
// is about.
type tableOfFiles struct {
	tool, arg string
	also      []string
}

// members of the tools beside the file, so that a call without a definition fits.
var claudeParams = map[string][]param{
	"Read":         {{"offset", "number"}, {"limit", "number"}, {"pages", "string"}},
	"NotebookRead": {{"cell_id", "string"}},
	"Grep":         {{"pattern", "string"}, {"glob", "string"}, {"type", "string"}, {"output_mode", "string"}, {"-n", "boolean"}, {"-i", "boolean"}, {"-A", "number"}, {"-B", "number"}, {"-C", "number"}, {"head_limit", "number"}, {"multiline", "boolean"}},
	"LS":           {{"ignore", "array"}},
	"Edit":         {{"old_string", "string"}, {"new_string", "string"}, {"replace_all", "boolean"}, {"edits", "array"}, {"content", "string"}},
	"NotebookEdit": {{"cell_id", "string"}, {"cell_type", "string"}, {"edit_mode", "string"}, {"new_source", "string"}},
}

// files makes the tables of the tools for files. A tool that a rule names by itself gets
// a table of its own.
func (c *claude) files() {
	for _, f := range slices.Concat(claudeReaders, claudeWriters) {
		kind := "path!"
		if f.tool == "Grep" {
			kind = "path"
		}
		params := append([]param{{f.arg, kind}}, claudeParams[f.tool]...)
		t := c.table(f.tool, params...)
		for _, name := range f.also {
			if slices.Contains(c.bare, name) {
				c.table(name, params...)
				continue
			}
			t.also = append(t.also, name)
		}
	}
}

// each calls f for every table of a list of tools.
func (c *claude) each(list []tableOfFiles, f func(t *table, arg string)) {
	for _, l := range list {
		f(c.table(l.tool), "/"+l.arg)
		for _, name := range l.also {
			if slices.ContainsFunc(c.tables, func(t *table) bool { return t.name == name }) {
				f(c.table(name), "/"+l.arg)
			}
		}
	}
}

// globs are the globs of a rule for files; none if nothing can be said.
func (c *claude) globs(r claudeRule) []string {
	globs, exact, problem := ignored{text: r.what}.globs(r.mode == stopgate.Unattended)
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

// readRule translates Read(PATTERN). What it denies is out of reach of commands and
// edits too.
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

// editRule translates Edit(PATTERN). Who may change a file may read it.
func (c *claude) editRule(r claudeRule) {
	globs := c.globs(r)
	if len(globs) == 0 {
		return
	}
	list := claudeWriters
	outside := func(glob string) bool { return strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~") }
	if r.mode == stopgate.Unattended && slices.ContainsFunc(globs, outside) {
		list = slices.Concat(claudeReaders, claudeWriters) // the project's are free to read
	}
	c.each(list, func(t *table, arg string) {
		t.put(&rule{from: r.from, mode: r.mode, conds: []cond{{arg: arg, matcher: "glob", values: globs}}})
	})
	if r.mode != stopgate.Unattended {
		r.from.stricter("also for commands that may write such a file")
		c.table("Bash").put(&rule{from: r.from, mode: r.mode, conds: []cond{{arg: "/command", matcher: "writes", values: globs}}})
	}
}

// settingsOfTools are files that Claude Code asks about also where edits are accepted.
var settingsOfTools = []string{
	"**/.git/**", "**/.vscode/**", "**/.idea/**", "**/.husky/**", "**/.claude/**", "**/.devcontainer/**", "**/.cargo/**", "**/.yarn/**", "**/.mvn/**",
	"**/.{gitconfig,gitmodules,bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zprofile,zshenv,zlogin,zlogout,ripgreprc,mcp.json,claude.json,npmrc,yarnrc,yarnrc.yml,pypirc}",
}

// reading adds what Claude Code does by itself below the working directories.
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
