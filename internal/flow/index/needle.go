package index

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/occur"
)

// needle is an occur.Needle as hashes: a row of tokens, an atom, or both where either suffices.
type needle struct {
	codes  []code   // of ASCII marks
	hashes []uint64 // of the other tokens, 0 for those
	marks  bool     // marks of the text count
	alone  bool     // the one token must be alone
	plain  bool     // other readings of texts do not count
	atoms  []uint64 // the atom in texts, and in their other readings
}

// needle returns the hashes of a needle. A plain one is not looked for in other readings of texts.
func (h *hasher) needle(n *occur.Needle, plain bool) *needle {
	out := &needle{marks: n.Marks, plain: plain}
	if n.Kind == flow.Text {
		for _, token := range n.Tokens {
			out.token(h, token)
		}
		return out
	}
	token := n.Tokens[0]
	out.atoms = append(out.atoms, h.sum(atomClass(n.Kind, false), token))
	if !plain {
		out.atoms = append(out.atoms, h.sum(atomClass(n.Kind, true), token))
	}
	if n.Kind == flow.ID && simple(token) {
		out.token(h, token)
		out.marks, out.alone = true, true
	}
	return out
}

func (n *needle) token(h *hasher, token []byte) {
	c, ascii := markCode(token)
	n.codes = append(n.codes, c)
	if ascii {
		n.hashes = append(n.hashes, 0)
		return
	}
	n.hashes = append(n.hashes, h.sum(classWord, token))
}

// search yields the texts of a volume, among the first ones, that have a needle: in several rows, each
// in ascending order, to the function that row returns for it, until that returns false.
func (n *needle) search(v *volume, texts int, steps *int, row func() func(text int) bool) {
	for _, h := range n.atoms {
		v.holding(h, texts, steps, row())
	}
	if len(n.codes) == 0 {
		return
	}
	var space [24]code
	p := phrase{codes: append(space[:0], n.codes...), marks: n.marks, alone: n.alone}
	for i, h := range n.hashes {
		if h == 0 {
			continue
		}
		o, ok := v.words.find(h)
		if !ok {
			return
		}
		p.codes[i] = wordCode(o)
	}
	e := echo{volume: v, phrase: &p, steps: steps}
	yield := row()
	v.plain.search(v, &p, texts, steps, func(text int) bool { return e.has(text) || *steps >= 0 && yield(text) })
	if !p.marks {
		yield = row()
		v.loose.search(v, &p, texts, steps, func(text int) bool { return e.has(text) || *steps >= 0 && yield(text) })
	}
}
