package policies

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// Needs returns the cells of the prerequisites.
func (r *Requirement) Needs(c session.Call) []session.Key {
	if !r.before.Match(c.Tool) {
		return nil
	}
	values, ok := r.values(&c)
	if !ok {
		return nil
	}
	cells := make([]session.Key, 0, len(values)*(len(r.requires)+1)+1+len(r.approvals))
	for _, value := range values {
		for i := range r.requires {
			cells = append(cells, r.success(i, value))
		}
		if value != "" && !r.broken.Empty() {
			cells = append(cells, r.invalidated(value))
		}
	}
	if !r.broken.Empty() {
		cells = append(cells, r.invalidated(""))
	}
	for _, name := range r.approvals {
		cells = append(cells, session.ApprovalKey(name))
	}
	return cells
}

// values returns the key values of a call; one empty value for a policy without key.
func (r *Requirement) values(c *session.Call) ([]string, bool) {
	if !r.key.used() {
		return noValue, true
	}
	return r.key.values(c)
}

// success returns the cell of a prerequisite. Literal names without a key share the cell
// that is kept for every tool, so that a success counts for every policy (P13).
func (r *Requirement) success(i int, value string) session.Key {
	name := r.requires[i].tool
	if !r.requires[i].tools.Literal() {
		name = r.name + " " + name
	}
	if r.key.used() {
		name += " " + r.key.label()
	}
	return session.Key{Scope: r.scope, Space: session.SpaceTool, Name: r.inProject(name), Value: session.ValueOf(value)}
}

func (r *Requirement) invalidated(value string) session.Key {
	return session.Key{Scope: r.scope, Space: session.SpaceBroken, Name: r.inProject(r.name), Value: session.ValueOf(value)}
}

// inProject returns the name of a cell of the policy's project.
func (r *Requirement) inProject(name string) string {
	if r.project == "" {
		return name
	}
	return name + " in " + r.project
}

// Marks returns the prerequisites that the call satisfies once it succeeds, and those that
// it invalidates. A call without a key value invalidates them for every value.
func (r *Requirement) Marks(c session.Call) []session.Mark {
	breaks := r.broken.Match(c.Tool)
	if !breaks && !r.after.Match(c.Tool) {
		return nil
	}
	var marks []session.Mark
	values, ok := r.values(&c)
	if breaks {
		if !ok {
			marks = append(marks, session.Mark{Key: r.invalidated(""), Breaks: true})
		}
		for _, value := range values {
			marks = append(marks, session.Mark{Key: r.invalidated(value), Breaks: true})
		}
	}
	if !ok {
		return marks
	}
	for i := range r.requires {
		if !r.requires[i].tools.Match(c.Tool) {
			continue
		}
		for _, value := range values {
			if k := r.success(i, value); k != session.ToolKey(c.Tool) {
				marks = append(marks, session.Mark{Key: k, Permits: true, Opens: true})
			}
		}
	}
	return marks
}

// Check denies a dependent call while prerequisites are missing.
func (r *Requirement) Check(v session.View, c session.Call) session.Decision {
	if !r.before.Match(c.Tool) {
		return session.Allow()
	}
	if v.Owner.Session == "" && r.scope == session.OfSession {
		return withoutSession(&c)
	}
	values, ok := r.values(&c)
	if !ok {
		return r.withoutKey(&c)
	}
	calls, approvals, waiting := r.missingFor(&v, values)
	if len(calls)+len(approvals) == 0 {
		return session.Allow()
	}
	missing := slices.Clone(calls)
	for _, name := range approvals {
		missing = append(missing, "approval of "+name)
	}
	slices.Sort(missing)
	d := session.Decision{Code: stopgate.CodePrerequisiteMissing, Missing: missing, Public: r.public}
	d.Meta = map[string]string{"tool": string(c.Tool), "missing": strings.Join(missing, ", ")}
	if r.key.used() {
		d.Meta["key"] = r.key.label()
	}
	if waiting {
		d.Code = stopgate.CodePrerequisitePending
	}
	if d.Public == "" && !waiting {
		d.Public = r.sentence(calls, approvals)
	}
	return asks(r.ask, d, r.detail(calls, approvals, values))
}

// detail names the missing prerequisites for a person.
func (r *Requirement) detail(calls, approvals, of []string) string {
	join, text := " and ", ""
	if r.any {
		join = " or "
	}
	if len(calls) > 0 {
		text = strings.Join(calls, join) + " did not succeed " + r.per
	}
	if len(approvals) > 0 {
		if text != "" {
			text += join
		}
		text += "the approval " + strings.Join(approvals, join) + " was not given"
	}
	if of := valueList(of); of != "" {
		text += ", for " + r.key.label() + " " + of
	}
	if r.within > 0 {
		text += ", within " + span(r.within)
	}
	return text
}

func (r *Requirement) withoutKey(c *session.Call) session.Decision {
	if r.missing == allowMissing {
		return session.Allow()
	}
	return session.Decision{
		Code: stopgate.CodeKeyUnavailable, Public: "This call must name its target in " + r.key.label() + ", plainly and once.",
		Meta: map[string]string{"tool": string(c.Tool), "key": r.key.label()},
	}
}

// missingFor returns the prerequisites that are not satisfied for every value: calls, and
// names of approvals. waiting reports that the calls that would satisfy them are open.
func (r *Requirement) missingFor(v *session.View, values []string) (calls, approvals []string, waiting bool) {
	open := 0
	broken := uint64(0)
	if !r.broken.Empty() {
		broken = v.Cell(r.invalidated("")).Broken
	}
	for i := range r.requires {
		met, isOpen := true, false
		for _, value := range values {
			since := broken
			if value != "" && !r.broken.Empty() {
				since = max(since, v.Cell(r.invalidated(value)).Broken)
			}
			key := r.success(i, value)
			cell := v.Cell(key)
			if !r.satisfied(v, cell, since) {
				met = false
				isOpen = isOpen || pending(v, key, cell, since)
			}
		}
		if !met {
			calls = append(calls, r.requires[i].tool)
		}
		if isOpen {
			open++
		}
	}
	for _, name := range r.approvals {
		if !r.satisfied(v, v.Cell(session.ApprovalKey(name)), broken) {
			approvals = append(approvals, name)
		}
	}
	missing := len(calls) + len(approvals)
	if r.any && missing < len(r.requires)+len(r.approvals) {
		return nil, nil, false
	}
	slices.Sort(calls)
	slices.Sort(approvals)
	return calls, approvals, open > 0 && (r.any || open == missing)
}

// satisfied reports whether one of the successes in the cell still counts.
func (r *Requirement) satisfied(v *session.View, c *session.Cell, broken uint64) bool {
	for i := range c.Permits {
		p := &c.Permits[i]
		age := v.Now - p.At
		switch {
		case !v.InForce(*p, max(broken, c.Broken)), r.observed && !p.Observed, !p.Certain && !r.unknown:
		case r.within > 0 && (age < 0 || age > r.within):
		default:
			return true
		}
	}
	return false
}

// sentence tells the model which call to make first.
func (r *Requirement) sentence(calls, approvals []string) string {
	join := " and "
	if r.any {
		join = " or "
	}
	var first []string
	if len(calls) > 0 {
		text := "call " + strings.Join(calls, join) + " first"
		if r.key.used() {
			text += " with the same " + r.key.label()
		}
		if len(calls) == 1 || r.any {
			text += "; it must have succeeded"
		} else {
			text += "; they must have succeeded"
		}
		first = append(first, text)
	}
	if len(approvals) > 0 {
		first = append(first, "ask the user for the approval named "+strings.Join(approvals, join))
	}
	text := strings.Join(first, "; "+strings.TrimSpace(join)+" ")
	if r.within > 0 {
		text += " within " + span(r.within)
	}
	return strings.ToUpper(text[:1]) + text[1:] + "."
}
