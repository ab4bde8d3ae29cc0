package index

import (
	"slices"
	"sync"
)

// filler adds the texts of one record to a volume.
type filler struct {
	volume *volume
	rec    *record
	words  []wordState // of the record's words
	marks  map[uint32]bool
	run    int // the first of the record
	begun  bool
	sorter sorter
}

// fillers are those of earlier records, for their buffers.
var fillers = sync.Pool{New: func() any { return new(filler) }}

// wordState is a word of the record in the volume: its ordinal, and the last blocks of the lanes that
// have it, all plus 1.
type wordState struct {
	ordinal uint32
	block   [2]uint32 // of the plain and the loose lane
}

func newFiller(v *volume, r *record) *filler {
	f := fillers.Get().(*filler)
	f.volume, f.rec, f.marks, f.run, f.begun = v, r, nil, len(v.runs), false
	f.words = slices.Grow(f.words[:0], len(r.words))[:len(r.words)]
	clear(f.words)
	f.sorter.holdings = f.sorter.holdings[:0]
	if len(r.marks) > 0 {
		f.marks = map[uint32]bool{}
		for _, m := range r.marks {
			f.marks[m] = true
		}
	}
	return f
}

// add adds a text. first is the number of the first text of its object.
func (f *filler) add(e *entry, set uint16, number, first int) {
	v := f.volume
	text := len(v.sets)
	if !f.begun || !f.continues(e, text, number) {
		v.runs = append(v.runs, run{text: text, number: number, tool: e.tool, call: e.call, proposal: e.proposal})
		v.cost += e.identity()
		f.begun = true
	}
	v.sets, v.backs = append(v.sets, set), append(v.backs, back(number, first))
	v.pointers.add(e.pointer)
	v.cost += e.cost()
	v.length += e.length
	v.plain.starts = append(v.plain.starts, uint32(v.plain.seq.n))
	f.tokens(&v.plain, e.plain)
	if len(e.loose) > 0 {
		v.loose.starts = append(v.loose.starts, uint32(v.loose.seq.n))
		v.loose.texts = append(v.loose.texts, uint16(text))
		f.tokens(&v.loose, e.loose)
	}
	for _, a := range e.atoms {
		f.sorter.holdings = append(f.sorter.holdings, holding{f.rec.atoms[a], uint32(text)})
	}
}

// continues reports whether a text belongs to the run of the one before.
func (f *filler) continues(e *entry, text, number int) bool {
	r := &f.volume.runs[len(f.volume.runs)-1]
	return (number == 0 || r.number+text-r.text == number) && r.tool == e.tool && r.call == e.call && r.proposal == e.proposal
}

// tokens appends the tokens of a text to a lane, of which codes become those of the volume.
func (f *filler) tokens(l *lane, codes []code) {
	which := 0
	if l == &f.volume.loose {
		which = 1
	}
	for len(codes) > 0 {
		block := uint32(l.seq.n / blockLen)
		n := min(len(codes), blockLen-l.seq.n%blockLen)
		for i, c := range codes[:n] {
			number := c.number()
			if number < firstWord {
				continue
			}
			w := &f.words[number-firstWord]
			if w.block[which] != block+1 {
				if w.ordinal == 0 {
					w.ordinal = f.word(number-firstWord) + 1
				}
				w.block[which] = block + 1
				l.blocks.add(w.ordinal-1, int(block))
			}
			codes[i] = wordCode(w.ordinal-1) | c&alone
		}
		l.seq.append(codes[:n])
		codes = codes[n:]
	}
}

// word returns the ordinal that the volume has for a word of the record.
func (f *filler) word(n uint32) uint32 {
	o, _ := f.volume.words.add(f.rec.words[n])
	if f.marks[n] {
		f.volume.setMark(o)
	}
	return o
}

// finish adds the atoms of the texts, and the echo of the record to the runs that it has in the
// volume.
func (f *filler) finish() {
	if f == nil {
		return
	}
	if f.volume.atoms.add(&f.sorter); f.begun && len(f.rec.echo)+len(f.rec.echoes) > 0 {
		f.echo()
	}
	f.volume, f.rec = nil, nil
	fillers.Put(f)
}

// echo adds the echo of the record to the runs.
func (f *filler) echo() {
	v := f.volume
	var echo [3]uint32
	for i, codes := range [][]code{f.rec.echo, f.rec.echoes} {
		echo[i] = uint32(len(v.echo))
		for _, c := range codes {
			v.echo = append(v.echo, f.known(c))
		}
	}
	echo[2] = uint32(len(v.echo))
	v.cost += 4 * int64(echo[2]-echo[0])
	for i := f.run; i < len(v.runs); i++ {
		v.runs[i].echo = echo
	}
}

// known returns the code that the volume has for a code of the record, or a gap.
func (f *filler) known(c code) code {
	n := c.number()
	if n < firstWord {
		return c
	}
	switch o := f.words[n-firstWord].ordinal; {
	case o != 0:
		return wordCode(o-1) | c&alone
	case f.marks[n-firstWord]:
		return otherMark
	}
	return gap
}
