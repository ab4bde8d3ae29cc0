package imports

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// permission is one of opencode's permissions: its tools, and the argument that its patterns match.
type permission struct {
	name  string
	tools []string
	arg   string
	kind  string // of the argument
	other []param
}

var opencodePermissions = []permission{
	{"bash", []string{"bash"}, "/command", "command", nil},
	{"read", []string{"read"}, "/filePath", "path", []param{{"offset", "number"}, {"limit", "number"}}},
	{"edit", []string{"edit"}, "/filePath", "path", []param{{"oldString", "string"}, {"newString", "string"}, {"replaceAll", "boolean"}}},
	{"edit", []string{"write"}, "/filePath", "path", []param{{"content", "string"}}},
	{"edit", []string{"multiedit"}, "/filePath", "path", []param{{"edits", "array"}}},
	{"edit", []string{"apply_patch", "patch"}, "/patchText", "patch", nil},
	{"list", []string{"list", "ls"}, "/path", "path", []param{{"ignore", "array"}}},
	{"glob", []string{"glob"}, "/pattern", "text", []param{{"path", "path"}}},
	{"grep", []string{"grep"}, "/pattern", "text", []param{{"path", "path"}, {"include", "string"}}},
	{"webfetch", []string{"webfetch"}, "/url", "url", []param{{"format", "string"}, {"timeout", "number"}}},
	{"task", []string{"task"}, "/subagent_type", "text", []param{{"description", "string"}, {"prompt", "string"}}},
	{"skill", []string{"skill"}, "/name", "text", nil},
	{"websearch", []string{"websearch"}, "/query", "text", nil},
	{"codesearch", []string{"codesearch"}, "/query", "text", nil},
	{"todowrite", []string{"todowrite"}, "", "", []param{{"todos", "array"}}},
	{"todoread", []string{"todoread"}, "", "", nil},
	{"lsp", []string{"lsp"}, "", "", nil},
}

// tableOf returns the table of a permission's tools.
func (c *opencode) tableOf(p permission) *table {
	if p.tools[0] == "bash" {
		return c.shell("bash", "timeout")
	}
	var params []param
	if p.arg != "" {
		kind := p.kind
		if kind == "text" {
			kind = "string"
		}
		params = append(params, param{strings.TrimPrefix(p.arg, "/"), kind})
	}
	t := c.table(p.tools[0], append(params, p.other...)...)
	t.also = p.tools[1:]
	return t
}

// wildcard reports whether opencode's wildcards match a text.
func wildcard(pattern, text string) bool {
	switch {
	case pattern == "":
		return text == ""
	case pattern[0] == '*':
		return wildcard(pattern[1:], text) || text != "" && wildcard(pattern, text[1:])
	}
	return text != "" && (pattern[0] == '?' || pattern[0] == text[0]) && wildcard(pattern[1:], text[1:])
}

func (c *opencode) translate() {
	c.outside = stopgate.Ask
	// Rules for one agent come last, and so take precedence.
	slices.SortStableFunc(c.list, func(a, b opencodeRule) int { return agentRank(a) - agentRank(b) })
	slices.Reverse(c.list)
	var everywhere []unconditional
	for i, r := range c.list {
		everywhere = append(everywhere, c.rule(i, r)...)
	}
	for i, r := range opencodeDefaults {
		for _, p := range c.permissions {
			if p.name == r.key && slices.ContainsFunc(c.tables, func(t *table) bool { return t.name == p.tools[0] }) || r.key == "read" && p.name == "read" {
				t := c.tableOf(p)
				for _, one := range c.convert(opencodeRule{key: r.key, pattern: r.pattern, mode: r.mode, from: &Rule{}}, p) {
					one.from, one.rank, one.comment = nil, len(c.list)+i, c.command+" does so by itself."
					t.rules = append(t.rules, one)
				}
			}
		}
	}
	c.addUnconditional(everywhere)
	c.away()
	c.note(c.command + " runs what no rule names; here it is asked. A rule for \"*\" in its settings says otherwise.")
}

func agentRank(r opencodeRule) int {
	if r.agent != "" {
		return 1
	}
	return 0
}

// opencodeDefaults are the defaults of opencode, the most important first.
var opencodeDefaults = []opencodeRule{
	{key: "read", pattern: "*.env", mode: stopgate.Deny},
	{key: "read", pattern: "*.env.*", mode: stopgate.Deny},
	{key: "read", pattern: "*", mode: stopgate.Unattended},
}

// rule converts one rule for every permission that it applies to, and returns rules on tools
// without one.
func (c *opencode) rule(rank int, r opencodeRule) (everywhere []unconditional) {
	if r.agent != "" && r.mode == stopgate.Unattended {
		r.from.leftOut("it permits for one agent")
		return nil
	}
	switch r.key {
	case "external_directory":
		c.external(r)
		return nil
	case "doom_loop", "question", "plan_enter", "plan_exit":
		r.from.leftOut("it is about no tool")
		return nil
	}
	known := false
	for _, p := range c.permissions {
		if !wildcard(r.key, p.name) {
			continue
		}
		known = true
		t := c.tableOf(p)
		var rules []*rule
		if c.ahead != nil && r.mode == stopgate.Unattended {
			for _, before := range c.ahead(r, p) {
				before.from = &Rule{}
				for _, one := range c.convert(before, p) {
					one.from, one.comment = nil, c.command+" does so by itself."
					rules = append(rules, one)
				}
			}
		}
		for _, one := range append(rules, c.convert(r, p)...) {
			one.rank = rank
			if r.agent != "" {
				one.when = fmt.Sprintf("{ agent = %q }", r.agent)
			}
			t.rules = append(t.rules, one)
		}
	}
	if known && !strings.Contains(r.key, "*") && !strings.Contains(r.key, "?") {
		return nil
	}
	if r.pattern != "*" || strings.Contains(r.key, "?") || r.agent != "" {
		if r.mode == stopgate.Unattended {
			r.from.stricter("not for the tools of servers")
			return nil
		}
		r.from.stricter("every call of a tool of that name")
	}
	name, exact, ok := fold(strings.ReplaceAll(r.key, "?", "*"), r.mode == stopgate.Unattended)
	if !ok {
		r.from.leftOut("the name has a \"*\" that is not at its end")
		return nil
	}
	if !exact {
		r.from.stricter("for every tool whose name begins with %s", strings.TrimSuffix(name, "*"))
	}
	return []unconditional{{name, &rule{from: r.from, mode: r.mode, rank: rank, wide: !exact || r.pattern != "*"}}}
}

// convert returns the rules of the policy for one of opencode's and one permission.
func (c *opencode) convert(r opencodeRule, p permission) []*rule {
	permits := r.mode == stopgate.Unattended
	one := &rule{from: r.from, mode: r.mode}
	w := wild{text: strings.ReplaceAll(home(r.pattern), `\`, "/"), one: true, tail: true}
	sure := w.pattern()
	switch {
	case r.pattern == "*" && permits && (p.kind == "path" || p.kind == "patch"):
		one.conds = []cond{{arg: p.arg, matcher: "glob", values: []string{inside}, sure: "(?!/|~|\\.\\.(?:/|$))[^]*"}}
		return []*rule{one}
	case r.pattern == "*":
		if permits {
			one.ignores = otherPaths(append([]param{{strings.TrimPrefix(p.arg, "/"), p.kind}}, p.other...), "")
		}
		return []*rule{one}
	case p.kind == "command":
		if one := commandRule(r.from, r.mode, wild{text: r.pattern, one: true, tail: true}); one != nil {
			return []*rule{one}
		}
		return nil
	case p.arg == "":
		if permits {
			r.from.leftOut("the tool has nothing to compare with")
			return nil
		}
		r.from.stricter("every call of the tool")
		one.wide = true
		return []*rule{one}
	case !permits:
		one.conds = []cond{{arg: p.arg, matcher: "pattern", values: []string{"^" + sure + "$"}, sure: sure}}
		if p.kind != "text" {
			r.from.stricter("also where another spelling of it is meant")
		}
		return []*rule{one}
	case p.kind == "url":
		scheme, rest, _ := strings.Cut(r.pattern, "://")
		host, tail, _ := strings.Cut(rest, "/")
		below, _ := strings.CutPrefix(host, "*.")
		if (scheme != "https" && scheme != "http") || !isHost(below) || tail != "*" && tail != "**" {
			r.from.leftOut("only https://HOST/* can be said")
			return nil
		}
		one.conds = []cond{{arg: p.arg, matcher: "host", values: []string{host}}, {arg: p.arg, matcher: "scheme", values: []string{scheme}}}
		return []*rule{one}
	case p.kind == "text" && !w.has():
		one.conds = []cond{{arg: p.arg, matcher: "const", values: []string{r.pattern}, sure: sure}}
		return []*rule{one}
	case p.kind == "text":
		r.from.leftOut("a part of a text that permits")
		return nil
	}
	glob, exact, ok := w.glob()
	absolute := strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~")
	switch {
	case !ok:
		r.from.leftOut("it is no path that can be said")
		return nil
	case absolute:
		r.from.leftOut("what is outside of the project is asked")
		return nil
	case p.name == "read" && !strings.HasPrefix(r.pattern, "*"):
		r.from.leftOut("opencode compares it with the absolute path")
		return nil
	case !exact:
		r.from.stricter(`"*" does not stand for "/" inside of a name`)
	}
	one.conds = []cond{{arg: p.arg, matcher: "glob", values: []string{glob}, sure: sure}}
	return []*rule{one}
}

// home normalises the home directory.
func home(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "$HOME"); ok {
		return "~" + rest
	}
	return pattern
}

// external records the rule for files outside of the project.
func (c *opencode) external(r opencodeRule) {
	switch {
	case r.mode == stopgate.Unattended:
		r.from.leftOut("what is outside of the project is asked, whatever else permits it")
	case r.pattern == "*" && r.mode == stopgate.Deny:
		c.outside = stopgate.Deny
	case r.mode == stopgate.Deny:
		p := wild{text: home(r.pattern), one: true, tail: true}.pattern()
		r.from.stricter("for every tool")
		c.guards = append(c.guards, &rule{from: r.from, mode: r.mode, on: "path", conds: []cond{{matcher: "pattern", values: []string{"^" + p + "(?:/[^]*)?$"}}}})
	}
}

// away adds the guard for files outside of the project.
func (c *opencode) away() {
	root := strings.TrimSuffix(c.options.Root, "/")
	p := `^(?:/|~|\.\.(?:/|$))`
	if root != "" {
		p = "^(?!" + quoteMeta(root) + `(?:/|$))(?:/|~|\.\.(?:/|$))`
	}
	c.guards = append(c.guards, &rule{mode: c.outside, on: "path", comment: "external_directory: what is outside of the project.",
		conds: []cond{{matcher: "pattern", values: []string{p}}}})
}
