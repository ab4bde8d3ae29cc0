package index

import (
	"sort"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// volume is the texts of one chain that were added one after the other, until they are a part of
// the budget. It is dropped as a whole.
type volume struct {
	words        table
	marks        []uint64 // a bit for each ordinal that is a mark outside ASCII
	plain, loose lane
	atoms        atoms
	sets         []uint16 // of texts: their sources
	backs        []uint16 // of texts: how far back the first text of their object is
	pointers     pointers
	runs         []run
	echo         []code
	cost, length int64 // of the texts
}

// run is a part of the texts of one batch, whose numbers are consecutive.
type run struct {
	text, number int // the first
	tool         stopgate.ToolName
	call         stopgate.CallID
	proposal     stopgate.ProposalID
	// echo are the offsets in the volume's echo of the tokens that the call's own arguments have:
	// those of the arguments, and those of their other readings.
	echo [3]uint32
}

func newVolume() *volume {
	return &volume{loose: lane{blocks: postings{sparse: map[uint32]uint32{}}}}
}

// full reports whether a volume takes no other text.
func (v *volume) full(capacity int64) bool {
	return v.cost >= capacity || len(v.sets) >= maxUnits || v.plain.seq.n+v.loose.seq.n >= blockLen*(maxUnits/2) ||
		len(v.words.hashes) >= maxOrdinals/2
}

// mark reports whether a code is that of a mark.
func (v *volume) mark(c code) bool {
	n := c.number()
	if n < firstWord {
		return c != gap
	}
	n -= firstWord
	return int(n>>6) < len(v.marks) && v.marks[n>>6]>>(n&63)&1 != 0
}

func (v *volume) setMark(ordinal uint32) {
	for int(ordinal>>6) >= len(v.marks) {
		v.marks = append(v.marks, 0)
	}
	v.marks[ordinal>>6] |= 1 << (ordinal & 63)
}

func (v *volume) runOf(text int) *run {
	return &v.runs[sort.Search(len(v.runs), func(i int) bool { return v.runs[i].text > text })-1]
}

func (v *volume) number(text int) int {
	r := v.runOf(text)
	return r.number + text - r.text
}

func (v *volume) ref(text int, name flow.Source) flow.Ref {
	r := v.runOf(text)
	return flow.Ref{Number: r.number + text - r.text, Source: name, Tool: r.tool, Call: r.call, Proposal: r.proposal, Pointer: v.pointers.at(text)}
}

// holding finds an atom in the first texts.
func (v *volume) holding(hash uint64, texts int, steps *int, to sink) {
	v.atoms.search(hash, func(text int) bool {
		*steps--
		return text < texts && *steps >= 0 && to.text(text)
	})
}

// clip frees the memory that a volume needs only while it grows.
func (v *volume) clip() {
	v.words.hashes = clipped(v.words.hashes)
	v.atoms.clip()
	for _, l := range []*lane{&v.plain, &v.loose} {
		l.blocks.head, l.blocks.pool = clipped(l.blocks.head), clipped(l.blocks.pool)
		l.starts, l.texts = clipped(l.starts), clipped(l.texts)
	}
	v.sets, v.backs, v.runs, v.echo, v.pointers.packed = clipped(v.sets), clipped(v.backs), clipped(v.runs), clipped(v.echo), clipped(v.pointers.packed)
}

func clipped[T any](s []T) []T {
	if len(s) == cap(s) {
		return s
	}
	return exact(s)
}

// exact returns a copy without room for more.
func exact[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

func (v *volume) size() int64 {
	n := v.words.size() + v.atoms.size() + v.plain.size() + v.loose.size() + v.pointers.size() +
		int64(8*cap(v.marks)+2*cap(v.sets)+2*cap(v.backs)+4*cap(v.echo)+88*cap(v.runs))
	for i := range v.runs {
		n += int64(len(v.runs[i].tool) + len(v.runs[i].call) + len(v.runs[i].proposal))
	}
	return n
}
