package imports

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Claude converts the permissions of Claude Code's settings. If only one value of a setting can
// apply, later files win; rules add up.
//
// Claude Code evaluates rules in the order deny, ask, allow, however specific they are. Bash rules
// are texts in which "*" matches any characters, and " *" and ":*" at the end also match "";
// each command of a line needs a rule. Rules for files are patterns of .gitignore; those of Read
// also apply to commands and edits, those of Edit to every tool that writes. Calls without a rule
// are asked about, except reading files of the working directories.
func Claude(files []File, o Options) (*Result, error) {
	c := &claude{draft: draft{source: "the permissions of Claude Code", command: "claude-settings", files: files, options: o, usual: true}}
	for _, f := range files {
		if err := c.read(f); err != nil {
			return nil, err
		}
	}
	c.translate()
	return c.finish()
}

type claude struct {
	draft
	entries       []claudeRule
	mode          string
	dirs          []string
	unconditional []unconditional
}

// claudeRule is one rule: a tool, and the text in parentheses.
type claudeRule struct {
	from          *Rule
	tool, pattern string
	mode          stopgate.Mode
}

func (c *claude) read(f File) error {
	root, err := jsonstream.Parse(bytes.TrimPrefix(f.Text, []byte("\ufeff")), jsonstream.Options{ObjectRoot: true, MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return &Error{File: f.Name, Message: err.Error()}
	}
	permissions, ok := root.Get("permissions")
	if !ok {
		return nil
	}
	if permissions.Kind() != jsonstream.Object {
		return &Error{f.Name, lineOf(f.Text, permissions), "permissions is no object"}
	}
	for key, v := range permissions.Members() {
		switch name := key.Text(); name {
		case "allow", "ask", "deny":
			if v.Kind() != jsonstream.Array {
				return &Error{f.Name, lineOf(f.Text, v), name + " is no list"}
			}
			for e := range v.Elements() {
				if e.Kind() != jsonstream.String {
					return &Error{f.Name, lineOf(f.Text, e), "a rule is no string"}
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

func (c *claude) rule(f File, v jsonstream.Value, decision string) {
	text := strings.TrimSpace(v.Text())
	r := claudeRule{from: c.add(f.Name, lineOf(f.Text, v), text, decision), tool: text}
	r.mode, _ = mode(decision)
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

// Ranks of rules: the host evaluates deny rules first.
const (
	rankDeny = iota
	rankAsk
	rankAllow
	rankDefault
)

func (c *claude) translate() {
	c.modes()
	c.shell("Bash", "timeout")
	c.files()
	for i := range c.entries {
		r := &c.entries[i]
		switch {
		case c.mode == "dontAsk" && r.mode == stopgate.Ask:
			r.mode = stopgate.Deny
		case c.mode == "plan" && r.mode == stopgate.Unattended:
			r.mode = stopgate.Ask
			r.from.stricter("asked in the mode plan")
		}
	}
	slices.SortStableFunc(c.entries, func(a, b claudeRule) int { return rankOf(a.mode) - rankOf(b.mode) })
	for _, r := range c.entries {
		c.entry(r)
	}
	c.reading()
	c.addUnconditional(c.unconditional)
	for _, t := range c.tables {
		if t.name != "Bash" {
			continue
		}
		for _, r := range t.rules {
			if r.permits() && len(r.conds) == 0 {
				r.ignores = []string{"/command"}
			}
		}
	}
	c.note("Claude Code runs some commands that only look (ls, cat, grep, git status, ...) without asking. Here they are asked unless a rule permits them; `stopgate init --for shell` writes a list of such commands.")
}

func (c *claude) entry(r claudeRule) {
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
		c.table("Bash").put(commandRule(r.from, r.mode, wild{text: text, tail: true, single: true}))
	case "Read":
		c.readRule(r)
	case "Edit":
		c.editRule(r)
	case "Write", "MultiEdit", "NotebookEdit":
		if r.mode == stopgate.Unattended {
			r.from.leftOut("Claude Code does not look at paths of %s rules; Edit rules hold for every tool that writes", r.tool)
			return
		}
		r.from.stricter("read as a rule of Edit, because Claude Code does not look at paths of %s rules", r.tool)
		c.editRule(r)
	case "Glob", "Grep", "LS", "NotebookRead":
		if r.mode == stopgate.Unattended {
			r.from.leftOut("Claude Code does not look at paths of %s rules; Read rules hold for every tool that reads", r.tool)
			return
		}
		r.from.stricter("read as a rule of Read, because Claude Code does not look at paths of %s rules", r.tool)
		c.readRule(r)
	case "WebFetch":
		c.fetch(r)
	case "Agent":
		c.named(r, "/subagent_type", "Task", "Agent")
	case "Skill":
		c.named(r, "/skill", "Skill")
	default:
		if r.mode == stopgate.Unattended {
			r.from.leftOut("what stands in parentheses cannot be said here")
			return
		}
		r.from.stricter("every call of the tool")
		r.pattern = ""
		c.tool(r)
	}
}

// fetch converts WebFetch(domain:NAME).
func (c *claude) fetch(r claudeRule) {
	t := c.table("WebFetch", param{"url", "url!"}, param{"prompt", "string"})
	permits := r.mode == stopgate.Unattended
	host, ok := strings.CutPrefix(r.pattern, "domain:")
	host = strings.ToLower(host)
	below, star := strings.CutPrefix(host, "*.")
	if !ok || !isHost(below) {
		if permits {
			r.from.leftOut("it is no domain:NAME")
			return
		}
		r.from.stricter("every address")
		t.put(&rule{from: r.from, mode: r.mode})
		return
	}
	values := []string{host}
	if !permits && !star {
		r.from.stricter("also hosts below it")
		values = append(values, "*."+host)
	} else if !permits {
		values = append(values, below)
	}
	t.put(&rule{from: r.from, mode: r.mode, conds: []cond{{arg: "/url", matcher: "host", values: values}}})
}

// named converts a rule on the name in an argument: Agent(Explore), Skill(deploy *).
func (c *claude) named(r claudeRule, arg string, tools ...string) {
	name, _, rest := strings.Cut(r.pattern, " ")
	permits := r.mode == stopgate.Unattended
	for _, tool := range tools {
		t := c.table(tool, param{strings.TrimPrefix(arg, "/"), "string"})
		one := &rule{from: r.from, mode: r.mode}
		switch {
		case strings.Contains(name, "*") || rest && permits && strings.TrimSpace(r.pattern) != name+" *":
			if permits {
				r.from.leftOut("what stands in parentheses cannot be said here")
				return
			}
			r.from.stricter("every call of the tool")
		default:
			one.conds = []cond{{arg: arg, matcher: "const", values: []string{name}}}
		}
		t.put(one)
	}
}

// tool converts a rule on all calls of a tool, or on the tools of a server.
func (c *claude) tool(r claudeRule) {
	names := []string{r.tool}
	switch {
	case r.tool == "Agent":
		names = []string{"Agent", "Task"}
	case r.mode == stopgate.Unattended:
	case r.tool == "Read":
		names = []string{"Read", "NotebookRead", "Glob", "Grep", "LS"}
		r.from.stricter("for every tool that reads files")
	case r.tool == "Edit":
		r.from.stricter("for every tool that writes files")
		names = []string{"Edit", "MultiEdit", "Write", "NotebookEdit"}
	}
	for _, name := range names {
		canonical, ok := c.canonical(r, name)
		if !ok {
			return
		}
		c.unconditional = append(c.unconditional, unconditional{canonical, &rule{from: r.from, mode: r.mode, rank: rankOf(r.mode)}})
	}
}

// canonical returns the name in policies of the tools of a rule.
func (c *claude) canonical(r claudeRule, name string) (string, bool) {
	permits := r.mode == stopgate.Unattended
	if rest, ok := strings.CutPrefix(name, "mcp__"); ok {
		server, tool, both := strings.Cut(rest, "__")
		if !both {
			tool = "*"
		}
		if strings.Contains(server, "*") {
			if permits {
				r.from.leftOut("Claude Code passes over it: the server has to be named")
				return "", false
			}
			r.from.stricter("every tool of every server")
			return ofServers, true
		}
		name = server + "__" + tool
	} else if permits && strings.Contains(name, "*") {
		r.from.leftOut("Claude Code passes over it: a tool has to be named")
		return "", false
	}
	folded, exact, ok := fold(name, permits)
	if !ok {
		r.from.leftOut("the name has a \"*\" that is not at its end")
		return "", false
	}
	if !exact {
		r.from.stricter("every tool whose name begins with %s", strings.TrimSuffix(folded, "*"))
	}
	return folded, true
}

// modes converts defaultMode and the directories.
func (c *claude) modes() {
	switch c.mode {
	case "", "default":
	case "acceptEdits":
		c.note("defaultMode acceptEdits: edits below the working directories run without a question, except for the settings of tools; commands that change files are asked.")
	case "dontAsk":
		c.closed = true
		c.note("defaultMode dontAsk: what Claude Code would ask is denied.")
	case "plan":
		c.note("defaultMode plan: nothing but reading runs without a question.")
	default:
		c.note("defaultMode " + c.mode + " is not translated: what no rule permits is asked.")
	}
	for i, dir := range c.dirs {
		if !filepath.IsAbs(dir) && !strings.HasPrefix(dir, "~/") {
			dir = filepath.Join(c.options.Root, dir)
		}
		c.dirs[i] = strings.TrimSuffix(filepath.ToSlash(filepath.Clean(dir)), "/")
	}
}
