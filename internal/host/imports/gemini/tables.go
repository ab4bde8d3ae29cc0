package gemini

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
)

func (g *converter) translate() {
	// Later files take precedence; in a file the order counts if priorities are equal.
	slices.SortStableFunc(g.list, func(a, b geminiRule) int {
		if a.tier != b.tier {
			return b.tier - a.tier
		}
		return int(b.priority - a.priority)
	})
	shell := g.Shell("run_shell_command", "timeout")
	shell.Params = append(shell.Params, draft.Param{Name: "dir_path", Kind: "path"}, draft.Param{Name: "directory", Kind: "path"}, draft.Param{Name: "is_background", Kind: "boolean"})
	for _, tool := range geminiTools {
		g.Table(tool.tool, tool.params...)
	}
	var everywhere []draft.Unconditional
	for i, r := range g.list {
		for _, name := range r.tools {
			for _, one := range g.convert(r, name) {
				one.Rank = i
				if len(one.Conds) == 0 {
					everywhere = append(everywhere, draft.Unconditional{Name: name, Rule: one})
					continue
				}
				t := g.Table(name)
				t.Rules = append(t.Rules, one)
			}
		}
	}
	g.AddUnconditional(everywhere)
	for _, t := range g.Tables {
		g.defaults(t)
	}
	g.Note("Redirections to files are asked, also where a rule has allowRedirection.")
}

// convert returns the rules of the policy for one rule of Gemini CLI and one tool.
func (g *converter) convert(r geminiRule, tool string) []*draft.Rule {
	permits := r.mode == stopgate.Unattended
	all := []*draft.Rule{{From: r.from, Mode: r.mode, Reason: r.reason, Wide: r.unsupported != "" || r.cond != nil}}
	switch {
	case r.unsupported != "" && permits:
		r.from.LeftOut("%s", r.unsupported)
		return nil
	case r.unsupported != "":
		r.from.Stricter("every call of the tool, because %s", r.unsupported)
		return all
	case r.cond != nil && strings.Contains(tool, "*"):
		if permits {
			r.from.LeftOut("its pattern is about the arguments of several tools")
			return nil
		}
		r.from.Stricter("every call of the tools, because its pattern is about the arguments of several")
		return all
	case r.cond != nil:
		all[0].Conds = []draft.Condition{*r.cond}
		t := g.Table(tool)
		name := strings.TrimPrefix(r.cond.Arg, "/")
		i := slices.IndexFunc(t.Params, func(p draft.Param) bool { return p.Name == name })
		switch {
		case i < 0:
			t.Params = append(t.Params, draft.Param{Name: name, Kind: "string"})
		case permits && strings.HasPrefix(t.Params[i].Kind, "path"):
			r.from.LeftOut("its pattern is about how a path is written")
			return nil
		}
		if !permits {
			r.from.Stricter("also where the pattern matches only a part of the command")
		}
		return all
	case len(r.prefixes) == 0:
		return all
	}
	var plainly []string
	var rules []*draft.Rule
	for _, p := range r.prefixes {
		p = strings.Join(strings.Fields(p), " ")
		switch {
		case draft.Words(p):
			plainly = append(plainly, p)
		case permits:
			r.from.Stricter("not for %q, which is not plainly written", p)
		default:
			w := draft.Wild{Text: strings.ReplaceAll(p, "*", "")}
			c, _, _ := w.Command(false)
			c.Values = []string{strings.TrimSuffix(c.Values[0], "$") + "(?: [^]*)?$"}
			c.Sure = ""
			r.from.Stricter("quotes are not looked at")
			rules = append(rules, &draft.Rule{From: r.from, Mode: r.mode, Reason: r.reason, Conds: []draft.Condition{c}})
		}
	}
	if len(plainly) > 0 {
		rules = append(rules, &draft.Rule{From: r.from, Mode: r.mode, Reason: r.reason, Conds: []draft.Condition{draft.Prefixed(plainly...)}, Match: plainly[:1], NoMatch: []string{plainly[0] + "x"}})
	} else if permits {
		r.from.LeftOut("none of its commands is plainly written")
	}
	return rules
}

// defaults adds the defaults of Gemini CLI: reading files of the project.
func (g *converter) defaults(t *draft.Table) {
	for _, tool := range geminiTools {
		if tool.tool == t.Name && tool.reads != "" {
			free := &draft.Rule{Mode: stopgate.Unattended, Rank: len(g.list), Comment: "Gemini CLI reads the project without a question."}
			free.Conds = append(free.Conds, draft.Condition{Arg: tool.reads, Matcher: "glob", Values: []string{draft.Inside}})
			for _, other := range draft.OtherPaths(tool.params, tool.reads) {
				free.Conds = append(free.Conds, draft.Condition{Arg: other, Matcher: "present", Values: []string{"false"}})
			}
			t.Rules = append(t.Rules, free)
		}
	}
	for _, r := range t.Rules {
		switch {
		case !r.Permits():
		case len(r.Conds) == 0:
			r.Ignores = draft.OtherPaths(t.Params, "")
		case r.From != nil: // Gemini CLI does not evaluate them either
			r.Ignores = draft.OtherPaths(t.Params, r.Conds[0].Arg)
		}
	}
}
