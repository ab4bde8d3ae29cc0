package dryrun

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/visible"
)

func ExplainText(a Answer, x eval.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", visible.Text(string(a.Tool)), Answer{a.Because(x.Cause)}.Text())
	if x.Recognised != "" {
		fmt.Fprintf(&b, "  known as  %s\n", x.Recognised)
	}
	for _, floor := range a.Floors {
		fmt.Fprintf(&b, "  floor     %s %s at byte %d%s\n", floor.Mode, floor.Code, floor.At, AtPointer(floor.Pointer))
	}
	if x.NotKnown != "" && a.Code != stopgate.CodePathNotKnown {
		fmt.Fprintf(&b, "  not known %s\n", x.NotKnown)
	}
	for _, list := range x.Lists {
		b.WriteByte('\n')
		explainList(&b, list)
	}
	return b.String()
}

func explainList(b *strings.Builder, list eval.ListExplanation) {
	name, says := string(list.Layer), "says nothing"
	if list.Table != "" {
		name = fmt.Sprintf("[tools.%s]", TOMLKey(list.Table))
	}
	if list.Decided {
		says = "says " + list.Mode.String()
	}
	if list.Lowered {
		says += ` (the file is not trusted: "unattended" counts as "ask")`
	}
	if list.Named {
		says += ", which counts"
	}
	fmt.Fprintf(b, "%s of %s %s\n", name, visible.Text(list.File), says)
	if list.Uncovered != "" {
		fmt.Fprintf(b, "  %s\n", uncoveredText(list.Uncovered))
	}
	if g := list.Segment; g != nil {
		fmt.Fprintf(b, "  for command %s\n", visible.Part(g.Index, g.Of, g.Text))
	}
	for _, rule := range list.Rules {
		explainRule(b, rule)
	}
}

// uncoveredText names the parameter that a permit does not cover, and the remedy.
func uncoveredText(pointer string) string {
	return fmt.Sprintf("its permit does not look at %s, and no table declares it: parameters.%s = { type = \"path\" }, or what it is, a rule for it, or ignores",
		visible.Text(pointer), visible.Text(firstName(pointer)))
}

// firstName is the parameter that a pointer begins with.
func firstName(pointer string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return TOMLKey(name)
}

// marks are the marks of the states of rules.
var marks = map[string]string{
	eval.Matched: "=>", eval.Eliminated: " x", eval.Waiting: " ?", eval.NotReached: "  ", eval.Skipped: " -",
}

func explainRule(b *strings.Builder, rule eval.RuleExplanation) {
	fmt.Fprintf(b, "%s %3d  line %-4d %-10s %s", marks[rule.Status], rule.Ref.Index+1, rule.Ref.Line, rule.Mode, rule.Status)
	switch rule.Status {
	case eval.Skipped:
		fmt.Fprintf(b, ": %s\n", visible.Text(rule.Skipped))
		return
	case eval.NotReached:
		b.WriteByte('\n')
		return
	case eval.Matched, eval.Eliminated:
		fmt.Fprintf(b, " at byte %d", rule.At)
	}
	b.WriteByte('\n')
	if rule.Lowered && rule.Status == eval.Matched {
		b.WriteString("            says unattended, which counts as ask: the file is not trusted\n")
	}
	for _, c := range rule.Conditions {
		target := c.Arg
		if c.On != "" {
			target = "any " + c.On
		}
		fmt.Fprintf(b, "            %s %s %s: %s", visible.Text(target), c.Matcher, visible.Lines(visible.Elide(c.Literal, 60)), c.Status)
		if c.Status != eval.Waiting {
			fmt.Fprintf(b, " at byte %d%s", c.At, AtPointer(c.Pointer))
		}
		b.WriteByte('\n')
		for _, reading := range c.Readings {
			fmt.Fprintf(b, "              read as %s\n", visible.Text(visible.Elide(reading, 200)))
		}
		if c.Undeclared {
			fmt.Fprintf(b, "              no parameter table declares %s; it may be a %s, and counts as one\n", visible.Text(c.Pointer), c.On)
		}
		for _, o := range c.Origins {
			fmt.Fprintf(b, "              origin: %s\n", visible.Text(visible.Elide(o.Sentence(""), 300)))
		}
		if c.Uncertain != "" {
			fmt.Fprintf(b, "              uncertain: %s\n", visible.Text(visible.Elide(c.Uncertain, 300)))
		}
	}
}

func AtPointer(pointer string) string {
	if pointer == "" {
		return ""
	}
	return ", " + visible.Text(pointer)
}

// TOMLKey quotes a table name where TOML wants it.
func TOMLKey(name string) string {
	for _, r := range name {
		if !(r == '_' || r == '-' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return `"` + name + `"`
		}
	}
	return name
}
