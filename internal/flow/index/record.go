package index

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
)

// record is a batch as hashes, as an index applies it and a segment stores it.
type record struct {
	batch          uint64 // hash of the batch's key, 0 without one
	know           flow.Knowledge
	person         bool
	repeats        bool
	said, anywhere []string
	result         bool
	tool           string
	keys           []uint64 // hashes of marks
	words, atoms   []uint64 // distinct hashes, which codes and atoms below number
	marks          []uint32 // the words that are marks outside ASCII
	echo, echoes   []code   // of the call's arguments: as they are, and in other readings
	sets           [][]flow.Source
	texts, written []entry
}

// entry is a text of a record.
type entry struct {
	set                      uint32 // of record.sets
	object                   uint32 // of the result, 0 for none
	trusted, opaque, dropped bool
	length                   int64
	tool                     stopgate.ToolName
	call                     stopgate.CallID
	proposal                 stopgate.ProposalID
	pointer                  string
	plain, loose             []code
	atoms                    []uint32
}

func (e *entry) cost() int64 { return e.length + textOverhead }

// identity is the cost of the names that the texts of a batch share.
func (e *entry) identity() int64 {
	return batchOverhead + int64(len(e.tool)+len(e.call)+len(e.proposal))
}

// sameCall reports whether two texts are of the same call.
func (e *entry) sameCall(o *entry) bool {
	return e.tool == o.tool && e.call == o.call && e.proposal == o.proposal
}

// trimEcho shortens the echo to the parts that can occur in a text: words that are in none, and the marks between
// them, become one gap.
func (r *record) trimEcho() {
	if len(r.echo)+len(r.echoes) == 0 {
		return
	}
	used := make([]bool, len(r.words))
	for i := range r.texts {
		for _, codes := range [][]code{r.texts[i].plain, r.texts[i].loose} {
			for _, c := range codes {
				if n := c.number(); n >= firstWord {
					used[n-firstWord] = true
				}
			}
		}
	}
	marks := make([]bool, len(r.words))
	for _, m := range r.marks {
		marks[m] = true
	}
	r.echo, r.echoes = trim(r.echo, used, marks), trim(r.echoes, used, marks)
}

func trim(echo []code, used, marks []bool) []code {
	out := echo[:0]
	start := 0 // of the part after the last gap
	words := false
	for _, c := range append(echo, gap) {
		n := c.number()
		if n >= firstWord && marks[n-firstWord] && !used[n-firstWord] {
			c, n = otherMark, otherMark.number()
		}
		if known := c != gap && (n < firstWord || used[n-firstWord]); known {
			words = words || n >= firstWord && !marks[n-firstWord]
			out = append(out, c)
			continue
		}
		if !words {
			out = out[:start]
			continue
		}
		out = append(out, gap)
		start, words = len(out), false
	}
	return out
}

// plan marks the texts that do not fit in a budget, the oldest first: of the untrusted ones, which
// may not take the place of trusted ones, and of the trusted ones. trusted is the cost of the trusted
// texts that the index has.
func (r *record) plan(budget, trusted int64) {
	var costs [2]int64
	for i := range r.texts {
		if e := &r.texts[i]; !e.dropped {
			costs[chainOf(e)] += e.cost()
		}
	}
	if len(r.texts) > 0 {
		budget -= r.texts[0].identity()
	}
	r.leave(trustedChain, costs[trustedChain], budget)
	r.leave(untrustedChain, costs[untrustedChain], budget-min(budget, trusted+min(costs[trustedChain], budget)))
}

// leave drops the oldest texts of a chain until the others fit, and texts that are too long for any
// index.
func (r *record) leave(chain int, cost, budget int64) {
	for i := range r.texts {
		e := &r.texts[i]
		if e.dropped || chainOf(e) != chain {
			continue
		}
		if cost > budget || e.length > maxText {
			e.dropped = true
			cost -= e.cost()
		}
	}
}

// The chains of volumes. Written texts are those of arguments, which have no number.
const (
	untrustedChain = iota
	trustedChain
	writtenChain
	chains
)

func chainOf(e *entry) int {
	if e.trusted {
		return trustedChain
	}
	return untrustedChain
}

// maxText is the length of the longest text that an index takes.
const maxText = 24 << 20
