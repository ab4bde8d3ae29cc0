package diff

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/schema"
)

// neverLoosens reports that a parameter which only the old file declares made no call stricter:
// no rule reads it, and a value of another type got no stricter mode than every call gets now.
func neverLoosens(tool *comparedTool, name string, before, after *sidePolicy, bound [2]*boundPolicy) bool {
	if before.declared(tool).node(name) == nil || after.declared(tool).node(name) != nil || !inert(tool, name, before, after) {
		return false
	}
	weakest := stopgate.Strictest(bound[1].weakest(), undeclaredMode(after, after.Schema.Location().Member([]byte(name)).Kind))
	return stopgate.Strictest(weakest, before.OnSchema) == weakest
}

// neverTightens reports that a parameter which a file declares, and the other file does not,
// makes no call stricter where it is not declared: no permit needs cover, and no guard suspects
// undeclared values, or one did so before: in a list of anything, where other types were
// denied.
func neverTightens(tool *comparedTool, name string, before, after *sidePolicy, bound [2]*boundPolicy) bool {
	if before.declared(tool).node(name) == nil || after.declared(tool).node(name) != nil || bound[1].needsCover(after) {
		return false
	}
	kind := after.Schema.Location().Member([]byte(name)).Kind
	if len(bound[1].written) == 0 {
		return kind != schema.Undeclared && kind != schema.Forbidden || stopgate.Strictest(bound[0].weakest(), undeclaredMode(after, kind)) == bound[0].weakest()
	}
	hashes, _ := before.declared(tool).hashes()
	list := &schema.Node{Types: schema.Object, HasProperties: true, Properties: []schema.Property{{Name: name, Node: &schema.Node{Types: schema.Array}}}}
	return hashes[name] == hashOf(list) && before.OnSchema == stopgate.Deny && kind == schema.FreeForm &&
		!slices.ContainsFunc(bound[1].written, func(g *syntax.Rule) bool {
			return g.Match == syntax.QuantifierAll || slices.ContainsFunc(g.Conditions, func(k syntax.Condition) bool { return k.On == "string" || k.Match == syntax.QuantifierAll })
		})
}

// undeclaredMode is the weakest mode of a call with a parameter that the schema does not have.
func undeclaredMode(s *sidePolicy, kind schema.MemberKind) stopgate.Mode {
	switch {
	case kind == schema.Forbidden:
		return s.OnSchema
	case kind != schema.Undeclared || s.Params == syntax.ParamAllow:
		return stopgate.Unattended
	case s.Params == syntax.ParamAsk:
		return stopgate.Ask
	}
	return stopgate.Deny
}

// needsCover reports whether a rule of the list permits only calls that it covers.
func (b *boundPolicy) needsCover(s *sidePolicy) bool {
	return slices.ContainsFunc(b.rules, s.permitsCovered())
}

// permitsCovered returns a function that reports whether a rule permits only calls that it covers.
func (s *sidePolicy) permitsCovered() func(*symbolic.Rule) bool {
	_, table, _ := s.List(syntax.RunList)
	shared := syntax.IsGlob(table) || s.Covers(table)
	return func(r *symbolic.Rule) bool {
		return s.Uncovered != syntax.ParamAllow && r.Mode.Permissive() && (len(r.Conditions) > 0 || shared)
	}
}

// weakest is the weakest mode that the list answers with.
func (b *boundPolicy) weakest() stopgate.Mode {
	mode := b.end
	for i, r := range b.rules {
		if i == 0 && r.CatchAll() {
			return r.Mode
		}
		if stopgate.Strictest(mode, r.Mode) == mode {
			mode = r.Mode
		}
	}
	return mode
}

// inert reports whether no guard, floor or default of a file looks at a declared parameter, or
// at anything in it, that does not look there when the parameter is not declared.
func inert(tool *comparedTool, name string, before, after *sidePolicy) bool {
	free := after.Schema.Location().Member([]byte(name)).Kind == schema.FreeForm
	declared := before.Schema.Location().Member([]byte(name))
	property := before.Schema.Location().Properties()
	if node := before.declared(tool).node(name); node.HasProperties || node.Items != nil {
		return false // it closes the objects in it
	}
	if declared.Kind != schema.DeclaredName || property[declared.Property].Required || len(property[declared.Property].Aliases) > 0 {
		return false
	}
	for pointer, place := range before.Schema.All() {
		if pointer[0] != name {
			continue
		}
		if len(place.Defaults()) > 0 || !place.Tabled() && !free || place.Runs() || place.HasWithin(schema.Path) || place.HasWithin(schema.Patch) {
			return false
		}
		for _, g := range before.File.Guards {
			for _, k := range g.Conditions {
				if g.Match == syntax.QuantifierAll || k.Match == syntax.QuantifierAll || k.On == "string" || k.On != "" && place.Guarded(k.On) {
					return false
				}
			}
		}
	}
	return true
}
