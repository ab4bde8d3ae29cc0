package source

import (
	"bytes"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/index"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Message implements [flow.Reader]. The words of a person are what is left of a user message without
// the blocks of the client, the prompts of models, and lines that results had before.
func (r *Reader) Message(to flow.Index, m *flow.Message) []byte {
	ix := to.(texts)
	kind := []byte(m.Source)
	if m.Opaque {
		kind = append(kind, '+')
	}
	if m.Answer {
		kind = append(kind, '?')
	}
	key := mark(markMessage, kind, []byte(m.ID), m.Text)
	if ix.Has(key) {
		return nil
	}
	b := index.Batch{Key: key}
	if large := len(m.Text) > r.maxText(); large || m.Opaque {
		b.Texts = []index.Text{{Ref: flow.Ref{Source: flow.Tool}, Sources: []flow.Source{flow.Tool}, Suspected: []flow.Source{m.Source}, Opaque: true}}
		if large {
			return ix.Add(&b)
		}
	}
	words, rest, repeats := split(m, ix)
	var person []byte
	for _, part := range words {
		seen, unseen := visible(part)
		if m.Source == flow.System {
			seen = newParagraphs(&b, seen, ix)
		}
		addText(&b, seen, nil, m.Source)
		addHidden(&b, unseen, m.Source)
		person = append(append(person, seen...), '\n')
	}
	for _, part := range rest {
		seen, unseen := visible(part)
		addText(&b, seen, mayBe(m.Source), flow.Tool)
		addHidden(&b, unseen, m.Source)
	}
	if person = bytes.TrimSpace(person); m.Source == flow.User && !m.Answer {
		if b.Person = len(person) > 0; b.Person {
			r.say(&b, person)
			b.Marks = append(b.Marks, personMarks(person)...)
		}
		b.Repeats = repeats && !b.Person
	}
	return ix.Add(&b)
}

// mayBe are the sources that a part of a message is suspected of if it is not its author's: the author
// may have written a block with the name of a client's, or repeated a line.
func mayBe(author flow.Source) []flow.Source {
	if author == flow.User || author == flow.System {
		return []flow.Source{author}
	}
	return nil
}

func addHidden(b *index.Batch, parts [][]byte, author flow.Source) {
	for _, part := range parts {
		addText(b, part, mayBe(author), flow.Tool, flow.Hidden)
	}
}

func addText(b *index.Batch, text []byte, suspected []flow.Source, sources ...flow.Source) {
	if len(bytes.TrimSpace(text)) == 0 {
		return
	}
	b.Texts = append(b.Texts, index.Text{
		Ref: flow.Ref{Source: sources[0]}, Sources: sources, Suspected: suspected, Text: text,
		Trusted: sources[0] == flow.User || sources[0] == flow.System,
	})
}

// newParagraphs returns the paragraphs of instructions that the session has not, and marks them:
// clients send their instructions again with every change.
func newParagraphs(b *index.Batch, text []byte, ix texts) []byte {
	var fresh [][]byte
	for p := range bytes.SplitSeq(text, []byte("\n\n")) {
		if m := mark(markInstruction, p); !ix.Has(m) {
			fresh, b.Marks = append(fresh, p), append(b.Marks, m)
		}
	}
	return bytes.Join(fresh, []byte("\n\n"))
}

// split divides a message into the parts that its author wrote and the others; repeats reports that
// lines of earlier texts are among these.
func split(m *flow.Message, ix texts) (words, rest [][]byte, repeats bool) {
	switch m.Source {
	case flow.System:
		words, rest = clientBlocks(m.Text, contextBlock)
		return words, rest, false
	case flow.User:
	default:
		return nil, [][]byte{m.Text}, false
	}
	if generated(m.Text) {
		return nil, [][]byte{m.Text}, false
	}
	parts, rest := clientBlocks(m.Text, clientBlock)
	for _, part := range parts {
		if ix.Has(argumentMark(part)) {
			rest = append(rest, part)
			continue
		}
		own, repeated := withoutRepeated(part, ix)
		words, rest = append(words, own...), append(rest, repeated...)
		repeats = repeats || len(repeated) > 0
	}
	return words, rest, repeats
}

// saying is a compiled condition `says`.
type saying struct {
	key      string
	anywhere bool
	pattern  *regular.Pattern
}

// sayings compiles conditions; one with a mistake never holds.
func sayings(all []*syntax.Says) (out []saying) {
	seen := map[string]bool{}
	for _, s := range all {
		p, err := regular.Compile(s.Pattern)
		if err == nil && !seen[s.Key] {
			seen[s.Key] = true
			out = append(out, saying{s.Key, s.Anywhere, p})
		}
	}
	return out
}

// say evaluates the conditions `says` on the words of a person.
func (r *Reader) say(b *index.Batch, words []byte) {
	for _, s := range r.says {
		switch {
		case !s.pattern.Match(words):
		case s.anywhere:
			b.SaidAnywhere = append(b.SaidAnywhere, s.key)
		default:
			b.Said = append(b.Said, s.key)
		}
	}
}
