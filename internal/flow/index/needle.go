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
	atoms  []uint64 // the atom in texts, and in their other readings
}

// set makes n the hashes of a needle. A plain one is not looked for in other readings of texts.
func (n *needle) set(h *hasher, o *occur.Needle, plain bool) {
	*n = needle{marks: o.Marks, codes: n.codes[:0], hashes: n.hashes[:0], atoms: n.atoms[:0]}
	if o.Kind == flow.Text {
		for _, token := range o.Tokens {
			n.token(h, token)
		}
		return
	}
	token := o.Tokens[0]
	n.atoms = append(n.atoms, h.sum(atomClass(o.Kind, false), token))
	if !plain {
		n.atoms = append(n.atoms, h.sum(atomClass(o.Kind, true), token))
	}
	if o.Kind == flow.ID && simple(token) {
		n.token(h, token)
		n.marks, n.alone = true, true
	}
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

// sink receives the texts that have a needle, in rows.
type sink interface {
	// begin begins a row.
	begin()
	// text receives a text, those of a row in ascending order, and reports whether it wants more of
	// the row.
	text(text int) bool
}

// search finds a needle in the first texts of a volume.
func (n *needle) search(v *volume, texts int, steps *int, to sink) {
	for _, h := range n.atoms {
		to.begin()
		v.holding(h, texts, steps, to)
	}
	if len(n.codes) == 0 {
		return
	}
	for i, h := range n.hashes {
		if h == 0 {
			continue // a mark
		}
		o, ok := v.words.find(h)
		if !ok {
			return
		}
		n.codes[i] = wordCode(o)
	}
	p := phrase{codes: n.codes, marks: n.marks, alone: n.alone}
	e := echo{volume: v, phrase: &p, steps: steps}
	to.begin()
	v.plain.search(&p, texts, &e, to)
	if !p.marks {
		to.begin()
		v.loose.search(&p, texts, &e, to)
	}
}
