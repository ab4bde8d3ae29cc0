package eval

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// expansionHint is added to the public text of a guard if the command names no file that it
// protects: the reason alone would refer to files that the command does not mention. It contains no
// value of the call (F19).
const expansionHint = " (the shell may make such a file of a word with wildcards or variables: write the names out)"

// expandable are the bytes of which every word that a shell expands has one.
const expandable = "*?[{~$`"

// suspect returns the word of a command line because of which the guard on paths holds, if there is
// a single one. It parses the line again: only explanations and refusals call it.
func (e *decision) suspect(r *rule) (condition.Suspect, bool) {
	if r.first == r.end {
		return condition.Suspect{}, false
	}
	k, st := &e.plan.conds[r.first], &e.conds[r.first]
	if k.on != "path" || k.permissive || st.value.start == st.value.end {
		return condition.Suspect{}, false
	}
	ast, path := k.ast, st.path
	if r.own < 0 {
		ast, path = r.sole, e.bundles[k.bundle].paths[r.mode]
	}
	if !e.commandAt(string(e.spine.pointer(path))) {
		return condition.Suspect{}, false
	}
	m, err := match.Compile(ast.Spec, condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, true, *k.env)
	if err != nil {
		return condition.Suspect{}, false
	}
	var v condition.Value
	v.Reset(e.spine.pointer(st.value))
	return m.Suspects(&v)
}

// expands reports whether a guard holds for a command line only because of a shell expansion of a
// word.
func (e *decision) expands(r *rule) bool {
	if r.first == r.end || !bytes.ContainsAny(e.spine.pointer(e.conds[r.first].value), expandable) {
		return false
	}
	found, ok := e.suspect(r)
	return ok && found.Expands
}

// commandAt reports whether the value at a pointer is a command line in some file's schema.
func (e *decision) commandAt(pointer string) bool {
	p, err := jsonstream.ParsePointer(pointer)
	return err == nil && slices.ContainsFunc(e.plan.views, func(v *view) bool {
		return v.schema != nil && slices.ContainsFunc(v.schema.Reach(p).Locations, func(at *schema.Location) bool { return at.Has(schema.Command) })
	})
}
