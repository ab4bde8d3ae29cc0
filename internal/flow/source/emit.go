package source

import (
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/jsonstream"
)

// emit adds all texts of the result.
func (b *builder) emit(c *coverage) {
	json := c.document(formatJSON)
	if !json.structured() || len(c.raw) > 0 {
		b.leaf("", c.plain(), c.whole)
		if len(c.raw) > 0 {
			b.leaf("", c.data, c.raw)
		}
	}
	for _, format := range []string{formatJSON, formatYAML, formatPython} {
		if d := c.documents[format]; d != nil {
			b.structure(d, c.parts[format])
		}
	}
	b.labels(c)
	if len(b.batch.Texts) == 0 {
		b.suspect(b.tool) // a result without texts was read as well
		b.add("", nil, nil, b.suspects)
	}
}

// structure adds the leaves and the keys of a structured result. Equal keys are one text.
func (b *builder) structure(d *document, parts map[int][]flow.Source) {
	if !d.structured() {
		return
	}
	b.walk(d.root, "", func(pointer string, v jsonstream.Value) {
		b.leaf(pointer, textOf(v), parts[offset(v)])
	})
	seen := map[string]bool{}
	keys(d.root, func(key jsonstream.Value) {
		text, sources := key.Text(), parts[offset(key)]
		if sources != nil || !seen[text] {
			seen[text] = true
			b.leaf("", []byte(text), sources)
		}
	})
}

func (b *builder) labels(c *coverage) {
	for _, l := range c.labels {
		b.leaf(l.pointer, l.text, []flow.Source{l.source})
	}
}

// walk calls each for the leaves of a value, with the pointer that is stored.
func (b *builder) walk(v jsonstream.Value, pointer string, each func(pointer string, leaf jsonstream.Value)) {
	switch v.Kind() {
	case jsonstream.Object:
		for k, m := range v.Members() {
			b.walk(m, pointer+"/"+member(k.Text()), each)
		}
	case jsonstream.Array:
		for e := range v.Elements() {
			b.walk(e, pointer+"/*", each)
		}
	case jsonstream.String, jsonstream.Number:
		each(pointer, v)
	}
}

// member returns a key as pointers of texts have it: a name, or "*" for a key that may be data.
func member(key string) string {
	if len(key) == 0 || len(key) > 40 {
		return "*"
	}
	for i := range len(key) {
		c := key[i]
		if !(c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z') {
			return "*"
		}
	}
	return key
}

// text returns a text of the result that is not filled in.
func (b *builder) text(pointer string, text []byte) index.Text {
	return index.Text{
		Ref:  flow.Ref{Tool: b.tool, Call: b.result.Call, Proposal: b.result.Proposal, Pointer: pointer},
		Text: text,
	}
}

// leaf adds a text with declared sources: the parts that people see, those that they do not, and
// what its escapes hide.
func (b *builder) leaf(pointer string, text []byte, sources []flow.Source) {
	seen, unseen := visible(text)
	doubted := b.suspects
	if len(sources) > 0 && b.wrote {
		if b.ownWords(pointer, seen, sources) {
			doubted, sources = slices.Concat(sources, doubted), nil
		}
	}
	if seen != nil {
		b.add(pointer, seen, sources, doubted)
	}
	all := slices.Concat(sources, doubted)
	for _, part := range unseen {
		t := b.text(pointer, part)
		t.Sources, t.Suspected = []flow.Source{flow.Tool, flow.Hidden}, all
		b.batch.Texts = append(b.batch.Texts, t)
	}
	if more := decoded(text); more != nil {
		b.add(pointer, more, nil, all)
	}
}

func (b *builder) add(pointer string, text []byte, sources, suspected []flow.Source) {
	t := b.text(pointer, text)
	t.Sources = append(slices.Clone(sources), flow.Tool)
	t.Suspected = suspected
	t.Trusted = slices.ContainsFunc(sources, func(s flow.Source) bool { return slices.Contains(b.reader.trusted, s) })
	b.batch.Texts = append(b.batch.Texts, t)
}
