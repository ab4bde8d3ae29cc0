// Package claude converts the permissions in the settings of Claude Code; see package imports.
package claude

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
	"github.com/stopgate/stopgate/jsonstream"
)

// Convert converts the permissions of Claude Code's settings. If only one value of a setting can
// apply, later files win; rules add up.
//
// Claude Code evaluates rules in the order deny, ask, allow, however specific they are. Bash rules
// are texts in which "*" matches any characters, and " *" and ":*" at the end also match "";
// each command of a line needs a rule. Rules for files are patterns of .gitignore; those of Read
// also apply to commands and edits, those of Edit to every tool that writes. Calls without a rule
// are asked about, except reading files of the working directories.
func Convert(files []draft.File, o draft.Options) (*draft.Result, error) {
	c := &converter{Draft: draft.Draft{Source: "the permissions of Claude Code", Command: "claude-settings", Files: files, Options: o, Usual: true}}
	for _, f := range files {
		if err := c.read(f); err != nil {
			return nil, err
		}
	}
	c.translate()
	return c.Finish()
}

type converter struct {
	draft.Draft
	entries       []claudeRule
	mode          string
	dirs          []string
	unconditional []draft.Unconditional
}

// claudeRule is one rule: a tool, and the text in parentheses.
type claudeRule struct {
	from          *draft.SourceRule
	tool, pattern string
	mode          stopgate.Mode
}

func (c *converter) read(f draft.File) error {
	root, err := jsonstream.Parse(bytes.TrimPrefix(f.Text, []byte("\ufeff")), jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return &draft.Error{File: f.Name, Message: err.Error()}
	}
	permissions, ok := root.Get("permissions")
	if !ok {
		return nil
	}
	if permissions.Kind() != jsonstream.Object {
		return &draft.Error{File: f.Name, Line: draft.LineOf(f.Text, permissions), Message: "permissions is no object"}
	}
	for key, v := range permissions.Members() {
		switch name := key.Text(); name {
		case "allow", "ask", "deny":
			if v.Kind() != jsonstream.Array {
				return &draft.Error{File: f.Name, Line: draft.LineOf(f.Text, v), Message: name + " is no list"}
			}
			for e := range v.Elements() {
				if e.Kind() != jsonstream.String {
					return &draft.Error{File: f.Name, Line: draft.LineOf(f.Text, e), Message: "a rule is no string"}
				}
				c.rule(f, e, name)
			}
		case "defaultMode":
			c.mode = v.Text()
		case "additionalDirectories":
			for e := range v.Elements() {
				c.dirs = append(c.dirs, e.Text())
			}
		}
	}
	return nil
}

func (c *converter) rule(f draft.File, v jsonstream.Value, decision string) {
	text := strings.TrimSpace(v.Text())
	r := claudeRule{from: c.Add(f.Name, draft.LineOf(f.Text, v), text, decision), tool: text}
	r.mode, _ = draft.Mode(decision)
	if i := strings.IndexByte(text, '('); i > 0 && strings.HasSuffix(text, ")") {
		r.tool, r.pattern = text[:i], strings.TrimSpace(text[i+1:len(text)-1])
	}
	if r.pattern == "*" {
		r.pattern = ""
	}
	if r.tool == "Task" && !strings.Contains(text, "*") {
		r.tool = "Agent"
	}
	c.entries = append(c.entries, r)
}

func (c *converter) translate() {
	c.modes()
	c.Shell("Bash", "timeout")
	c.files()
	for i := range c.entries {
		r := &c.entries[i]
		switch {
		case c.mode == "dontAsk" && r.mode == stopgate.Ask:
			r.mode = stopgate.Deny
		case c.mode == "plan" && r.mode == stopgate.Unattended:
			r.mode = stopgate.Ask
			r.from.Stricter("asked in the mode plan")
		}
	}
	slices.SortStableFunc(c.entries, func(a, b claudeRule) int { return draft.RankOf(a.mode) - draft.RankOf(b.mode) })
	for _, r := range c.entries {
		c.entry(r)
	}
	c.reading()
	c.AddUnconditional(c.unconditional)
	for _, t := range c.Tables {
		if t.Name != "Bash" {
			continue
		}
		for _, r := range t.Rules {
			if r.Permits() && len(r.Conds) == 0 {
				r.Ignores = []string{"/command"}
			}
		}
	}
	c.Note("Claude Code runs some commands that only look (ls, cat, grep, git status, ...) without asking. Here they are asked unless a rule permits them; `stopgate init --for shell` writes a list of such commands.")
}

func (c *converter) entry(r claudeRule) {
	if r.pattern == "" {
		c.tool(r)
		return
	}
	switch r.tool {
	case "Bash":
		text := r.pattern
		if prefix, ok := strings.CutSuffix(text, ":*"); ok {
			text = prefix + " *"
		}
		c.Table("Bash").Put(draft.CommandRule(r.from, r.mode, draft.Wild{Text: text, Tail: true, Single: true}))
	case "Read":
		c.readRule(r)
	case "Edit":
		c.editRule(r)
	case "Write", "MultiEdit", "NotebookEdit":
		if r.mode == stopgate.Unattended {
			r.from.LeftOut("Claude Code does not look at paths of %s rules; Edit rules hold for every tool that writes", r.tool)
			return
		}
		r.from.Stricter("read as a rule of Edit, because Claude Code does not look at paths of %s rules", r.tool)
		c.editRule(r)
	case "Glob", "Grep", "LS", "NotebookRead":
		if r.mode == stopgate.Unattended {
			r.from.LeftOut("Claude Code does not look at paths of %s rules; Read rules hold for every tool that reads", r.tool)
			return
		}
		r.from.Stricter("read as a rule of Read, because Claude Code does not look at paths of %s rules", r.tool)
		c.readRule(r)
	case "WebFetch":
		c.fetch(r)
	case "Agent":
		c.named(r, "/subagent_type", "Task", "Agent")
	case "Skill":
		c.named(r, "/skill", "Skill")
	default:
		if r.mode == stopgate.Unattended {
			r.from.LeftOut("what stands in parentheses cannot be said here")
			return
		}
		r.from.Stricter("every call of the tool")
		r.pattern = ""
		c.tool(r)
	}
}

// fetch converts WebFetch(domain:NAME).
func (c *converter) fetch(r claudeRule) {
	t := c.Table("WebFetch", draft.Param{Name: "url", Kind: "url!"}, draft.Param{Name: "prompt", Kind: "string"})
	permits := r.mode == stopgate.Unattended
	host, ok := strings.CutPrefix(r.pattern, "domain:")
	host = strings.ToLower(host)
	below, star := strings.CutPrefix(host, "*.")
	if !ok || !draft.IsHost(below) {
		if permits {
			r.from.LeftOut("it is no domain:NAME")
			return
		}
		r.from.Stricter("every address")
		t.Put(&draft.Rule{From: r.from, Mode: r.mode})
		return
	}
	values := []string{host}
	if !permits && !star {
		r.from.Stricter("also hosts below it")
		values = append(values, "*."+host)
	} else if !permits {
		values = append(values, below)
	}
	t.Put(&draft.Rule{From: r.from, Mode: r.mode, Conds: []draft.Condition{{Arg: "/url", Matcher: "host", Values: values}}})
}

// named converts a rule on the name in an argument: Agent(Explore), Skill(deploy *).
func (c *converter) named(r claudeRule, arg string, tools ...string) {
	name, _, rest := strings.Cut(r.pattern, " ")
	permits := r.mode == stopgate.Unattended
	for _, tool := range tools {
		t := c.Table(tool, draft.Param{Name: strings.TrimPrefix(arg, "/"), Kind: "string"})
		one := &draft.Rule{From: r.from, Mode: r.mode}
		switch {
		case strings.Contains(name, "*") || rest && permits && strings.TrimSpace(r.pattern) != name+" *":
			if permits {
				r.from.LeftOut("what stands in parentheses cannot be said here")
				return
			}
			r.from.Stricter("every call of the tool")
		default:
			one.Conds = []draft.Condition{{Arg: arg, Matcher: "const", Values: []string{name}}}
		}
		t.Put(one)
	}
}

// tool converts a rule on all calls of a tool, or on the tools of a server.
func (c *converter) tool(r claudeRule) {
	names := []string{r.tool}
	switch {
	case r.tool == "Agent":
		names = []string{"Agent", "Task"}
	case r.mode == stopgate.Unattended:
	case r.tool == "Read":
		names = []string{"Read", "NotebookRead", "Glob", "Grep", "LS"}
		r.from.Stricter("for every tool that reads files")
	case r.tool == "Edit":
		r.from.Stricter("for every tool that writes files")
		names = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}
	}
	for _, name := range names {
		canonical, ok := c.canonical(r, name)
		if !ok {
			return
		}
		c.unconditional = append(c.unconditional, draft.Unconditional{Name: canonical, Rule: &draft.Rule{From: r.from, Mode: r.mode, Rank: draft.RankOf(r.mode)}})
	}
}

// canonical returns the name in policies of the tools of a rule.
func (c *converter) canonical(r claudeRule, name string) (string, bool) {
	permits := r.mode == stopgate.Unattended
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		server, tool, both := strings.Cut(rest, "__")
		if !both {
			tool = "*"
		}
		if strings.Contains(server, "*") {
			if permits {
				r.from.LeftOut("Claude Code passes over it: the server has to be named")
				return "", false
			}
			r.from.Stricter("every tool of every server")
			return draft.OfServers, true
		}
		name = server + "__" + tool
	} else if permits && strings.Contains(name, "*") {
		r.from.LeftOut("Claude Code passes over it: a tool has to be named")
		return "", false
	}
	folded, exact, ok := draft.Fold(name, permits)
	if !ok {
		r.from.LeftOut("the name has a \"*\" that is not at its end")
		return "", false
	}
	if !exact {
		r.from.Stricter("every tool whose name begins with %s", strings.TrimSuffix(folded, "*"))
	}
	return folded, true
}

// modes converts defaultMode and the directories.
func (c *converter) modes() {
	switch c.mode {
	case "", "default":
	case "acceptEdits":
		c.Note("defaultMode acceptEdits: edits below the working directories run without a question, except for the settings of tools; commands that change files are asked.")
	case "dontAsk":
		c.Closed = true
		c.Note("defaultMode dontAsk: what Claude Code would ask is denied.")
	case "plan":
		c.Note("defaultMode plan: nothing but reading runs without a question.")
	default:
		c.Note("defaultMode " + c.mode + " is not translated: what no rule permits is asked.")
	}
	for i, dir := range c.dirs {
		if !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/") {
			dir = filepath.Join(c.Options.Root, dir)
		}
		c.dirs[i] = strings.TrimSuffix(filepath.ToSlash(filepath.Clean(dir)), "/")
	}
}
