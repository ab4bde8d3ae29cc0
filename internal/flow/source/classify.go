package source

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/occur"
	"github.com/stopgate/stopgate/jsonstream"
)

// documents are the readings of a result, each parsed once.
type documents struct {
	data []byte
	read map[string]*document
}

// in returns the result in a format; "" is JSON.
func (d *documents) in(format string) *document {
	if format == "" {
		format = formatJSON
	}
	doc := d.read[format]
	if doc == nil {
		if d.read == nil {
			d.read = map[string]*document{}
		}
		doc = read(d.data, format)
		d.read[format] = doc
	}
	return doc
}

// plain returns the text of a result without structure; a JSON string is its text.
func (d *documents) plain() []byte {
	if root := d.in(formatJSON).root; root.Kind() == jsonstream.String {
		return textOf(root)
	}
	return d.data
}

// coverage is the parts of a result that definitions cover for certain or, if it is loose, may cover.
type coverage struct {
	*documents
	loose bool
	// whole are the sources of the whole result where it has no structure, raw those of its bytes.
	// If it is loose, whole has the sources whose format does not fit the result.
	whole, raw []flow.Source
	// parts are the sources of leaves and keys, by format and offset in the document.
	parts map[string]map[int][]flow.Source
	// labels are texts of their own inside the texts of leaves.
	labels []labelText
	// values are the texts of sources, as values that other definitions look for.
	values map[flow.Source]map[string]bool
}

// labelText is the labelled field of a text.
type labelText struct {
	source  flow.Source
	pointer string
	text    []byte
}

// has reports whether a value is, as a whole, a text of one of the sources in this result. Words are
// also found inside of such a text.
func (c *coverage) has(value []byte, k flow.Kind, from []flow.Source) bool {
	value = []byte(fold(string(value)))
	return slices.ContainsFunc(from, func(s flow.Source) bool {
		if c.values[s][string(value)] {
			return true
		}
		if k != flow.Text || len(value) == 0 {
			return false
		}
		for text := range c.values[s] {
			if hasWords(text, string(value)) {
				return true
			}
		}
		return false
	})
}

// hasWords reports whether a text has other text between ends of words.
func hasWords(text, words string) bool {
	for at := 0; ; at++ {
		n := strings.Index(text[at:], words)
		if n < 0 {
			return false
		}
		at += n
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(words):])
		if !inWord(before) && !inWord(after) {
			return true
		}
	}
}

func inWord(r rune) bool {
	return r != utf8.RuneError && !unicode.IsSpace(r) && !strings.ContainsRune(`.,;:!?'"()<>`, r)
}

// note keeps a text of a definition for has.
func (c *coverage) note(d *definition, text []byte, number bool) {
	seen, _ := visible(text)
	value, _, ok := identity(seen, number)
	if !ok || !d.leaned {
		return
	}
	if c.values == nil {
		c.values = map[flow.Source]map[string]bool{}
	}
	if c.values[d.name] == nil {
		c.values[d.name] = map[string]bool{}
	}
	c.values[d.name][fold(string(value))] = true
}

// add adds the parts that a definition covers. The arguments fit it.
func (c *coverage) add(d *definition, find finder, own ownAddresses) {
	doc := c.in(d.format)
	if !doc.structured() {
		text := c.plain()
		if d.format == formatText {
			text = c.data
		}
		switch {
		case d.structured() && d.label != nil:
			if c.loose {
				c.addLabel(d, "", text)
			}
		case d.structured():
			if c.loose {
				c.whole = with(c.whole, d.name)
			}
		case d.label != nil:
			c.addLabel(d, "", text)
		case d.format == formatText:
			c.raw = with(c.raw, d.name)
		default:
			c.whole = with(c.whole, d.name)
		}
		return
	}
	if d.label != nil && !d.structured() && !c.loose {
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
			for key := range o.Members() {
				c.addPart(d, doc, key)
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
	if d.kind != flow.Text && !c.loose && !hasKind(v, d.kind) {
		return
	}
	parts := c.parts[doc.format]
	if parts == nil {
		if c.parts == nil {
			c.parts = map[string]map[int][]flow.Source{}
		}
		parts = map[int][]flow.Source{}
		c.parts[doc.format] = parts
	}
	at := offset(v)
	parts[at] = with(parts[at], d.name)
	c.note(d, textOf(v), v.Kind() == jsonstream.Number)
}

// addLabel adds the labelled field of a text, for certain if it has one meaning among what people
// see.
func (c *coverage) addLabel(d *definition, pointer string, text []byte) {
	seen, hidden := visible(text)
	if c.loose {
		for _, part := range append(hidden, seen) {
			for _, group := range labels(d.label, part) {
				c.labels = append(c.labels, labelText{d.name, pointer, group})
				c.note(d, group, false)
			}
		}
		return
	}
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
