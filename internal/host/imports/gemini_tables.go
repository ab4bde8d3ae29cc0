package imports

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

func (g *gemini) translate() {
	// Later files take precedence; in a file the order counts if priorities are equal.
	slices.SortStableFunc(g.list, func(a, b geminiRule) int {
		if a.tier != b.tier {
			return b.tier - a.tier
		}
		return int(b.priority - a.priority)
	})
	shell := g.shell("run_shell_command", "timeout")
	shell.params = append(shell.params, param{"dir_path", "path"}, param{"directory", "path"}, param{"is_background", "boolean"})
	for _, tool := range geminiTools {
		g.table(tool.tool, tool.params...)
	}
	var everywhere []unconditional
	for i, r := range g.list {
		for _, name := range r.tools {
			for _, one := range g.convert(r, name) {
				one.rank = i
				if len(one.conds) == 0 {
					everywhere = append(everywhere, unconditional{name, one})
					continue
				}
				t := g.table(name)
				t.rules = append(t.rules, one)
			}
		}
	}
	g.addUnconditional(everywhere)
	for _, t := range g.tables {
		g.defaults(t)
	}
	g.note("Redirections to files are asked, also where a rule has allowRedirection.")
}

// convert returns the rules of the policy for one rule of Gemini CLI and one tool.
func (g *gemini) convert(r geminiRule, tool string) []*rule {
	permits := r.mode == stopgate.Unattended
	all := []*rule{{from: r.from, mode: r.mode, reason: r.reason, wide: r.unsupported != "" || r.cond != nil}}
	switch {
	case r.unsupported != "" && permits:
		r.from.leftOut("%s", r.unsupported)
		return nil
	case r.unsupported != "":
		r.from.stricter("every call of the tool, because %s", r.unsupported)
		return all
	case r.cond != nil && strings.Contains(tool, "*"):
		if permits {
			r.from.leftOut("its pattern is about the arguments of several tools")
			return nil
		}
		r.from.stricter("every call of the tools, because its pattern is about the arguments of several")
		return all
	case r.cond != nil:
		all[0].conds = []cond{*r.cond}
		t := g.table(tool)
		name := strings.TrimPrefix(r.cond.arg, "/")
		i := slices.IndexFunc(t.params, func(p param) bool { return p.name == name })
		switch {
		case i < 0:
			t.params = append(t.params, param{name, "string"})
		case permits && strings.HasPrefix(t.params[i].kind, "path"):
			r.from.leftOut("its pattern is about how a path is written")
			return nil
		}
		if !permits {
			r.from.stricter("also where the pattern matches only a part of the command")
		}
		return all
	case len(r.prefixes) == 0:
		return all
	}
	var plainly []string
	var rules []*rule
	for _, p := range r.prefixes {
		p = strings.Join(strings.Fields(p), " ")
		switch {
		case words(p):
			plainly = append(plainly, p)
		case permits:
			r.from.stricter("not for %q, which is not plainly written", p)
		default:
			w := wild{text: strings.ReplaceAll(p, "*", "")}
			c, _, _ := w.command(false)
			c.values = []string{strings.TrimSuffix(c.values[0], "$") + "(?: [^]*)?$"}
			c.sure = ""
			r.from.stricter("quotes are not looked at")
			rules = append(rules, &rule{from: r.from, mode: r.mode, reason: r.reason, conds: []cond{c}})
		}
	}
	if len(plainly) > 0 {
		rules = append(rules, &rule{from: r.from, mode: r.mode, reason: r.reason, conds: []cond{prefixed(plainly...)}, match: plainly[:1], noMatch: []string{plainly[0] + "x"}})
	} else if permits {
		r.from.leftOut("none of its commands is plainly written")
	}
	return rules
}

// defaults adds the defaults of Gemini CLI: reading files of the project.
func (g *gemini) defaults(t *table) {
	for _, tool := range geminiTools {
		if tool.tool == t.name && tool.reads != "" {
			free := &rule{mode: stopgate.Unattended, rank: len(g.list), comment: "Gemini CLI reads the project without a question."}
			free.conds = append(free.conds, cond{arg: tool.reads, matcher: "glob", values: []string{inside}})
			for _, other := range otherPaths(tool.params, tool.reads) {
				free.conds = append(free.conds, cond{arg: other, matcher: "present", values: []string{"false"}})
			}
			t.rules = append(t.rules, free)
		}
	}
	for _, r := range t.rules {
		switch {
		case !r.permits():
		case len(r.conds) == 0:
			r.ignores = otherPaths(t.params, "")
		case r.from != nil: // Gemini CLI does not evaluate them either
			r.ignores = otherPaths(t.params, r.conds[0].arg)
		}
	}
}
