package policy

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/patch"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/analysis"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/regular"
	"github.com/stopgate/stopgate/schema"
)

// document writes the arguments of a witness: what the choices say at the pointers
// of the variables, and of other parameters what the schema requires. It reports
// false if no arguments that fit the schema were found.
func (t *translation) document(choices []analysis.Choice) ([]byte, bool) {
	root := &draft{kind: jsonstream.Object}
	longest := t.longest(choices)
	for i, pointer := range t.pointers {
		if pointer == nil || i >= len(choices) {
			continue // a fact of the call
		}
		if !t.place(root, i, &choices[i], longest) {
			return nil, false
		}
	}
	root.require(t.schema.Place(), rootNodes(t.schema), 0)
	text := root.append(nil)
	value, err := jsonstream.Parse(text, jsonstream.Options{ObjectRoot: true})
	if err != nil || t.schema.Validate(value) != nil {
		return nil, false
	}
	return text, true
}

func rootNodes(s *schema.Schema) []*schema.Node {
	if s == nil || s.Root == nil {
		return nil
	}
	return applying([]*schema.Node{s.Root})
}

// outer is the array that a pointer crosses first, "" if it crosses none.
func outer(pointer jsonstream.Pointer) string {
	if at := slices.Index(pointer, "*"); at >= 0 {
		return pointer[:at].String()
	}
	return ""
}

// longest finds how many elements each array needs: several variables may look into
// one.
func (t *translation) longest(choices []analysis.Choice) map[string]int {
	lengths := make(map[string]int)
	for i, c := range choices {
		if n := len(c.Leaves); t.pointers[i] != nil && t.all[i].Several {
			if c.Hole {
				n++
			}
			lengths[outer(t.pointers[i])] = max(lengths[outer(t.pointers[i])], n)
		}
	}
	return lengths
}

// place puts a choice into a document.
func (t *translation) place(root *draft, i int, c *analysis.Choice, longest map[string]int) bool {
	pointer := t.pointers[i]
	switch {
	case c.Absent:
		return true
	case c.Null && t.forms[i] == asVector:
		return root.set(pointer, nil, &draft{kind: jsonstream.Array})
	case c.Null:
		return root.set(pointer, nil, &draft{kind: jsonstream.Null})
	}
	leaf := func(v analysis.Value) *draft {
		return &draft{kind: jsonstream.String, raw: appendLeaf(nil, v, t.forms[i])}
	}
	stars := 0
	for _, token := range pointer {
		if token == "*" {
			stars++
		}
	}
	switch {
	case stars == 0 && len(c.Leaves) == 1 && !c.Hole:
		return root.set(pointer, nil, leaf(c.Leaves[0]))
	case stars == 0 && !c.Hole: // nothing is known there: an array of its own
		list := &draft{kind: jsonstream.Array}
		for _, v := range c.Leaves {
			list.elements = append(list.elements, leaf(v))
		}
		return root.set(pointer, nil, list)
	case stars == 0:
		return false
	case len(c.Leaves) == 0 && !c.Hole:
		return root.set(pointer[:slices.Index(pointer, "*")], nil, &draft{kind: jsonstream.Array})
	}
	n := longest[outer(pointer)]
	for e := range n {
		at := append([]int{e}, make([]int, stars-1)...)
		switch {
		case e < len(c.Leaves):
			if !root.set(pointer, at, leaf(c.Leaves[e])) {
				return false
			}
		case c.Hole:
			if !t.hole(root, pointer, at) {
				return false
			}
		case len(c.Leaves) > 0:
			if !root.set(pointer, at, leaf(c.Leaves[len(c.Leaves)-1])) {
				return false
			}
		}
	}
	return true
}

// hole puts a branch without a leaf into an array.
func (t *translation) hole(root *draft, pointer jsonstream.Pointer, at []int) bool {
	first := slices.Index(pointer, "*")
	rest := pointer[first+1:]
	if len(rest) == 0 {
		return root.set(pointer, at, &draft{kind: jsonstream.Null})
	}
	if next := slices.Index(rest, "*"); next >= 0 {
		return root.set(pointer[:first+1+next], at[:1], &draft{kind: jsonstream.Array})
	}
	return root.set(pointer[:first+1], at[:1], &draft{kind: jsonstream.Object})
}

// draft is a JSON value under construction.
type draft struct {
	kind     jsonstream.Kind
	raw      []byte // of a scalar, or of an object as a whole
	names    []string
	members  map[string]*draft
	elements []*draft
}

// set puts a value where a pointer leads; at are the indexes for its "*".
func (d *draft) set(pointer jsonstream.Pointer, at []int, v *draft) bool {
	if len(pointer) == 0 {
		if d.kind == jsonstream.Invalid || d.kind == v.kind && v.raw == nil {
			if d.kind == jsonstream.Invalid {
				*d = *v
			}
			return true
		}
		return d.raw != nil && v.raw != nil && string(d.raw) == string(v.raw)
	}
	token := pointer[0]
	if token == "*" && len(at) > 0 {
		if d.kind == jsonstream.Invalid {
			d.kind = jsonstream.Array
		}
		if d.kind != jsonstream.Array {
			return false
		}
		for len(d.elements) <= at[0] {
			d.elements = append(d.elements, &draft{})
		}
		return d.elements[at[0]].set(pointer[1:], at[1:], v)
	}
	if d.kind == jsonstream.Invalid {
		d.kind = jsonstream.Object
	}
	if d.kind != jsonstream.Object || d.raw != nil {
		return false
	}
	return d.member(token).set(pointer[1:], at, v)
}

func (d *draft) member(name string) *draft {
	m, ok := d.members[name]
	if !ok {
		if d.members == nil {
			d.members = make(map[string]*draft)
		}
		m = &draft{}
		d.members[name] = m
		d.names = append(d.names, name)
	}
	return m
}

// maxDraftDepth bounds schemas that contain themselves.
const maxDraftDepth = 16

// require adds what the schema asks for and nothing was said about.
func (d *draft) require(p *schema.Place, nodes []*schema.Node, depth int) {
	if depth > maxDraftDepth {
		return
	}
	switch d.kind {
	case jsonstream.Invalid:
		d.invent(p, nodes, depth)
	case jsonstream.Object:
		if d.raw != nil {
			return
		}
		for _, prop := range p.Properties() {
			_, there := d.members[prop.Name]
			if there || prop.Required {
				d.member(prop.Name).require(prop.Place, membersOf(nodes, prop.Name), depth+1)
			}
		}
	case jsonstream.Array:
		least := 0
		var items []*schema.Node
		for _, n := range nodes {
			if n.MinItems != nil {
				least = max(least, *n.MinItems)
			}
			if n.Items != nil {
				items = append(items, n.Items)
			}
		}
		for len(d.elements) < min(least, 100) {
			d.elements = append(d.elements, &draft{})
		}
		for i, e := range d.elements {
			e.require(p.Item(i), applying(items), depth+1)
		}
	}
}

func membersOf(nodes []*schema.Node, name string) []*schema.Node {
	var list []*schema.Node
	for _, n := range nodes {
		for _, prop := range n.Properties {
			if prop.Name == name {
				list = append(list, prop.Node)
			}
		}
	}
	return applying(list)
}

// invent makes a simple value that fits.
func (d *draft) invent(p *schema.Place, nodes []*schema.Node, depth int) {
	scalar := func(raw string) { *d = draft{kind: jsonstream.String, raw: []byte(raw)} }
	for _, n := range nodes {
		switch {
		case n.Const.IsValid():
			scalar(string(n.Const.Raw()))
			return
		case len(n.Enum) > 0:
			scalar(string(n.Enum[0].Raw()))
			return
		}
	}
	switch types := p.Types(); {
	case types&schema.String != 0:
		d.inventText(p, nodes)
	case types&(schema.Integer|schema.Number) != 0:
		d.inventNumber(types, nodes)
	case types&schema.Boolean != 0:
		scalar("false")
	case p.Vector():
		scalar(`["true"]`)
	case types&schema.Array != 0:
		d.kind = jsonstream.Array
		d.require(p, nodes, depth+1)
	case types&schema.Object != 0:
		d.kind = jsonstream.Object
		d.require(p, nodes, depth+1)
	default:
		scalar("null")
	}
}

// maxInvented is up to which length a text is made that has to match a pattern.
const maxInvented = 256

func (d *draft) inventText(p *schema.Place, nodes []*schema.Node) {
	text := "x"
	switch p.Annotation() {
	case schema.URL:
		text = "https://example.com/"
	case schema.Command:
		text = "true"
	case schema.Patch:
		text = "*** Begin Patch\n*** Delete File: x\n*** End Patch"
	}
	language := regular.Everything()
	limited, least, most := false, 0, -1
	for _, n := range nodes {
		if n.MinLength != nil {
			least = max(least, min(*n.MinLength, maxInvented))
		}
		if n.MaxLength != nil && (most < 0 || *n.MaxLength < most) {
			most = min(*n.MaxLength, maxInvented)
		}
		if n.MinLength != nil && len(text) < *n.MinLength {
			text += strings.Repeat("x", min(*n.MinLength, 4096)-len(text))
		}
		if n.MaxLength != nil && len(text) > *n.MaxLength {
			text = text[:max(0, *n.MaxLength)]
		}
		if n.Pattern != nil {
			language, limited = regular.Intersect(language, n.Pattern.Language()), true
		}
	}
	if limited && !language.Contains(text) {
		if least > 0 || most >= 0 {
			language = regular.Intersect(language, regular.Length(least, most))
		}
		if w, answer := language.Witness(regular.DefaultBudget); answer == regular.Yes {
			text = w
		}
	}
	*d = draft{kind: jsonstream.String, raw: jsonstream.AppendQuote(nil, text)}
}

func (d *draft) inventNumber(types schema.Type, nodes []*schema.Node) {
	whole := types&schema.Number == 0
	list := []analysis.Interval{analysis.Everything}
	for _, n := range nodes {
		list = bounded(list, n, whole)
	}
	*d = draft{kind: jsonstream.String, raw: []byte("0")}
	for _, in := range list {
		if n, ok := in.Sample(whole, func(x jsonstream.Decimal) bool {
			return !slices.ContainsFunc(nodes, func(n *schema.Node) bool { return n.MultipleOf != nil && !x.IsMultipleOf(*n.MultipleOf) })
		}); ok {
			d.raw = n.AppendCanonical(nil)
			return
		}
	}
}

// append writes the value.
func (d *draft) append(dst []byte) []byte {
	switch {
	case d.raw != nil:
		return append(dst, d.raw...)
	case d.kind == jsonstream.Object:
		dst = append(dst, '{')
		for i, name := range d.names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(jsonstream.AppendQuote(dst, name), ':')
			dst = d.members[name].append(dst)
		}
		return append(dst, '}')
	case d.kind == jsonstream.Array:
		dst = append(dst, '[')
		for i, e := range d.elements {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.append(dst)
		}
		return append(dst, ']')
	}
	return append(dst, "null"...)
}

// factsOf are the facts of the call in a witness.
func (t *translation) factsOf(choices []analysis.Choice) (agent, surface, server, principal string) {
	of := func(name string) string {
		n, ok := t.variables["when."+name]
		if !ok || n >= len(choices) || len(choices[n].Leaves) == 0 {
			return ""
		}
		return choices[n].Leaves[0].Text
	}
	return of("agent"), of("surface"), of("server"), of("principal")
}

// situationOf is what a witness says about the session's data.
func (t *translation) situationOf(choices []analysis.Choice) (s Situation) {
	for n, name := range t.names {
		polarity, key, _ := strings.Cut(strings.TrimPrefix(name, "when.session "), " ")
		if key == "" || t.pointers[n] != nil || n >= len(choices) {
			continue
		}
		met := len(choices[n].Leaves) > 0 && choices[n].Leaves[0].Text == metFact
		s = s.with(key, polarity == "permits", met)
	}
	return s
}

// unprotected welcomes values that touch no protected target, of which a floor would
// hide what rules say (K2).
func unprotected(list *match.Protected) func(schema.Annotation, analysis.Value) bool {
	return func(a schema.Annotation, v analysis.Value) bool {
		p := match.Unprotected
		switch {
		case v.Kind != analysis.Text:
		case a == schema.Path:
			p, _ = list.Path([]byte(match.PathText(v.Text)))
		case a == schema.Command || a == schema.Argv:
			p, _ = list.Command([]byte(v.Text))
		case a == schema.Patch:
			if _, ok := patch.Files(v.Text); !ok {
				return false // asked whatever rules say
			}
		}
		return p == match.Unprotected
	}
}
