package index

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// apply adds a record, and uses it up. mu is locked.
func (ix *Index) apply(r *record) {
	if r.batch != 0 {
		if _, ok := ix.batches[r.batch]; ok {
			return
		}
	}
	s := ix.state.next()
	if r.batch != 0 {
		ix.mark(s, r.batch)
	}
	for _, h := range r.keys {
		ix.mark(s, h)
	}
	s.know |= r.know
	if r.person {
		s.person, s.before, s.said = s.batch, s.texts, nil
	}
	s.said, s.anywhere = union(s.said, r.said), union(s.anywhere, r.anywhere)
	if r.result {
		s.read(stopgate.ToolName(r.tool))
	}
	ix.addWritten(r)
	ix.addTexts(s, r)
	for i := range s.chains {
		s.chains[i] = nil
		for _, v := range ix.chains[i] {
			s.chains[i] = append(s.chains[i], part{v, len(v.sets)})
		}
	}
	ix.state = s
}

// mark adds a key. Without room for it what the agent wrote, and whose words a message has, is no
// longer known.
func (ix *Index) mark(s *state, key uint64) {
	if _, ok := ix.batches[key]; ok {
		return
	}
	if len(ix.batches) >= maxBatches {
		s.damaged = true
		return
	}
	ix.batches[key] = struct{}{}
}

// union returns the strings of two lists, each once, and leaves the first list as it is.
func union(a, b []string) []string {
	for _, s := range b {
		if !slices.Contains(a, s) {
			a = append(slices.Clip(a), s)
		}
	}
	return a
}

// addTexts adds the texts of a record, and drops the oldest volumes that the budget does not have
// room for.
func (ix *Index) addTexts(s *state, r *record) {
	if len(r.texts) == 0 {
		return
	}
	sets := make([]uint16, len(r.sets))
	for i, sources := range r.sets {
		sets[i] = ix.set(s, sources)
	}
	r.plan(ix.budget, ix.cost(trustedChain))
	cost := r.texts[0].identity()
	for i := range r.texts {
		if !r.texts[i].dropped {
			cost += r.texts[i].cost()
		}
	}
	for ix.cost(untrustedChain)+ix.cost(trustedChain)+cost > ix.budget {
		if !ix.drop(s, untrustedChain) && !ix.drop(s, trustedChain) {
			break
		}
	}
	var to [chains]*filler
	for i := range r.texts {
		e := &r.texts[i]
		s.texts++
		info := &s.sets[sets[e.set]]
		info.last = s.batch
		info.opaque = info.opaque || e.opaque
		if e.dropped {
			info.dropped = true
			continue
		}
		chain := chainOf(e)
		if f := to[chain]; f == nil || f.volume.full(ix.budget/8) {
			f.finish()
			to[chain] = newFiller(ix.open(chain), r)
		}
		to[chain].add(e, sets[e.set], s.texts)
	}
	for _, f := range to {
		f.finish()
	}
}

// addWritten adds the texts that a call with an effect wrote.
func (ix *Index) addWritten(r *record) {
	var f *filler
	for i := range r.written {
		e := &r.written[i]
		for chain := &ix.chains[writtenChain]; !e.dropped && ix.cost(writtenChain)+e.cost() > ix.budget && len(*chain) > 0; *chain = (*chain)[1:] {
			ix.lostWritten = true
			if f != nil && f.volume == (*chain)[0] {
				f = nil
			}
		}
		if e.dropped {
			ix.lostWritten = true
			continue
		}
		if f == nil || f.volume.full(ix.budget/8) {
			f.finish()
			f = newFiller(ix.open(writtenChain), r)
		}
		f.add(e, 0, 0)
	}
	f.finish()
}

// open returns the volume to which a chain's next text is added.
func (ix *Index) open(chain int) *volume {
	c := ix.chains[chain]
	if len(c) > 0 {
		last := c[len(c)-1]
		if !last.full(ix.budget / 8) {
			return last
		}
		last.clip()
	}
	v := newVolume()
	ix.chains[chain] = append(c, v)
	return v
}

// drop drops the oldest volume of a chain.
func (ix *Index) drop(s *state, chain int) bool {
	if len(ix.chains[chain]) == 0 {
		return false
	}
	for _, set := range ix.chains[chain][0].sets {
		s.sets[set].dropped = true
	}
	ix.chains[chain] = ix.chains[chain][1:]
	return true
}

// set returns the number of a set of sources.
func (ix *Index) set(s *state, sources []flow.Source) uint16 {
	name := string(appendSet(nil, sources))
	if n, ok := ix.setNumbers[name]; ok {
		return n
	}
	if len(s.sets) >= maxSets {
		s.damaged = true
		if len(s.sets) == maxSets { // all further sets are one, whose texts are hidden
			s.sets = append(s.sets, newSet([]flow.Source{flow.Tool, flow.Hidden}))
		}
		return maxSets
	}
	n := uint16(len(s.sets))
	ix.setNumbers[name] = n
	s.sets = append(s.sets, newSet(sources))
	return n
}

// filler adds the texts of one record to a volume.
type filler struct {
	volume *volume
	rec    *record
	words  []wordState // of the record's words
	atoms  []holding
	marks  map[uint32]bool
	run    int // the first of the record
	begun  bool
}

// wordState is a word of the record in the volume: its ordinal, and the last blocks of the lanes that
// have it, all plus 1.
type wordState struct {
	ordinal uint32
	block   [2]uint32 // of the plain and the loose lane
}

func newFiller(v *volume, r *record) *filler {
	holdings := 0
	for _, entries := range [...][]entry{r.texts, r.written} {
		for i := range entries {
			holdings += len(entries[i].atoms)
		}
	}
	f := &filler{volume: v, rec: r, words: make([]wordState, len(r.words)), atoms: make([]holding, 0, holdings), run: len(v.runs)}
	if len(r.marks) > 0 {
		f.marks = map[uint32]bool{}
		for _, m := range r.marks {
			f.marks[m] = true
		}
	}
	return f
}

// add adds a text.
func (f *filler) add(e *entry, set uint16, number int) {
	v := f.volume
	text := len(v.sets)
	if !f.begun || !f.continues(e, text, number) {
		v.runs = append(v.runs, run{text: text, number: number, tool: e.tool, call: e.call, proposal: e.proposal})
		v.cost += e.identity()
		f.begun = true
	}
	v.sets = append(v.sets, set)
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
		f.atoms = append(f.atoms, holding{f.rec.atoms[a], uint32(text)})
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
	if f == nil || !f.begun {
		return
	}
	v := f.volume
	v.atoms.add(f.atoms)
	if len(f.rec.echo)+len(f.rec.echoes) == 0 {
		return
	}
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
