package source

import (
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/occur"
	"github.com/stopgate/stopgate/jsonstream"
)

// coverage is the parts of a result that definitions cover.
type coverage struct {
	documents map[string]*document
	data      []byte
	// whole are the sources of the whole result where it has no structure, raw those of its bytes.
	whole, raw []flow.Source
	// parts are the sources of leaves and keys, by format and offset in the document.
	parts map[string]map[int][]flow.Source
	// labels are texts of their own inside the texts of leaves.
	labels []labelText
	// values are the texts of sources, as values that other definitions look for.
	values map[flow.Source]map[string]bool
	// unread are sources whose format does not fit the result.
	unread []flow.Source
}

// labelText is the labelled field of a text.
type labelText struct {
	source  flow.Source
	pointer string
	text    []byte
}

func newCoverage(data []byte) *coverage {
	return &coverage{documents: map[string]*document{}, data: data, parts: map[string]map[int][]flow.Source{}, values: map[flow.Source]map[string]bool{}}
}

// has reports whether a value is, as a whole, a text of one of the sources in this result.
func (c *coverage) has(value []byte, from []flow.Source) bool {
	return slices.ContainsFunc(from, func(s flow.Source) bool { return c.values[s][fold(string(value))] })
}

// note keeps a text of a definition for has.
func (c *coverage) note(d *definition, text []byte, number bool) {
	value, _, ok := identity(text, number)
	if !ok || !d.leaned {
		return
	}
	if c.values[d.name] == nil {
		c.values[d.name] = map[string]bool{}
	}
	c.values[d.name][fold(string(value))] = true
}

// document returns the result in a format, which is parsed once.
func (c *coverage) document(format string) *document {
	if format == "" {
		format = formatJSON
	}
	d := c.documents[format]
	if d == nil {
		d = read(c.data, format)
		c.documents[format] = d
	}
	return d
}

// plain returns the text of a result without structure; a JSON string is its text.
func (c *coverage) plain() []byte {
	if root := c.document(formatJSON).root; root.Kind() == jsonstream.String {
		return textOf(root)
	}
	return c.data
}

// add adds the parts that a definition covers. The arguments fit it.
func (c *coverage) add(d *definition, find finder, own ownAddresses) {
	doc := c.document(d.format)
	if !doc.structured() {
		text := c.plain()
		if d.format == formatText {
			text = c.data
		}
		switch {
		case d.structured():
			c.unread = with(c.unread, d.name)
		case d.label != nil:
			c.addLabel(d, "", text)
		case d.format == formatText:
			c.raw = with(c.raw, d.name)
		default:
			c.whole = with(c.whole, d.name)
		}
		return
	}
	if d.label != nil && !d.structured() {
		return // a label in a structured result needs the field that has it
	}
	items := []jsonstream.Value{doc.root}
	if len(d.items) > 0 {
		items, _ = resolve(nil, doc.root, d.items)
	}
	for _, item := range items {
		if hold(d.where, item, find, own) {
			c.addItem(d, doc, item)
		}
	}
}

// addItem adds the fields of an item.
func (c *coverage) addItem(d *definition, doc *document, item jsonstream.Value) {
	if d.keys {
		n := max(len(d.field)-1, 0)
		objects, _ := resolve(nil, item, d.field[:n])
		for _, o := range objects {
			if o.Kind() == jsonstream.Object {
				for key := range o.Members() {
					c.addPart(d, doc, key)
				}
			}
		}
		return
	}
	values, _ := resolve(nil, item, d.field)
	for _, v := range values {
		leaves(v, func(leaf jsonstream.Value) {
			if d.label != nil {
				c.addLabel(d, d.field.String(), textOf(leaf))
				return
			}
			c.addPart(d, doc, leaf)
		})
	}
}

func (c *coverage) addPart(d *definition, doc *document, v jsonstream.Value) {
	if d.kind != flow.Text && !hasKind(v, d.kind) {
		return
	}
	parts := c.parts[doc.format]
	if parts == nil {
		parts = map[int][]flow.Source{}
		c.parts[doc.format] = parts
	}
	at := offset(v)
	parts[at] = with(parts[at], d.name)
	c.note(d, textOf(v), v.Kind() == jsonstream.Number)
}

func (c *coverage) addLabel(d *definition, pointer string, text []byte) {
	seen, _ := visible(text)
	if group, ok := labelled(d.label, seen); ok {
		c.labels = append(c.labels, labelText{d.name, pointer, group})
		c.note(d, group, false)
	}
}

// hasKind reports whether the text of a leaf is a value of a kind.
func hasKind(v jsonstream.Value, k flow.Kind) bool {
	if k == flow.ID {
		return true
	}
	return len(occur.Value(textOf(v), &flow.Query{Kind: k, Weak: true}).Plain) > 0
}

// with adds a source to a list that has it not. Lists of several parts may share memory.
func with(list []flow.Source, s flow.Source) []flow.Source {
	for _, have := range list {
		if have == s {
			return list
		}
	}
	return append(list[:len(list):len(list)], s)
}
