package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/jsonstream"
)

// callTarget is a parameter that names the object of a call: a path, a command or a URL.
type callTarget struct {
	pointer    jsonstream.Pointer // as a rule would write it
	location   *schema.Location
	annotation schema.Annotation
	optional   bool
	crosses    bool // an array
}

// targets lists the parameters that name the object of a call.
func (t *checkedTool) targets() []callTarget {
	if t.schema == nil {
		return nil
	}
	var list []callTarget
	for pointer, location := range t.schema.All() {
		a := location.Annotation()
		if a == schema.None || location.Seen()&schema.String == 0 {
			continue
		}
		written := slices.DeleteFunc(slices.Clone(pointer), func(token string) bool { return token == "*" })
		reach := t.schema.Reach(written)
		list = append(list, callTarget{pointer: written, location: location, annotation: a, optional: reach.Optional, crosses: reach.CrossesArray})
	}
	return list
}

// looksAt reports whether a rule has a condition on a location.
func looksAt(r *symbolic.Rule, p *schema.Location) bool {
	return slices.ContainsFunc(r.Bound, func(k *symbolic.Condition) bool { return slices.Contains(k.Reach.Locations, p) })
}

// lintTargets warns about permissive rules that leave the object of the call open: a parameter
// on which neither the rule nor a restrictive rule above it has a condition (K1). A list that
// consists of a permissive catch-all is not reported: it ignores all arguments on purpose.
func (c *checker) lintTargets(l *checkedList) {
	targets := l.tool.targets()
	conditional := false
	restricted := make(map[*schema.Location]bool) // by a rule further up
	for _, r := range l.rules {
		conditional = conditional || len(r.Bound) > 0
		if !r.Mode.Permissive() {
			for _, k := range r.Bound {
				for _, p := range k.Reach.Locations {
					restricted[p] = true
				}
			}
			continue
		}
		flagged := make(map[string]bool)
		var open []callTarget
		for _, t := range targets {
			if !conditional || looksAt(r, t.location) || restricted[t.location] {
				continue
			}
			flagged[t.pointer.String()] = true
			if !ignoresLocation(r, l.tool.schema, t.location) {
				open = append(open, t)
			}
		}
		if len(open) > 0 {
			c.ignored(l, r, open)
		}
		c.uselessIgnores(l, r, flagged)
	}
	c.lintParameters(l)
}

// ignoresLocation reports whether the rule opts out for a location.
func ignoresLocation(r *symbolic.Rule, s *schema.Schema, p *schema.Location) bool {
	return slices.ContainsFunc(r.Ignores, func(pointer jsonstream.Pointer) bool {
		return slices.Contains(s.Reach(pointer).Locations, p)
	})
}

// ignored reports the targets that a permissive rule leaves open, with the rule as
// it could be written.
func (c *checker) ignored(l *checkedList, r *symbolic.Rule, open []callTarget) {
	var what, pointers []string
	for _, t := range open {
		what = append(what, fmt.Sprintf("%s `%s`", t.annotation, t.pointer))
		pointers = append(pointers, tomltree.Quote(t.pointer.String()))
	}
	hint := "or, if that may be anything: `ignores = [" + strings.Join(pointers, ", ") + "]`"
	if better, ok := constrain(r, open); ok {
		hint = "constrain that too: `" + better + "`\n" + hint
	} else {
		hint = fmt.Sprintf("ask about it above: `{ arg = %s, present = true, mode = \"ask\" },`\n%s", pointers[0], hint)
	}
	c.report(diag.IgnoresTarget, r.Pos, fmt.Sprintf("%s runs %s unattended whatever its %s is", r.Label(), l.tool.label(), strings.Join(what, " or ")), hint)
}

// constrain writes the rule with conditions on further targets: the one that it has
// on another target of the same type, or absence where the target may be absent.
func constrain(r *symbolic.Rule, open []callTarget) (string, bool) {
	if len(r.Bound) == 0 || len(r.Bound)+len(open) > syntax.MaxMembers {
		return "", false
	}
	conditions := slices.Clone(r.Conditions)
	for _, t := range open {
		added := syntax.Condition{Arg: t.pointer}
		for _, k := range r.Bound {
			if k.Reach.Annotation == t.annotation && k.Spec.Kind != match.Present {
				added.Spec = k.Spec
			}
		}
		if t.optional && (!t.crosses || added.Spec.Kind == "") {
			added.Spec = match.Spec{Kind: match.Present, Values: []match.Literal{boolLiteral("false")}}
		}
		if added.Spec.Kind == "" {
			return "", false
		}
		conditions = append(conditions, added)
	}
	return ruleWith(r.Rule, conditions), true
}

// ignoresExist checks the pointers of ignores.
func (c *checker) ignoresExist(l *checkedList, r *syntax.Rule) {
	for i, pointer := range r.Ignores {
		reach := l.tool.schema.Reach(pointer)
		if reach.Missing < 0 || l.shared {
			continue
		}
		hint := ""
		if reach.Suggestion != "" {
			hint = "did you mean `" + reach.Suggestion + "`?"
		}
		c.report(diag.NoSuchParameter, r.IgnoresPos[i], fmt.Sprintf("%s ignores `%s` of %s: %s", r.Label(), pointer, l.tool.label(), reach.Problem), hint)
	}
}

// uselessIgnores warns about opt-outs that opt out of nothing.
func (c *checker) uselessIgnores(l *checkedList, r *symbolic.Rule, flagged map[string]bool) {
	if l.tool.schema == nil || l.shared {
		return
	}
	for i, pointer := range r.Ignores {
		useful := !slices.ContainsFunc(r.Bound, func(k *symbolic.Condition) bool { return k.Arg[0] == pointer[0] }) &&
			len(pointer) == 1 && !l.tool.isTarget(pointer[0]) // SG0402 would name it
		for name := range flagged {
			target, err := jsonstream.ParsePointer(name)
			useful = useful || err == nil && slices.ContainsFunc(l.tool.schema.Reach(target).Locations, func(p *schema.Location) bool {
				return slices.Contains(l.tool.schema.Reach(pointer).Locations, p)
			})
		}
		if !useful && l.tool.schema.Reach(pointer).Missing < 0 {
			c.report(diag.UselessOptOut, r.IgnoresPos[i], fmt.Sprintf("`%s` is nothing that %s leaves open", pointer, r.Label()), "remove it from `ignores`")
		}
	}
}

// isTarget reports that a parameter is a target, or has one.
func (t *checkedTool) isTarget(name string) bool {
	return slices.ContainsFunc(t.targets(), func(at callTarget) bool { return at.pointer[0] == name })
}

// harmless are names of parameters that change the amount of output of a call, its duration or
// its text, but neither its effect nor its object.
var harmless = map[string]bool{
	"content": true, "contents": true, "text": true, "body": true, "description": true, "explanation": true, "reason": true, "title": true,
	"summary": true, "message": true, "comment": true, "prompt": true, "old_string": true, "new_string": true, "old_str": true, "new_str": true, "new_source": true,
	"timeout": true, "timeout_ms": true, "offset": true, "limit": true, "head_limit": true, "line": true, "page": true, "per_page": true, "max_results": true, "context": true,
	"-i": true, "-n": true, "-A": true, "-B": true, "-C": true, "multiline": true, "case_sensitive": true, "output_mode": true, "format": true, "verbose": true,
	"replace_all": true, "run_in_background": true,
}

// lintParameters notes parameters that may change the meaning of a call and that no
// permissive rule looks at (B7).
func (c *checker) lintParameters(l *checkedList) {
	if l.tool.schema == nil || l.shared {
		return
	}
	looked := make(map[string]bool)
	var permissive *symbolic.Rule
	for _, r := range l.rules {
		if !r.Mode.Permissive() || len(r.Bound) == 0 {
			continue
		}
		if permissive == nil {
			permissive = r
		}
		for _, k := range r.Bound {
			looked[k.Arg[0]] = true
		}
		for _, pointer := range r.Ignores {
			looked[pointer[0]] = true
		}
	}
	if permissive == nil {
		return
	}
	var names []string
	for _, p := range l.tool.schema.Location().Properties() {
		if !looked[p.Name] && !harmless[p.Name] && !l.tool.isTarget(p.Name) { // lintTargets reports targets
			names = append(names, jsonstream.Pointer{p.Name}.String())
		}
	}
	if len(names) > 0 {
		c.report(diag.IgnoresParameter, permissive.Pos, fmt.Sprintf("no unattended rule of %s looks at %s", l.tool.label(), some(names)),
			"a flag like `force` or `recursive` can change what a call does: constrain it with `all = [...]`, or list it in `ignores` if it cannot")
	}
}
