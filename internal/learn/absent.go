package learn

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// define notes the parameters of a tool as a definition describes them. Those that no approved call has are no less
// part of its calls: a rule that is silent about them permits them with any value.
func (t *toolCalls) define(text []byte) {
	s, _, err := schema.ParseJSON(text)
	if err != nil || s.Root == nil || slices.Contains(t.definitions, string(text)) {
		return
	}
	t.definitions = append(t.definitions, string(text))
	t.schemas = append(t.schemas, s.Root)
}

// absent returns conditions that the parameters which a unit does not have are absent: those of the tool's
// definitions, those that its own table states, and those that other calls have.
func (f *family) absent(leaves []leaf) (terms []term) {
	has := func(arg string) bool {
		at := func(other string) bool { return other == arg || strings.HasPrefix(other, arg+"/") }
		return slices.ContainsFunc(leaves, func(l leaf) bool { return at(l.arg) }) || slices.ContainsFunc(f.free, at)
	}
	emit := func(arg string) {
		if !slices.ContainsFunc(terms, func(t term) bool { return t.arg == arg || strings.HasPrefix(arg, t.arg+"/") }) {
			terms = append(terms, term{arg: arg, condition: "present = false"})
		}
	}
	for _, root := range f.tool.schemas {
		f.missing(root, nil, has, emit)
	}
	for _, name := range f.tool.stated {
		if arg := (jsonstream.Pointer{name}).String(); !has(arg) {
			emit(arg)
		}
	}
	for _, arg := range f.tool.args {
		if !has(arg) {
			emit(arg)
		}
	}
	return terms
}

// missing calls emit for the topmost members below a node that a unit does not have.
func (f *family) missing(n *schema.Node, at jsonstream.Pointer, has func(string) bool, emit func(string)) {
	for n.Items != nil {
		n = n.Items
	}
	for _, p := range n.Properties {
		to := append(slices.Clone(at), p.Name)
		open := f.effect == writes && f.varies(to.String(), annotationOf(p.Name, p.Node, nil))
		switch inner := len(p.Node.Properties) > 0 || p.Node.Items != nil && len(p.Node.Items.Properties) > 0; {
		case inner && (open || has(to.String())):
			f.missing(p.Node, to, has, emit)
		case !open && !has(to.String()):
			emit(to.String())
		}
	}
}
