package check

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// linter finds traps: rules that are legal and let more calls through than they seem to.
type linter struct{ *bind.Binder }

// rule looks for traps in one rule.
func (c linter) rule(l *List, r *bind.Rule) {
	usesPrefix := false
	for _, k := range r.Bound {
		if !r.Mode.Permissive() {
			continue
		}
		c.oneElement(r, k)
		c.pattern(r, k)
		c.root(r, k)
		c.command(r, k)
		c.origin(l, r, k)
		if k.Spec.Kind == condition.Prefix && len(k.Readings) == 1 && (k.Readings[0] == schema.None || k.Readings[0] == schema.URL) {
			usesPrefix = true
			c.prefix(r, k)
		}
	}
	if r.AllowUnsafePrefix && !usesPrefix && len(r.Bound) > 0 && !r.Bound[0].Reach.Unknown {
		c.Report(diag.UselessOptOut, r.OptOutPos, "`allow_unsafe_prefix` changes nothing here: "+r.Label()+" has no permissive prefix on a plain string", "remove it")
	}
	c.members(r)
	for _, k := range r.Bound {
		if k.Reach.Annotation == schema.Path || k.Reach.Unknown {
			c.name(r.Rule, k.Condition)
		}
	}
}

// oneElement warns where one good element of an array lets all others through.
func (c linter) oneElement(r *bind.Rule, k *bind.Condition) {
	if k.All || !k.Reach.CrossesArray {
		return
	}
	at := k.Pos
	if r.MatchPos.IsValid() && k.Match == syntax.QuantifierDefault {
		at = r.MatchPos
	}
	c.Report(diag.PermissiveAny, at, fmt.Sprintf("%s runs unattended as soon as one element of `%s` matches, whatever the others are", r.Label(), k.Arg),
		"leave `match` out: then every element has to match")
}

// pattern warns about permissive patterns that match more than their text suggests (D1,
// D2, D3, D8).
func (c linter) pattern(r *bind.Rule, k *bind.Condition) {
	if k.Spec.Kind != condition.Pattern {
		return
	}
	for i, lit := range k.Spec.Values {
		p, err := regular.Compile(lit.Text)
		if err != nil {
			continue
		}
		if p.Modified() {
			c.Report(diag.Modifiers, k.ValueRange(i), r.Label()+" changes what its pattern means with modifiers: with `m` a line is enough, with `s` lines are crossed",
				"write the characters as a class, as in `[Aa]`")
		}
		if p.NegativeLook() {
			c.Report(diag.NegativePattern, k.ValueRange(i), r.Label()+" says in its pattern what must not be there: what nobody thought of runs",
				"describe what is allowed; put what is not under a restrictive rule above")
		}
		if !p.AnchoredBothEnds() {
			c.Report(diag.Unanchored, k.ValueRange(i), fmt.Sprintf("%s also runs values that only contain a match of this pattern", r.Label()),
				anchorHint(lit.Text))
		}
	}
}

// anchorHint returns a hint for a pattern that matches only the whole text. A pattern that is open
// on one side rarely means that.
func anchorHint(pattern string) string {
	const some = `[\w./-]*`
	closed := "`pattern = " + tomltree.Quote(anchor(pattern)) + "`"
	begins := strings.HasPrefix(pattern, "^")
	open := ""
	switch ends := strings.HasSuffix(pattern, "$") && !strings.HasSuffix(pattern, `\$`); {
	case strings.Contains(pattern, "|"): // one side of it may be anchored
	case begins && !ends:
		open = "^(?:" + pattern[1:] + ")" + some + "$"
	case ends && !begins:
		open = "^" + some + "(?:" + strings.TrimSuffix(pattern, "$") + ")$"
	}
	if p, err := regular.Compile(open); open == "" || err != nil || !p.AnchoredBothEnds() {
		return "write " + closed
	}
	side := map[bool]string{true: "follow", false: "stand before it"}[begins]
	return "say what may " + side + ", as in `pattern = " + tomltree.Quote(open) + "`; if nothing may, write " + closed
}

// anchor rewrites a pattern so that it matches complete values only.
func anchor(pattern string) string {
	inner := "^(?:" + strings.TrimSuffix(strings.TrimPrefix(pattern, "^"), "$") + ")$"
	if p, err := regular.Compile(inner); err == nil && p.AnchoredBothEnds() {
		return inner
	}
	return "^(?:" + pattern + ")$" // the end was not an anchor
}

// root warns about permissive rules on all files of the machine (C17).
func (c linter) root(r *bind.Rule, k *bind.Condition) {
	if k.Reach.Annotation != schema.Path {
		return
	}
	for i, lit := range k.Spec.Values {
		if k.Spec.Kind == condition.Prefix && lit.Text == "/" || k.Spec.Kind == condition.Glob && lit.Text == "/**" {
			c.Report(diag.PermissiveRoot, k.ValueRange(i), r.Label()+" runs unattended on every absolute path of the machine",
				"name the directories that are meant; everything below the project's root is `glob = \"**\"`")
		}
	}
}

// prefix warns about permissive prefixes of plain text, which end anywhere (D6,
// Q3, K59).
func (c linter) prefix(r *bind.Rule, k *bind.Condition) {
	if r.AllowUnsafePrefix {
		return
	}
	text := k.Spec.Values[0].Text
	hint := "if it is a shell command: `type = \"command\"`; if it is a file name: `type = \"path\"`; else a pattern for the whole text, or `allow_unsafe_prefix = true`"
	if k.Readings[0] == schema.URL || strings.Contains(text, "://") {
		host := strings.SplitN(strings.TrimPrefix(strings.TrimPrefix(text, "https://"), "http://"), "/", 2)[0]
		hint = "for a URL: `type = \"url\"` and `host = " + tomltree.Quote(host) + "`"
	}
	c.Report(diag.UnsafePrefix, k.Pos, fmt.Sprintf("%s runs every text that begins with %s, also %s", r.Label(), tomltree.Quote(text), tomltree.Quote(text+"; rm -rf /")), hint)
}

// members warns that the conditions of a rule may hold for different elements of an array.
func (c linter) members(r *bind.Rule) {
	for i, k := range r.Bound {
		for _, other := range r.Bound[:i] {
			array := sharedArray(k, other)
			if array == "" || k.All || other.All {
				continue
			}
			c.Report(diag.MembersMeet, k.Pos, fmt.Sprintf("%s also matches if different elements of `%s` satisfy its members", r.Label(), array),
				"", diag.Related{Range: other.Pos, Message: "this member may hold for another element"})
			return
		}
	}
}

// sharedArray returns the innermost array that two conditions both cross, "" if
// there is none.
func sharedArray(a, b *bind.Condition) string {
	x, errX := jsonstream.ParsePointer(a.Reach.Expanded)
	y, errY := jsonstream.ParsePointer(b.Reach.Expanded)
	if errX != nil || errY != nil || !a.Reach.CrossesArray || !b.Reach.CrossesArray {
		return ""
	}
	shared := ""
	for i := 0; i < len(x) && i < len(y) && x[i] == y[i]; i++ {
		if x[i] == "*" {
			shared = x[:i].String()
		}
	}
	return shared
}

// name notes a restrictive path literal that names less than people expect
// (C4).
func (c linter) name(r *syntax.Rule, k *syntax.Condition) {
	if r.Mode.Permissive() || k.Spec.Kind != condition.Const && k.Spec.Kind != condition.Enum && k.Spec.Kind != condition.Prefix && k.Spec.Kind != condition.Glob {
		return
	}
	for i, lit := range k.Spec.Values {
		name := strings.TrimSuffix(lit.Text, "/")
		if lit.Kind != condition.LiteralString || !strings.HasPrefix(name, ".") || strings.ContainsAny(name, "/ *?[{") || len(name) < 2 {
			continue
		}
		c.Report(diag.LiteralDotFile, k.ValueRange(i), fmt.Sprintf("this is the one `%s` in the root; `%s.local` and `app/%s` are others", name, name, name),
			"everywhere: `glob = "+tomltree.Quote("**/"+name+"*")+"`")
	}
}

// absent warns where an absent argument falls through a restrictive rule to a
// permissive catch-all (B3).
func (c linter) absent(l *List) {
	var open *bind.Rule
	for _, r := range l.Bound {
		if r.CatchAll() {
			if r.Mode.Permissive() {
				open = r
			}
			break
		}
	}
	if open == nil || l.Kind != syntax.RunList {
		return
	}
	handled := make(map[string]bool)
	for _, r := range l.Bound {
		if r == open {
			return
		}
		if r.Mode.Permissive() || len(r.Bound) != 1 {
			continue
		}
		k := r.Bound[0]
		if k.Spec.Kind == condition.Present {
			handled[k.Key] = true
			continue
		}
		if handled[k.Key] || !k.Reach.Optional || k.Reach.CrossesArray || k.Reach.Unknown {
			continue
		}
		handled[k.Key] = true
		c.Report(diag.OptionalTarget, r.Pos, fmt.Sprintf("without `%s`, which is optional, %s does not apply and %s lets the call run", k.Arg, r.Label(), open.Label()),
			fmt.Sprintf("if that is not meant: `{ arg = %s, present = false, mode = %s },`", tomltree.Quote(k.Arg.String()), tomltree.Quote(r.Mode.String())),
			diag.Related{Range: open.Pos, Message: open.Label() + " is here"})
	}
}

// ruleWith writes a rule with other conditions, to be pasted.
func ruleWith(r *syntax.Rule, conditions []syntax.Condition) string {
	changed := *r
	changed.Conditions, changed.Compound = conditions, len(conditions) > 1
	return "{ " + changed.Text() + " },"
}

// boolLiteral makes a literal for a suggestion.
func boolLiteral(text string) condition.Literal {
	return condition.Literal{Kind: condition.LiteralBool, Text: text, JSON: text}
}
