package source

import (
	"bytes"
	"path"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/occur"
	"github.com/stopgate/stopgate/jsonstream"
)

// The agent can read back what it wrote: a mail to itself, a download, a cart, a contact that it
// added. Without a memory of that, a value of an attacker would become one of a trusted source. So
// the index keeps what calls with an effect wrote, and
//
//   - a read with a path, an address or an id that was written, or with the same parameter as a
//     written one, has no certain source (readsWritten). Paths count at and below what was written,
//     and folders above it;
//   - a text that repeats a written value, or a part of a text that does, has no certain source
//     (ownWords).
//
// All of it is suspicion: what is not understood counts as written.

// maxWritten is how many values of one call are kept; of a call with more, everything counts as
// written.
const maxWritten = 50_000

// Call implements [flow.Reader].
func (r *Reader) Call(to flow.Index, tool stopgate.ToolName, args []byte) []byte {
	ix := to.(texts)
	_, facts := r.facts(tool)
	effect := facts.Effect || !facts.Declared
	w := writing{index: ix}
	root, err := jsonstream.Parse(args, options)
	if effect {
		w.marks.list = append(w.marks.list, markWrote)
	}
	walkMembers(root, "", func(name string, leaf jsonstream.Value) {
		text := textOf(leaf)
		if leaf.Kind() == jsonstream.String {
			w.argument(text)
		}
		if effect {
			w.value(name, text, leaf.Kind() == jsonstream.String)
		}
	})
	if effect {
		dataKeys(root, true, w.dataKey)
		if err != nil || w.count > maxWritten {
			w.marks.add(markAnything)
		}
	}
	if w.batch.Marks = w.marks.list; len(w.batch.Marks) == 0 && !r.config.EveryCall {
		return nil
	}
	return ix.Add(&w.batch)
}

// walkMembers calls each for the leaves of a value that are texts, with the name of the innermost
// member that they are in.
func walkMembers(v jsonstream.Value, name string, each func(name string, leaf jsonstream.Value)) {
	switch v.Kind() {
	case jsonstream.Object:
		for k, m := range v.Members() {
			walkMembers(m, k.Text(), each)
		}
	case jsonstream.Array:
		for e := range v.Elements() {
			walkMembers(e, name, each)
		}
	case jsonstream.String, jsonstream.Number:
		each(name, v)
	}
}

// dataKeys calls each for the keys of arguments that may be data: those of inner objects, and at the
// top the ones that do not look like the name of a parameter.
func dataKeys(v jsonstream.Value, top bool, each func(key []byte)) {
	for k, m := range v.Members() {
		if text := k.Text(); !top || text != "" && member(text) == "*" {
			each([]byte(text))
		}
		dataKeys(m, false, each)
	}
	for e := range v.Elements() {
		dataKeys(e, false, each)
	}
}

func memberMark(name string, text []byte) []byte {
	return mark(markMember, bytes.ToLower([]byte(name)), appendLower(nil, bytes.TrimSpace(text)))
}

// readsWritten reports whether a call with these arguments may read what the agent wrote.
func (r *Reader) readsWritten(ix texts, args []byte) bool {
	if !ix.Has(markWrote) {
		return false
	}
	root, err := jsonstream.Parse(args, options)
	written := err != nil || ix.Has(mark(markAnything))
	read := func(text []byte) {
		if value, kind, ok := identity(text, false); ok && kind != flow.Text && kind != flow.Path {
			written = written || ix.Written(value, kind)
		}
		paths(text, func(p string) { written = written || isWritten(ix, p) })
	}
	walkMembers(root, "", func(name string, leaf jsonstream.Value) {
		text := textOf(leaf)
		if written = written || ix.Has(memberMark(name, text)); leaf.Kind() == jsonstream.String {
			read(text)
		}
	})
	dataKeys(root, true, read)
	return written
}

// nameMark returns the kind and the part of the mark of the last component of a path. Of two paths of
// which one is relative, only those are compared.
func nameMark(p string, absolute bool) (kind byte, name []byte) {
	if absolute {
		return markName, []byte(path.Base(p))
	}
	return markRelative, []byte(path.Base(p))
}

// isWritten reports whether a path is, is below or is above one that was written.
func isWritten(ix texts, p string) bool {
	if ix.Has(mark(markFolder, []byte(p))) || ix.Has(mark(nameMark(p, false))) || !path.IsAbs(p) && ix.Has(mark(nameMark(p, true))) {
		return true
	}
	for at := p; at != "." && at != "/"; at = path.Dir(at) {
		if ix.Has(mark(markPath, []byte(at))) {
			return true
		}
	}
	return false
}

// ownWords reports whether a text repeats what the agent wrote. Then the parts of the text around
// the repeated values have been added with its sources, if the values could be found in it.
func (b *builder) ownWords(pointer string, text []byte, sources []flow.Source) bool {
	some, all := wroteWords(b.index, text)
	if !some {
		return false
	}
	if whole := bytes.TrimSpace(text); len(whole) <= 200 && all && b.index.Written(whole, flow.Text) {
		return true
	}
	atoms := writtenAtoms(b.index, text)
	if len(atoms) == 0 {
		return false
	}
	for _, part := range without(b.index, text, atoms) {
		b.add(pointer, part, sources, nil)
	}
	return true
}

// writtenAtoms returns the values in a text that the agent wrote.
func writtenAtoms(ix texts, text []byte) (atoms [][]byte) {
	occur.Scan(text, func(t occur.Token) {
		if t.Alone {
			t.Kind = flow.ID
		}
		if t.Loose || t.Mark || !writable(&t) {
			return
		}
		if _, all := wroteWords(ix, t.Value); all && ix.Written(t.Value, t.Kind) {
			atoms = append(atoms, bytes.Clone(t.Value))
		}
	})
	return atoms
}

// wroteWords reports whether some words, and all words, of a text are among what the agent wrote.
func wroteWords(ix texts, text []byte) (some, all bool) {
	all = true
	occur.Scan(text, func(t occur.Token) {
		if t.Loose || t.Mark || t.Kind != flow.Text || some && !all {
			return
		}
		wrote := ix.WroteWord(t.Value)
		some, all = some || wrote, all && wrote
	})
	return some, all
}

// writable reports whether a token identifies something, so that repeating it is no accident.
func writable(t *occur.Token) bool {
	switch t.Kind {
	case flow.Email, flow.URL, flow.IBAN, flow.Phone:
		return true
	case flow.ID:
		return len(t.Value) >= 6 && bytes.ContainsAny(t.Value, "0123456789@/")
	}
	return false
}

// without returns the parts of a text around some values, nil if they cannot all be found in it.
func without(ix texts, text []byte, values [][]byte) (parts [][]byte) {
	const maxValues = 64
	if len(values) > maxValues {
		return nil
	}
	type span struct{ start, end int }
	var cuts []span
	folded := asciiLower(text)
	for _, v := range values {
		v = asciiLower(v)
		n := len(cuts)
		for from := 0; ; {
			at := bytes.Index(folded[from:], v)
			if at < 0 {
				break
			}
			cuts = append(cuts, span{from + at, from + at + len(v)})
			from += at + len(v)
		}
		if len(cuts) == n {
			return nil
		}
	}
	slices.SortFunc(cuts, func(a, b span) int { return a.start - b.start })
	end := 0
	for _, c := range append(cuts, span{len(text), len(text)}) {
		if c.start > end {
			parts = append(parts, text[end:c.start])
		}
		end = max(end, c.end)
	}
	if slices.ContainsFunc(parts, func(part []byte) bool { return len(writtenAtoms(ix, part)) > 0 }) {
		return nil // another spelling of one
	}
	return parts
}
