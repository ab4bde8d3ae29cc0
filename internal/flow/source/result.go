package source

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/jsonstream"
)

// Result implements [flow.Reader].
func (r *Reader) Result(to flow.Index, res *flow.Result) []byte {
	ix := to.(texts)
	key := resultKey(res)
	if ix.Has(key) {
		return nil
	}
	tool, facts := r.facts(res.Tool)
	b := &builder{reader: r, index: ix, result: res, tool: tool}
	b.batch = index.Batch{Key: key, Result: true, Tool: tool}
	b.wrote = ix.Has(markWrote)
	echo, known := argumentTexts(res.Args)
	b.batch.Echo = echo
	if b.omit() {
		return ix.Add(&b.batch)
	}
	documents := &documents{data: res.Data}
	suspected := b.classify(&coverage{documents: documents, loose: true}, facts)
	certain := &coverage{documents: documents}
	if known && !facts.Effect && res.Released && !res.Failed && tool != "" && b.first() && !r.readsWritten(ix, res.Args) {
		b.classify(certain, facts)
	}
	b.emit(certain, suspected)
	b.batch.Marks = append(b.batch.Marks, lineMarks(res.Data, markResultLine, ix)...)
	return ix.Add(&b.batch)
}

// builder collects the texts of a result.
type builder struct {
	reader *Reader
	index  texts
	result *flow.Result
	tool   stopgate.ToolName
	batch  index.Batch
	wrote  bool // the agent wrote something with an effect

	objects uint32 // of the structured readings, so far
	object  uint32 // that of the leaf
}

// covering returns the sources of which a text may be in a result that cannot be read: those whose
// definitions name the tool, unless a constant or a pattern of `asked` excludes the arguments. For an
// unknown tool it returns all.
func (b *builder) covering() (sources []flow.Source) {
	args, err := jsonstream.Parse(b.result.Args, options)
	for _, d := range b.reader.definitions {
		_, covered := d.named(b.tool)
		fits := err != nil || !slices.ContainsFunc(d.asked, func(q requirement) bool { return q.excludes(args) })
		if b.tool == "" || covered && fits {
			sources = with(sources, d.name)
		}
	}
	return sources
}

// omit adds a result that is too large to be read, or of which the model reads more than its text.
func (b *builder) omit() bool {
	large := len(b.result.Data) > b.reader.maxText()
	if !large && !b.result.Opaque {
		return false
	}
	t := b.text("", nil)
	t.Opaque = true
	t.Sources, t.Suspected = []flow.Source{flow.Tool}, b.covering()
	b.batch.Texts = append(b.batch.Texts, t)
	return large
}

// first reports whether this is the first result of its call. A later one with another text, as
// from a client that edits history, has only the source tool.
func (b *builder) first() bool {
	id := string(b.result.Proposal)
	if id == "" {
		id = string(b.result.Call)
	}
	if id == "" {
		return true
	}
	key := mark(markCall, []byte(id), []byte(b.tool), b.result.Args)
	if b.index.Has(key) {
		return false
	}
	b.batch.Marks = append(b.batch.Marks, key)
	return true
}

// classify evaluates the definitions that name the tool, in the order in which they lean on each
// other: one may lean on the texts that another covers in this same result. Without certainty it
// finds what they may cover, as if the tool were declared and the result trustworthy.
func (b *builder) classify(c *coverage, facts Facts) *coverage {
	args, err := jsonstream.Parse(b.result.Args, options)
	view := b.index.View()
	find := func(value []byte, q flow.Query) bool {
		q.Trusted = b.reader.trusted
		f := view.Find(value, &q)
		if c.loose {
			return f.Possible || c.has(value, q.Kind, q.Sources)
		}
		return f.Certain || c.has(value, q.Kind, q.Sources) && !b.echoes(value) && !(b.wrote && b.index.Written(value, q.Kind))
	}
	for _, d := range b.reader.definitions {
		literally, covered := d.named(b.tool)
		unknown := b.tool == "" // it may be any of them
		if !covered && !(c.loose && unknown) || !c.loose && !literally && !facts.Declared {
			continue
		}
		if c.loose && (unknown || err != nil) || hold(d.asked, args, find, b.reader.own) {
			c.add(d, find, b.reader.own)
		}
	}
	return c
}

// echoes reports whether the arguments of the call have a value.
func (b *builder) echoes(value []byte) bool {
	value = asciiLower(value)
	return slices.ContainsFunc(b.batch.Echo, func(arg []byte) bool { return bytes.Contains(asciiLower(arg), value) })
}

func resultKey(r *flow.Result) []byte {
	flags := []byte{0}
	if r.Released {
		flags[0] |= 1
	}
	if r.Failed {
		flags[0] |= 2
	}
	if r.Opaque {
		flags[0] |= 4
	}
	return mark(markResult, []byte(r.Proposal), []byte(r.Call), []byte(r.Tool), flags, r.Args, r.Data)
}
