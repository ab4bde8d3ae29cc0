package index

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/occur"
)

// DefaultTokens is the number of words in a row that count as a part of a text, where a query has
// none.
const DefaultTokens = 8

// maxCarried is the number of compared tokens of [flow.View.Carries], which looks at all texts of the
// sources.
const maxCarried = 1 << 24

// Carries returns whether a value holds a part of a text. Certain is that the value has it as it is
// written, not only decoded.
func (v *view) Carries(value []byte, q *flow.Query) flow.Finding {
	length := q.Tokens
	if length <= 0 {
		length = DefaultTokens
	}
	f := v.finder(q)
	defer f.close()
	f.steps = maxCarried
	certain := true // the first reading is the value as it is
	open := occur.Readings(value, func(text []byte) bool {
		f.pieces(text, certain)
		f.rows(text, length, certain)
		certain = false
		return f.steps >= 0
	})
	out := f.finding()
	out.Possible = out.Possible || open
	return out
}

// pieces adds the texts with a piece of a secret that a value holds.
func (f *finder) pieces(value []byte, certain bool) {
	seen := map[uint64]bool{}
	occur.Pieces(value, func(piece []byte) {
		if h := f.ix.hasher.sum(classPiece, piece); !seen[h] && f.steps >= 0 {
			seen[h] = true
			f.search(&needle{atoms: []uint64{h}}, certain)
		}
	})
}

// rows adds the texts with a number of words in a row that a value has.
func (f *finder) rows(value []byte, length int, certain bool) {
	var rows [2][]uint64 // the words of the value, and those of its other readings; 0 between two
	occur.Scan(value, func(t occur.Token) {
		if t.Kind != flow.Text || t.Mark {
			return
		}
		i := 0
		if t.Loose {
			i = 1
		}
		h := uint64(0)
		if len(t.Value) > 0 {
			h = f.ix.hasher.sum(classWord, t.Value)
		}
		rows[i] = append(rows[i], h)
	})
	for i, row := range rows {
		if len(row) < length {
			continue
		}
		for _, chain := range f.chains {
			for _, p := range chain {
				f.volume(p, row, length, certain && i == 0)
			}
		}
	}
}

// volume adds the texts of a volume with words in a row.
func (f *finder) volume(p part, row []uint64, length int, certain bool) {
	codes := make([]code, len(row))
	known, longest := 0, 0
	for i, h := range row {
		codes[i] = gap
		known++
		if o, ok := p.words.find(h); ok && h != 0 {
			codes[i] = wordCode(o)
		} else {
			known = 0
		}
		longest = max(longest, known)
	}
	if f.steps -= len(row); longest < length {
		return
	}
	w := newWindow(f.ix.hasher.base, length)
	hashes := map[uint64]bool{}
	for _, c := range codes {
		if c == gap {
			w.reset()
		} else if w.push(c) {
			hashes[w.sum] = true
		}
	}
	f.compare(p, &p.plain, w, hashes, certain)
	f.compare(p, &p.loose, w, hashes, false)
}

// compare adds the texts of a lane that have one of the rows of words with these hashes.
func (f *finder) compare(p part, l *lane, w *window, hashes map[uint64]bool, certain bool) {
	for entry := range l.starts {
		text := l.text(entry)
		if text >= p.texts || f.steps < 0 {
			return
		}
		if !f.wanted[p.sets[text]] {
			continue
		}
		w.reset()
		start, end := int(l.starts[entry]), l.end(entry)
		f.steps -= end - start
		for i := start; i < end; i++ {
			c := l.seq.at(i) &^ alone
			switch {
			case c == gap:
				w.reset()
			case p.mark(c):
			case w.push(c) && hashes[w.sum]:
				e := echo{volume: p.volume, phrase: &phrase{codes: w.row()}, steps: &f.steps}
				if !e.has(text) {
					f.some = true
					f.add(p, text, certain)
					i = end
				}
			}
		}
	}
}

// window is the hash of the last words of a row: a polynomial in a secret of the session.
type window struct {
	base, power uint64 // the secret, and its power for the word that leaves
	sum         uint64
	codes       []code // the last words, as a ring
	n           int
}

func newWindow(base uint64, length int) *window {
	w := &window{base: base, power: 1, codes: make([]code, length)}
	for range length - 1 {
		w.power *= base
	}
	return w
}

func (w *window) reset() { w.n, w.sum = 0, 0 }

// push adds a word, and reports whether the window has its length.
func (w *window) push(c code) bool {
	at := w.n % len(w.codes)
	if w.n >= len(w.codes) {
		w.sum -= uint64(w.codes[at].number()) * w.power
	}
	w.codes[at] = c
	w.sum = w.sum*w.base + uint64(c.number())
	w.n++
	return w.n >= len(w.codes)
}

// row returns the words in their order.
func (w *window) row() []code {
	at := w.n % len(w.codes)
	return append(append([]code(nil), w.codes[at:]...), w.codes[:at]...)
}
