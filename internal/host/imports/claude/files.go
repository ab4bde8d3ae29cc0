package claude

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
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
var claudeParams = map[string][]draft.Param{
	"Read":         {{Name: "offset", Kind: "number"}, {Name: "limit", Kind: "number"}, {Name: "pages", Kind: "string"}},
	"NotebookRead": {{Name: "cell_id", Kind: "string"}},
	"Grep":         {{Name: "pattern", Kind: "string"}, {Name: "glob", Kind: "string"}, {Name: "type", Kind: "string"}, {Name: "output_mode", Kind: "string"}, {Name: "-n", Kind: "boolean"}, {Name: "-i", Kind: "boolean"}, {Name: "-A", Kind: "number"}, {Name: "-B", Kind: "number"}, {Name: "-C", Kind: "number"}, {Name: "head_limit", Kind: "number"}, {Name: "multiline", Kind: "boolean"}},
	"LS":           {{Name: "ignore", Kind: "array"}},
	"Edit":         {{Name: "old_string", Kind: "string"}, {Name: "new_string", Kind: "string"}, {Name: "replace_all", Kind: "boolean"}},
	"MultiEdit":    {{Name: "edits", Kind: "array"}},
	"Write":        {{Name: "content", Kind: "string"}},
	"NotebookEdit": {{Name: "cell_id", Kind: "string"}, {Name: "cell_type", Kind: "string"}, {Name: "edit_mode", Kind: "string"}, {Name: "new_source", Kind: "string"}},
}

// files creates the tables of the tools for files.
func (c *converter) files() {
	for _, f := range slices.Concat(claudeReaders, claudeWriters) {
		kind := "path!"
		if f.tool == "Grep" {
			kind = "path"
		}
		c.Table(f.tool, append([]draft.Param{{Name: f.arg, Kind: kind}}, claudeParams[f.tool]...)...)
	}
}

// each calls f for the table of every tool of a list.
func (c *converter) each(list []toolOfFiles, f func(t *draft.Table, arg string)) {
	for _, l := range list {
		f(c.Table(l.tool), "/"+l.arg)
	}
}

// globs returns the globs of a rule for files, none if it cannot be converted.
func (c *converter) globs(r claudeRule) []string {
	globs, exact, problem := draft.Ignored{Text: r.pattern}.Globs(r.mode == stopgate.Unattended)
	switch {
	case problem != "" && r.mode == stopgate.Unattended:
		r.from.LeftOut("%s", problem)
	case problem != "":
		r.from.Stricter("every file, because %s", problem)
		return []string{"**"}
	case !exact && r.mode == stopgate.Unattended:
		r.from.Stricter("only files that the pattern names by themselves, not what lies below directories that it names")
	case !exact:
		r.from.Stricter("wherever such a file is")
	}
	return globs
}

// readRule converts Read(PATTERN). Denied files are denied to commands and edits too.
func (c *converter) readRule(r claudeRule) {
	globs := c.globs(r)
	if len(globs) == 0 {
		return
	}
	if r.mode != stopgate.Unattended {
		r.from.Stricter("for every tool, and for commands that name such a file")
		c.Guards = append(c.Guards, &draft.Rule{From: r.from, Mode: r.mode, On: "path", Conds: []draft.Condition{{Matcher: "glob", Values: globs}}})
		return
	}
	c.each(claudeReaders, func(t *draft.Table, arg string) {
		t.Put(&draft.Rule{From: r.from, Mode: r.mode, Conds: []draft.Condition{{Arg: arg, Matcher: "glob", Values: globs}}})
	})
}

// editRule converts Edit(PATTERN). Files that may be changed may be read.
func (c *converter) editRule(r claudeRule) {
	globs := c.globs(r)
	if len(globs) == 0 {
		return
	}
	list := claudeWriters
	outside := func(glob string) bool { return strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~") }
	if r.mode == stopgate.Unattended && slices.ContainsFunc(globs, outside) {
		list = slices.Concat(claudeReaders, claudeWriters) // files of the project may be read
	}
	c.each(list, func(t *draft.Table, arg string) {
		t.Put(&draft.Rule{From: r.from, Mode: r.mode, Conds: []draft.Condition{{Arg: arg, Matcher: "glob", Values: globs}}})
	})
	if r.mode != stopgate.Unattended {
		r.from.Stricter("also for commands that may write such a file")
		c.Table("Bash").Put(&draft.Rule{From: r.from, Mode: r.mode, Conds: []draft.Condition{{Arg: "/command", Matcher: "writes", Values: globs}}})
	}
}

// settingsOfTools are files that Claude Code asks about even if edits are accepted.
var settingsOfTools = []string{
	"**/.git/**", "**/.vscode/**", "**/.idea/**", "**/.husky/**", "**/.claude/**", "**/.devcontainer/**", "**/.cargo/**", "**/.yarn/**", "**/.mvn/**",
	"**/.{gitconfig,gitmodules,bashrc,bash_profile,bash_login,bash_logout,profile,zshrc,zprofile,zshenv,zlogin,zlogout,ripgreprc,mcp.json,claude.json,npmrc,yarnrc,yarnrc.yml,pypirc}",
}

// reading adds the defaults of Claude Code below the working directories.
func (c *converter) reading() {
	globs := []string{draft.Inside}
	for _, dir := range c.dirs {
		globs = append(globs, draft.Join(dir, draft.Inside))
	}
	free := func(t *draft.Table, arg, comment string) {
		t.Rules = append(t.Rules, &draft.Rule{Mode: stopgate.Unattended, Rank: draft.RankDefault, Comment: comment,
			Conds: []draft.Condition{{Arg: arg, Matcher: "glob", Values: globs}}})
	}
	c.each(claudeReaders, func(t *draft.Table, arg string) {
		free(t, arg, "Claude Code reads the working directories without a question.")
		if t.Name == "Grep" {
			t.Rules = append(t.Rules, &draft.Rule{Mode: stopgate.Unattended, Rank: draft.RankDefault, Conds: []draft.Condition{{Arg: arg, Matcher: "present", Values: []string{"false"}}}})
		}
	})
	if c.mode != "acceptEdits" {
		return
	}
	c.each(claudeWriters, func(t *draft.Table, arg string) {
		t.Rules = append(t.Rules, &draft.Rule{Mode: stopgate.Ask, Rank: draft.RankDefault, Conds: []draft.Condition{{Arg: arg, Matcher: "glob", Values: settingsOfTools}}})
		free(t, arg, "defaultMode acceptEdits")
	})
}
