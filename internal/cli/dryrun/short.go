package dryrun

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/trial"
	"github.com/stopgate/stopgate/internal/visible"
)

// shortLines is the most that explain --short writes.
const shortLines = 10

// ShortText returns the deciding rule on the first line, and the values that it matched below.
func ShortText(a Answer, x eval.Explanation, said []trial.Objection) string {
	lines := []string{fmt.Sprintf("%s by %s: %s", a.Mode, a.decider(), visible.Text(a.Public))}
	add := func(format string, args ...any) { lines = append(lines, "  "+fmt.Sprintf(format, args...)) }
	if c := x.Cause; c != "" && a.Cause == "" {
		a.Cause = c
	}
	if a.Cause != "" {
		add("cause     %s", visible.Text(visible.Elide(a.Cause, 200)))
	}
	for _, k := range deciding(x) {
		target := k.Arg
		if k.On != "" {
			target = "any " + k.On
		}
		line := fmt.Sprintf("%s %s %s", visible.Text(target), k.Matcher, visible.Lines(visible.Elide(k.Literal, 60)))
		if len(k.Readings) > 0 && !strings.HasSuffix(k.Readings[0], trial.AsWritten) {
			line += ": read as " + visible.Text(visible.Elide(k.Readings[0], 80))
		}
		add("matches   %s", line)
	}
	if a.Segment != nil {
		add("command   %s", visible.Part(a.Segment.Index, a.Segment.Of, a.Segment.Text))
	}
	if x.NotKnown != "" && a.Code != stopgate.CodePathNotKnown {
		add("not known %s", x.NotKnown)
	}
	for _, o := range said {
		add("objects   %s: %s", visible.Text(o.Policy), o.Code)
	}
	for _, list := range x.Lists {
		if list.Uncovered != "" && a.Code != stopgate.CodeParameterNotCovered {
			add("uncovered %s", uncoveredText(list.Uncovered))
		}
		for _, rule := range list.Rules {
			for _, k := range rule.Conditions {
				for _, o := range k.Origins {
					if o.Held == o.Not {
						add("origin of %s", visible.Text(visible.Elide(o.Sentence(""), 200)))
					}
				}
				if k.Uncertain != "" && rule.Status != eval.Matched {
					add("uncertain rule %d, line %d: %s", rule.Ref.Index+1, rule.Ref.Line, visible.Text(visible.Elide(k.Uncertain, 200)))
				}
			}
		}
	}
	if a.Untrusted != "" {
		add(`untrusted %s: its "unattended" counts as "ask"`, visible.Text(a.Untrusted))
	}
	rest := "  more      without --short; what " + string(a.Code) + " means: stopgate explain " + string(a.Code)
	if len(lines) > shortLines-1 {
		lines = lines[:shortLines-1]
	}
	return strings.Join(append(lines, rest), "\n") + "\n"
}

// decider names the rule or layer that decided.
func (a Answer) decider() string {
	switch {
	case a.Rule == nil, a.Layer != stopgate.LayerGuard && a.Layer != stopgate.LayerRules:
		return fmt.Sprintf("%s (%s)", a.Code, a.Layer)
	case a.Layer == stopgate.LayerGuard:
		return fmt.Sprintf("guard %d, %s:%d", a.Rule.Index+1, visible.Text(a.Rule.File), a.Rule.Line)
	}
	return fmt.Sprintf("rule %d, %s:%d", a.Rule.Index+1, visible.Text(a.Rule.File), a.Rule.Line)
}

// deciding are the conditions of the rules that decided.
func deciding(x eval.Explanation) (list []eval.ConditionExplanation) {
	for _, l := range x.Lists {
		for _, rule := range l.Rules {
			if !rule.Named {
				continue
			}
			for _, c := range rule.Conditions {
				if c.Status == eval.Holds {
					list = append(list, c)
				}
			}
		}
	}
	return list
}
