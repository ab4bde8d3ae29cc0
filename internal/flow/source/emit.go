package source

import (
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/jsonstream"
)

// emit adds all texts of the result.
func (b *builder) emit(certain, suspected *coverage) {
	json := certain.in(formatJSON)
	if !json.structured() {
		b.leaf("", certain.plain(), certain.whole, suspected.whole)
	}
	if len(suspected.raw) > 0 {
		b.leaf("", certain.data, certain.raw, suspected.raw)
	}
	for _, format := range []string{formatJSON, formatYAML, formatPython} {
		if d := certain.read[format]; d.structured() {
			b.structure(d, certain.parts[format], suspected.parts[format], suspected.whole)
		}
	}
	seen := map[string]bool{}
	for _, l := range certain.labels {
		seen[string(l.source)+"="+string(l.text)] = true
		b.leaf(l.pointer, l.text, []flow.Source{l.source}, nil)
	}
	for _, l := range suspected.labels {
		if !seen[string(l.source)+"="+string(l.text)] {
			b.leaf(l.pointer, l.text, nil, []flow.Source{l.source})
		}
	}
	if len(b.batch.Texts) == 0 {
		b.add("", nil, nil, b.covering()) // a result without texts was read as well
	}
}

// structure adds the leaves and the keys of a structured result; sources that are suspected as a
// whole may have any of them. Equal keys are one text.
func (b *builder) structure(d *document, certain, suspected map[int][]flow.Source, whole []flow.Source) {
	suspects := func(at int) []flow.Source {
		if len(whole) == 0 {
			return suspected[at]
		}
		return slices.Concat(suspected[at], whole)
	}
	b.walk(d.root, "", 0, func(pointer string, v jsonstream.Value) {
		b.leaf(pointer, textOf(v), certain[offset(v)], suspects(offset(v)))
	})
	b.object = 0
	seen := map[string]bool{}
	keys(d.root, func(key jsonstream.Value) {
		text, at := key.Text(), offset(key)
		if suspected[at] != nil || !seen[text] {
			seen[text] = true
			b.leaf("", []byte(text), certain[at], suspects(at))
		}
	})
}

// walk calls each for the leaves of a value, with the pointer that is stored. object is that of which
// the value is a member; the leaves' is in b.object.
func (b *builder) walk(v jsonstream.Value, pointer string, object uint32, each func(pointer string, leaf jsonstream.Value)) {
	switch v.Kind() {
	case jsonstream.Object:
		b.objects++
		own := b.objects
		for k, m := range v.Members() {
			b.walk(m, pointer+"/"+member(k.Text()), own, each)
		}
	case jsonstream.Array:
		for e := range v.Elements() {
			b.walk(e, pointer+"/*", 0, each)
		}
	case jsonstream.String, jsonstream.Number:
		b.object = object
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
		Text: text, Object: b.object,
	}
}

// leaf adds a text with its sources: the parts that people see, those that they do not, and what its
// escapes hide.
func (b *builder) leaf(pointer string, text []byte, sources, suspected []flow.Source) {
	seen, unseen := visible(text)
	for _, s := range sources {
		suspected = with(suspected, s)
	}
	all := suspected
	if len(sources) > 0 && b.wrote && b.ownWords(pointer, seen, sources) {
		sources = nil
	}
	if len(sources) > 0 {
		suspected = slices.DeleteFunc(slices.Clone(suspected), func(s flow.Source) bool { return slices.Contains(sources, s) })
	}
	if seen != nil {
		b.add(pointer, seen, sources, suspected)
	}
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
