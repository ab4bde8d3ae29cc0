package opencode

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
)

// permission is one of opencode's permissions: its tools, and the argument that its patterns match.
type permission struct {
	name  string
	tools []string
	arg   string
	kind  string // of the argument
	other []draft.Param
}

var opencodePermissions = []permission{
	{"bash", []string{"bash"}, "/command", "command", nil},
	{"read", []string{"read"}, "/filePath", "path", []draft.Param{{Name: "offset", Kind: "number"}, {Name: "limit", Kind: "number"}}},
	{"edit", []string{"edit"}, "/filePath", "path", []draft.Param{{Name: "oldString", Kind: "string"}, {Name: "newString", Kind: "string"}, {Name: "replaceAll", Kind: "boolean"}}},
	{"edit", []string{"write"}, "/filePath", "path", []draft.Param{{Name: "content", Kind: "string"}}},
	{"edit", []string{"multiedit"}, "/filePath", "path", []draft.Param{{Name: "edits", Kind: "array"}}},
	{"edit", []string{"apply_patch", "patch"}, "/patchText", "patch", nil},
	{"list", []string{"list", "ls"}, "/path", "path", []draft.Param{{Name: "ignore", Kind: "array"}}},
	{"glob", []string{"glob"}, "/pattern", "text", []draft.Param{{Name: "path", Kind: "path"}}},
	{"grep", []string{"grep"}, "/pattern", "text", []draft.Param{{Name: "path", Kind: "path"}, {Name: "include", Kind: "string"}}},
	{"webfetch", []string{"webfetch"}, "/url", "url", []draft.Param{{Name: "format", Kind: "string"}, {Name: "timeout", Kind: "number"}}},
	{"task", []string{"task"}, "/subagent_type", "text", []draft.Param{{Name: "description", Kind: "string"}, {Name: "prompt", Kind: "string"}}},
	{"skill", []string{"skill"}, "/name", "text", nil},
	{"websearch", []string{"websearch"}, "/query", "text", nil},
	{"codesearch", []string{"codesearch"}, "/query", "text", nil},
	{"todowrite", []string{"todowrite"}, "", "", []draft.Param{{Name: "todos", Kind: "array"}}},
	{"todoread", []string{"todoread"}, "", "", nil},
	{"lsp", []string{"lsp"}, "", "", nil},
}

// tableOf returns the table of a permission's tools.
func (c *converter) tableOf(p permission) *draft.Table {
	if p.tools[0] == "bash" {
		return c.Shell("bash", "timeout")
	}
	var params []draft.Param
	if p.arg != "" {
		kind := p.kind
		if kind == "text" {
			kind = "string"
		}
		params = append(params, draft.Param{Name: strings.TrimPrefix(p.arg, "/"), Kind: kind})
	}
	t := c.Table(p.tools[0], append(params, p.other...)...)
	t.Also = p.tools[1:]
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

func (c *converter) translate() {
	c.outside = stopgate.Ask
	// Rules for one agent come last, and so take precedence.
	slices.SortStableFunc(c.list, func(a, b opencodeRule) int { return agentRank(a) - agentRank(b) })
	slices.Reverse(c.list)
	var everywhere []draft.Unconditional
	for i, r := range c.list {
		everywhere = append(everywhere, c.rule(i, r)...)
	}
	for i, r := range opencodeDefaults {
		for _, p := range c.permissions {
			if p.name == r.key && slices.ContainsFunc(c.Tables, func(t *draft.Table) bool { return t.Name == p.tools[0] }) || r.key == "read" && p.name == "read" {
				t := c.tableOf(p)
				for _, one := range c.convert(opencodeRule{key: r.key, pattern: r.pattern, mode: r.mode, from: &draft.SourceRule{}}, p) {
					one.From, one.Rank, one.Comment = nil, len(c.list)+i, c.Command+" does so by itself."
					t.Rules = append(t.Rules, one)
				}
			}
		}
	}
	c.AddUnconditional(everywhere)
	c.away()
	c.Note(c.Command + " runs what no rule names; here it is asked. A rule for \"*\" in its settings says otherwise.")
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
func (c *converter) rule(rank int, r opencodeRule) (everywhere []draft.Unconditional) {
	if r.agent != "" && r.mode == stopgate.Unattended {
		r.from.LeftOut("it permits for one agent")
		return nil
	}
	switch r.key {
	case "external_directory":
		c.external(r)
		return nil
	case "doom_loop", "question", "plan_enter", "plan_exit":
		r.from.LeftOut("it is about no tool")
		return nil
	}
	known := false
	for _, p := range c.permissions {
		if !wildcard(r.key, p.name) {
			continue
		}
		known = true
		t := c.tableOf(p)
		var rules []*draft.Rule
		if c.ahead != nil && r.mode == stopgate.Unattended {
			for _, before := range c.ahead(r, p) {
				before.from = &draft.SourceRule{}
				for _, one := range c.convert(before, p) {
					one.From, one.Comment = nil, c.Command+" does so by itself."
					rules = append(rules, one)
				}
			}
		}
		for _, one := range append(rules, c.convert(r, p)...) {
			one.Rank = rank
			if r.agent != "" {
				one.When = fmt.Sprintf("{ agent = %q }", r.agent)
			}
			t.Rules = append(t.Rules, one)
		}
	}
	if known && !strings.Contains(r.key, "*") && !strings.Contains(r.key, "?") {
		return nil
	}
	if r.pattern != "*" || strings.Contains(r.key, "?") || r.agent != "" {
		if r.mode == stopgate.Unattended {
			r.from.Stricter("not for the tools of servers")
			return nil
		}
		r.from.Stricter("every call of a tool of that name")
	}
	name, exact, ok := draft.Fold(strings.ReplaceAll(r.key, "?", "*"), r.mode == stopgate.Unattended)
	if !ok {
		r.from.LeftOut("the name has a \"*\" that is not at its end")
		return nil
	}
	if !exact {
		r.from.Stricter("for every tool whose name begins with %s", strings.TrimSuffix(name, "*"))
	}
	return []draft.Unconditional{{Name: name, Rule: &draft.Rule{From: r.from, Mode: r.mode, Rank: rank, Wide: !exact || r.pattern != "*"}}}
}

// convert returns the rules of the policy for one of opencode's and one permission.
func (c *converter) convert(r opencodeRule, p permission) []*draft.Rule {
	permits := r.mode == stopgate.Unattended
	one := &draft.Rule{From: r.from, Mode: r.mode}
	w := draft.Wild{Text: strings.ReplaceAll(home(r.pattern), `\`, "/"), One: true, Tail: true}
	sure := w.Pattern()
	switch {
	case r.pattern == "*" && permits && (p.kind == "path" || p.kind == "patch"):
		one.Conds = []draft.Condition{{Arg: p.arg, Matcher: "glob", Values: []string{draft.Inside}, Sure: "(?!/|~|\\.\\.(?:/|$))[^]*"}}
		return []*draft.Rule{one}
	case r.pattern == "*":
		if permits {
			one.Ignores = draft.OtherPaths(append([]draft.Param{{Name: strings.TrimPrefix(p.arg, "/"), Kind: p.kind}}, p.other...), "")
		}
		return []*draft.Rule{one}
	case p.kind == "command":
		if one := draft.CommandRule(r.from, r.mode, draft.Wild{Text: r.pattern, One: true, Tail: true}); one != nil {
			return []*draft.Rule{one}
		}
		return nil
	case p.arg == "":
		if permits {
			r.from.LeftOut("the tool has nothing to compare with")
			return nil
		}
		r.from.Stricter("every call of the tool")
		one.Wide = true
		return []*draft.Rule{one}
	case !permits:
		one.Conds = []draft.Condition{{Arg: p.arg, Matcher: "pattern", Values: []string{"^" + sure + "$"}, Sure: sure}}
		if p.kind != "text" {
			r.from.Stricter("also where another spelling of it is meant")
		}
		return []*draft.Rule{one}
	case p.kind == "url":
		scheme, rest, _ := strings.Cut(r.pattern, "://")
		host, tail, _ := strings.Cut(rest, "/")
		below, _ := strings.CutPrefix(host, "*.")
		if (scheme != "https" && scheme != "http") || !draft.IsHost(below) || tail != "*" && tail != "**" {
			r.from.LeftOut("only https://HOST/* can be said")
			return nil
		}
		one.Conds = []draft.Condition{{Arg: p.arg, Matcher: "host", Values: []string{host}}, {Arg: p.arg, Matcher: "scheme", Values: []string{scheme}}}
		return []*draft.Rule{one}
	case p.kind == "text" && !w.Has():
		one.Conds = []draft.Condition{{Arg: p.arg, Matcher: "const", Values: []string{r.pattern}, Sure: sure}}
		return []*draft.Rule{one}
	case p.kind == "text":
		r.from.LeftOut("a part of a text that permits")
		return nil
	}
	glob, exact, ok := w.Glob()
	absolute := strings.HasPrefix(glob, "/") || strings.HasPrefix(glob, "~")
	switch {
	case !ok:
		r.from.LeftOut("it is no path that can be said")
		return nil
	case absolute:
		r.from.LeftOut("what is outside of the project is asked")
		return nil
	case p.name == "read" && !strings.HasPrefix(r.pattern, "*"):
		r.from.LeftOut("opencode compares it with the absolute path")
		return nil
	case !exact:
		r.from.Stricter(`"*" does not stand for "/" inside of a name`)
	}
	one.Conds = []draft.Condition{{Arg: p.arg, Matcher: "glob", Values: []string{glob}, Sure: sure}}
	return []*draft.Rule{one}
}

// home normalises the home directory.
func home(pattern string) string {
	if rest, ok := strings.CutPrefix(pattern, "$HOME"); ok {
		return "~" + rest
	}
	return pattern
}

// external records the rule for files outside of the project.
func (c *converter) external(r opencodeRule) {
	switch {
	case r.mode == stopgate.Unattended:
		r.from.LeftOut("what is outside of the project is asked, whatever else permits it")
	case r.pattern == "*" && r.mode == stopgate.Deny:
		c.outside = stopgate.Deny
	case r.mode == stopgate.Deny:
		p := draft.Wild{Text: home(r.pattern), One: true, Tail: true}.Pattern()
		r.from.Stricter("for every tool")
		c.Guards = append(c.Guards, &draft.Rule{From: r.from, Mode: r.mode, On: "path", Conds: []draft.Condition{{Matcher: "pattern", Values: []string{"^" + p + "(?:/[^]*)?$"}}}})
	}
}

// away adds the guard for files outside of the project.
func (c *converter) away() {
	root := strings.TrimSuffix(c.Options.Root, "/")
	p := `^(?:/|~|\.\.(?:/|$))`
	if root != "" {
		p = "^(?!" + draft.QuoteMeta(root) + `(?:/|$))(?:/|~|\.\.(?:/|$))`
	}
	c.Guards = append(c.Guards, &draft.Rule{Mode: c.outside, On: "path", Comment: "external_directory: what is outside of the project.",
		Conds: []draft.Condition{{Matcher: "pattern", Values: []string{p}}}})
}
