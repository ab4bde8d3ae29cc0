package symbolic

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

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

// require adds the values that the schema requires and that are not set yet.
func (d *draft) require(p *schema.Location, nodes []*schema.Node, depth int) {
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
				d.member(prop.Name).require(prop.Location, membersOf(nodes, prop.Name), depth+1)
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
func (d *draft) invent(p *schema.Location, nodes []*schema.Node, depth int) {
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

func (d *draft) inventText(p *schema.Location, nodes []*schema.Node) {
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
