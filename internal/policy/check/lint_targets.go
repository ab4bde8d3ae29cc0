package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/schema"
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

// targetsOf lists the parameters that name the object of a call.
func targetsOf(s *schema.Schema) []callTarget {
	if s == nil {
		return nil
	}
	var list []callTarget
	for pointer, location := range s.All() {
		a := location.Annotation()
		if a == schema.None || location.Seen()&schema.String == 0 {
			continue
		}
		written := slices.DeleteFunc(slices.Clone(pointer), func(token string) bool { return token == "*" })
		reach := s.Reach(written)
		list = append(list, callTarget{pointer: written, location: location, annotation: a, optional: reach.Optional, crosses: reach.CrossesArray})
	}
	return list
}

// looksAt reports whether a rule has a condition on a location.
func looksAt(r *bind.Rule, p *schema.Location) bool {
	return slices.ContainsFunc(r.Bound, func(k *bind.Condition) bool { return slices.Contains(k.Reach.Locations, p) })
}

// targets warns about permissive rules that leave the object of the call open: a parameter
// on which neither the rule nor a restrictive rule above it has a condition (K1). A list that
// consists of a permissive catch-all is not reported: it ignores all arguments on purpose.
func (c linter) targets(l *List) {
	targets := targetsOf(l.Tool.Schema)
	conditional := false
	restricted := make(map[*schema.Location]bool) // by a rule further up
	for _, r := range l.Bound {
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
			if !ignoresLocation(r, l.Tool.Schema, t.location) {
				open = append(open, t)
			}
		}
		if len(open) > 0 {
			c.ignored(l, r, open)
		}
		c.uselessIgnores(l, r, flagged)
	}
	c.parameters(l)
}

// ignoresLocation reports whether the rule opts out for a location.
func ignoresLocation(r *bind.Rule, s *schema.Schema, p *schema.Location) bool {
	return slices.ContainsFunc(r.Ignores, func(pointer jsonstream.Pointer) bool {
		return slices.Contains(s.Reach(pointer).Locations, p)
	})
}

// ignored reports the targets that a permissive rule leaves open, with the rule as
// it could be written.
func (c linter) ignored(l *List, r *bind.Rule, open []callTarget) {
	var what, pointers []string
	for _, t := range open {
		what = append(what, fmt.Sprintf("%s `%s`", t.annotation, t.pointer))
		pointers = append(pointers, tomltree.Quote(t.pointer.String()))
	}
	hint := "or, if that may be anything: `ignores = [" + strings.Join(pointers, ", ") + "]`"
	if better, ok := c.constrain(r, open); ok {
		hint = "constrain that too: `" + better + "`\n" + hint
	} else {
		hint = fmt.Sprintf("ask about it above: `{ arg = %s, present = true, mode = \"ask\" },`\n%s", pointers[0], hint)
	}
	c.Report(diag.IgnoresTarget, r.Pos, fmt.Sprintf("%s runs %s unattended whatever its %s is", r.Label(), l.Tool.Label(), strings.Join(what, " or ")), hint)
}

// constrain writes the rule with conditions on further targets: the one that it has
// on another target of the same type, or absence where the target may be absent.
func (c linter) constrain(r *bind.Rule, open []callTarget) (string, bool) {
	if len(r.Bound) == 0 || len(r.Bound)+len(open) > parser.MaxMembers {
		return "", false
	}
	conditions := slices.Clone(r.Conditions)
	for _, t := range open {
		added := syntax.Condition{Arg: t.pointer}
		for _, k := range r.Bound {
			if k.Reach.Annotation == t.annotation && k.Spec.Kind != condition.Present {
				added.Spec = k.Spec
			}
		}
		if t.optional && (!t.crosses || added.Spec.Kind == "") {
			added.Spec = c.File.Conditions.Spec(condition.Present, boolLiteral("false"))
		}
		if added.Spec.Kind == "" {
			return "", false
		}
		conditions = append(conditions, added)
	}
	return ruleWith(r.Rule, conditions), true
}

// uselessIgnores warns about opt-outs without an effect.
func (c linter) uselessIgnores(l *List, r *bind.Rule, flagged map[string]bool) {
	if l.Tool.Schema == nil || l.Shared {
		return
	}
	for i, pointer := range r.Ignores {
		useful := !slices.ContainsFunc(r.Bound, func(k *bind.Condition) bool { return k.Arg[0] == pointer[0] }) &&
			len(pointer) == 1 && !isTarget(l.Tool.Schema, pointer[0]) // SG0402 would name it
		for name := range flagged {
			target, err := jsonstream.ParsePointer(name)
			useful = useful || err == nil && slices.ContainsFunc(l.Tool.Schema.Reach(target).Locations, func(p *schema.Location) bool {
				return slices.Contains(l.Tool.Schema.Reach(pointer).Locations, p)
			})
		}
		if !useful && l.Tool.Schema.Reach(pointer).Missing < 0 {
			c.Report(diag.UselessOptOut, r.IgnorePos(i), fmt.Sprintf("`%s` is nothing that %s leaves open", pointer, r.Label()), "remove it from `ignores`")
		}
	}
}

// isTarget reports that a parameter is a target, or has one.
func isTarget(s *schema.Schema, name string) bool {
	return slices.ContainsFunc(targetsOf(s), func(at callTarget) bool { return at.pointer[0] == name })
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

// parameters notes parameters that may change the meaning of a call and that no
// permissive rule looks at (B7).
func (c linter) parameters(l *List) {
	if l.Tool.Schema == nil || l.Shared {
		return
	}
	looked := make(map[string]bool)
	var permissive *bind.Rule
	for _, r := range l.Bound {
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
	for _, p := range l.Tool.Schema.Location().Properties() {
		if !looked[p.Name] && !harmless[p.Name] && !isTarget(l.Tool.Schema, p.Name) { // lintTargets reports targets
			names = append(names, jsonstream.Pointer{p.Name}.String())
		}
	}
	if len(names) > 0 {
		c.Report(diag.IgnoresParameter, permissive.Pos, fmt.Sprintf("no unattended rule of %s looks at %s", l.Tool.Label(), some(names)),
			"a flag like `force` or `recursive` can change what a call does: constrain it with `all = [...]`, or list it in `ignores` if it cannot")
	}
}
