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
	if r.person || r.repeats {
		s.before, s.said = s.texts, nil
	}
	if r.person {
		s.person = s.batch
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
	of := objects{}
	for i := range r.texts {
		e := &r.texts[i]
		s.texts++
		first := of.first(e, s.texts)
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
		to[chain].add(e, sets[e.set], s.texts, first)
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
		f.add(e, 0, 0, 0)
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
