package session

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// requirementPart is the part about one tool.
type requirementPart struct {
	*Requirement
	dependent bool  // the tool needs the prerequisites
	breaks    bool  // it invalidates them
	gives     []int // it is these of them
}

func (r *Requirement) about(tool stopgate.ToolName) part {
	r.once.Do(r.nameCells)
	p := &requirementPart{Requirement: r, dependent: r.before.Match(tool), breaks: r.broken.Match(tool)}
	for i, s := range r.each {
		if s.Match(tool) {
			p.gives = append(p.gives, i)
		}
	}
	return p
}

// Needs are the cells of the prerequisites.
func (r *Requirement) Needs(c Call) []Key { return r.about(c.Tool).needs(nil, &c) }

func (r *requirementPart) needs(keys []Key, c *Call) []Key {
	if !r.dependent {
		return keys
	}
	values, ok := r.values(c)
	if !ok {
		return keys
	}
	for _, value := range values {
		for i := range r.requires {
			keys = append(keys, r.success(i, value))
		}
		if value != "" && !r.broken.Empty() {
			keys = append(keys, r.invalidated(value))
		}
	}
	if !r.broken.Empty() {
		keys = append(keys, r.invalidated(""))
	}
	for _, name := range r.approvals {
		keys = append(keys, ApprovalKey(name))
	}
	return keys
}

// values are the key values of a call; one that is empty for a policy without key.
func (r *Requirement) values(c *Call) ([]string, bool) {
	if !r.key.needsArgs() {
		return noValue[:], true
	}
	return r.key.of(c)
}

// noValue is the value of a policy without key.
var noValue = [1]string{}

// success is the cell of a prerequisite. Literal names without a key share the cell
// that is kept for every tool, so that a success counts whoever asks for it (P13).
func (r *Requirement) success(i int, value string) Key {
	return Key{Space: SpaceTool, Name: r.names[i], Value: ValueOf(value)}
}

func (r *Requirement) nameCells() {
	for i, name := range r.requires {
		if !r.exact[i] {
			name = r.name + " " + name
		}
		if r.key.needsArgs() {
			name += " " + r.key.label()
		}
		r.names = append(r.names, name)
	}
}

func (k keyer) label() string {
	var texts []string
	for _, p := range k.pointers {
		texts = append(texts, p.String())
	}
	label := strings.Join(texts, " ")
	if k.path {
		label = "path " + label
	}
	return label
}

func (r *Requirement) invalidated(value string) Key {
	return Key{Space: SpaceBroken, Name: r.name, Value: ValueOf(value)}
}

// Marks are the successes that a prerequisite will mean, and what the call breaks.
func (r *Requirement) Marks(c Call) []Mark { return r.about(c.Tool).marks(nil, &c) }

func (r *requirementPart) marks(marks []Mark, c *Call) []Mark {
	if !r.breaks && len(r.gives) == 0 {
		return marks
	}
	values, ok := r.values(c)
	if r.breaks {
		if !ok { // everything it could have touched
			marks = append(marks, Mark{Key: r.invalidated(""), Breaks: true})
		}
		for _, value := range values {
			marks = append(marks, Mark{Key: r.invalidated(value), Breaks: true})
		}
	}
	if !ok {
		return marks
	}
	for _, i := range r.gives {
		for _, value := range values {
			if k := r.success(i, value); k != ToolKey(c.Tool) {
				marks = append(marks, Mark{Key: k, Permits: true, Opens: true})
			}
		}
	}
	return marks
}

// ToolKey is the cell of a tool's successes, which is kept for every call.
func ToolKey(tool stopgate.ToolName) Key { return Key{Space: SpaceTool, Name: string(tool)} }

// Check asks for the prerequisites of a dependent tool.
func (r *Requirement) Check(v View, c Call) Decision { return r.about(c.Tool).check(&v, &c) }

func (r *requirementPart) check(v *View, c *Call) Decision {
	if !r.dependent {
		return Allow()
	}
	if v.Owner.Session == "" {
		return homeless(c)
	}
	values, ok := r.values(c)
	if !ok {
		return r.noKey(c)
	}
	calls, approvals, pending := r.missingFor(v, values)
	if len(calls)+len(approvals) == 0 {
		return Allow()
	}
	missing := slices.Clone(calls)
	for _, name := range approvals {
		missing = append(missing, "approval of "+name)
	}
	slices.Sort(missing)
	d := Decision{Code: stopgate.CodePrerequisiteMissing, Missing: missing, Public: r.public}
	d.Meta = map[string]string{"tool": string(c.Tool), "missing": strings.Join(missing, ", ")}
	if r.key.needsArgs() {
		d.Meta["key"] = r.key.label()
	}
	if pending {
		d.Code = stopgate.CodePrerequisitePending
	}
	if d.Public == "" && !pending {
		d.Public = r.sentence(calls, approvals)
	}
	return d
}

func (r *Requirement) noKey(c *Call) Decision {
	if r.missing == allowMissing {
		return Allow()
	}
	return Decision{
		Code: stopgate.CodeKeyUnavailable, Public: "This call must name its target in " + r.key.label() + ", plainly and once.",
		Meta: map[string]string{"tool": string(c.Tool), "key": r.key.label()},
	}
}

// missingFor lists the prerequisites that do not stand for every value: calls, and names
// under which a person approves. pending says that all of them are on their way.
func (r *Requirement) missingFor(v *View, values []string) (calls, approvals []string, pending bool) {
	waiting := 0
	broken := uint64(0)
	if !r.broken.Empty() {
		broken = v.cell(r.invalidated("")).Broken
	}
	for i, tool := range r.requires {
		met, open := true, false
		for _, value := range values {
			since := broken
			if value != "" && !r.broken.Empty() {
				since = max(since, v.cell(r.invalidated(value)).Broken)
			}
			key := r.success(i, value)
			cell := v.cell(key)
			if !r.stands(v, cell, since) {
				met = false
				open = open || underWay(v, &key, cell, since)
			}
		}
		if !met {
			calls = append(calls, tool)
		}
		if open {
			waiting++
		}
	}
	for _, name := range r.approvals {
		if !r.stands(v, v.cell(ApprovalKey(name)), broken) {
			approvals = append(approvals, name)
		}
	}
	missing := len(calls) + len(approvals)
	if r.any && missing < len(r.requires)+len(r.approvals) {
		return nil, nil, false
	}
	slices.Sort(calls)
	slices.Sort(approvals)
	return calls, approvals, waiting > 0 && (r.any || waiting == missing)
}

// stands reports whether one of the successes still counts.
func (r *Requirement) stands(v *View, c *Cell, broken uint64) bool {
	for i := range c.Permits {
		p := &c.Permits[i]
		age := v.Now - p.At
		switch {
		case !v.stands(p, max(broken, c.Broken)), r.observed && !p.Observed, !p.Certain && !r.unknown:
		case r.within > 0 && (age < 0 || age > r.within):
		default:
			return true
		}
	}
	return false
}

// underWay reports that the prerequisite was called and cannot count yet. A call of which
// nothing was heard for long is not waited for: the host's user refused it, or nobody
// listened to results then.
func underWay(v *View, k *Key, c *Cell, broken uint64) bool {
	if slices.Contains(v.UnderWay, *k) {
		return true
	}
	for _, o := range c.Open {
		if o.Seq > broken && v.Now-o.At < inflightTTL.Milliseconds() {
			return true
		}
	}
	for _, p := range c.Permits {
		if p.Seq > v.Horizon && p.Seq > broken {
			return true
		}
	}
	return false
}

// sentence tells the model what to do first.
func (r *Requirement) sentence(calls, approvals []string) string {
	join := " and "
	if r.any {
		join = " or "
	}
	var first []string
	if len(calls) > 0 {
		text := "call " + strings.Join(calls, join) + " first"
		if r.key.needsArgs() {
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
