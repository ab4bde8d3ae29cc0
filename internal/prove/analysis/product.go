package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// product searches for a text that is in all of some languages and in none of
// others: through the product of their automata, whose states are made while they are met,
// those first that the shortest text may lead through.
type product struct {
	inside, outside []automaton.Walker
	owners          []func(state uint32) ruleID // the rule of each outside language
	check           func(text string) bool      // asked before a text is taken

	budget  *int // states in all
	most    int  // states here
	blame   map[ruleID]bool
	letters []rune
}

// dead is the component of a language that no continuation accepts.
const dead = ^uint32(0)

// misses is how many texts may be refused by check before the search ends.
const misses = 200

// search returns the shortest text, or that there is none, by the rules of blame.
func (p *product) search() (text string, answer status) {
	p.blame = make(map[ruleID]bool)
	p.letters = letters(append(slices.Clone(p.inside), p.outside...))
	start := make([]uint32, 0, len(p.inside)+len(p.outside))
	for _, w := range p.inside {
		start = append(start, w.First())
	}
	for _, w := range p.outside {
		start = append(start, w.First())
	}
	f := frontier{width: len(start), seen: make(map[string]int32), key: make([]byte, 4*len(start))}
	if !p.live(start) {
		return "", absent
	}
	f.add(start, none, 0, p.distance(start))
	cost := 1 + f.width*len(p.letters)/256
	missed := 0
	next := make([]uint32, f.width)
	for at := f.next(); at != none; at = f.next() {
		if p.accepts(f.state(at)) {
			word := f.word(at)
			if p.check(word) {
				return word, found
			}
			if missed++; missed > misses {
				return "", unknown
			}
		}
		if p.most -= cost; p.most < 0 {
			return "", unknown
		}
		if *p.budget -= cost; *p.budget < 0 {
			return "", unknown
		}
		for _, r := range p.letters {
			for i, s := range f.state(at) {
				switch {
				case s == dead:
					next[i] = dead
				case i < len(p.inside):
					next[i] = p.inside[i].Next(s, r)
				default:
					next[i] = p.outside[i-len(p.inside)].Next(s, r)
				}
			}
			if p.live(next) {
				f.add(next, at, r, p.distance(next))
			}
		}
	}
	if missed > 0 {
		return "", unknown
	}
	return "", absent
}

// distance is how many code points at least lead from a state to a text that is in all of
// the inside languages.
func (p *product) distance(state []uint32) int {
	most := 0
	for i, w := range p.inside {
		most = max(most, distance(w, state[i]))
	}
	return most
}

// live reports whether some continuation may be in all inside languages and in no outside
// one, and marks the outside languages that no continuation is in.
func (p *product) live(state []uint32) bool {
	for i, w := range p.inside {
		if w.Fate(state[i]) == automaton.Rejects {
			return false
		}
	}
	for i, w := range p.outside {
		s := &state[len(p.inside)+i]
		if *s == dead {
			continue
		}
		switch w.Fate(*s) {
		case automaton.Accepts:
			p.blamed(i, *s)
			return false
		case automaton.Rejects:
			*s = dead
		}
	}
	return true
}

// accepts reports whether a text that ends in a state is in all inside languages and in no
// outside one.
func (p *product) accepts(state []uint32) bool {
	for i, w := range p.inside {
		if !w.Accepting(state[i]) {
			return false
		}
	}
	taken := none
	for i, w := range p.outside {
		s := state[len(p.inside)+i]
		if s == dead || !w.Accepting(s) {
			continue
		}
		if p.blame[p.owners[i](s)] {
			return false
		}
		if taken == none {
			taken = i
		}
	}
	if taken != none {
		p.blamed(taken, state[len(p.inside)+taken])
		return false
	}
	return true
}

func (p *product) blamed(i int, state uint32) { p.blame[p.owners[i](state)] = true }

// letters returns one code point of every class of some automata, those first that
// are pleasant to read in a witness.
func letters(walkers []automaton.Walker) []rune {
	cuts := []rune{0, 0xD800, 0xE000}
	for _, w := range walkers {
		cuts = append(cuts, w.Cuts()...)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	type class struct {
		r    rune
		rank int
	}
	var classes []class
	for i, low := range cuts {
		high := rune(utf8.MaxRune)
		if i+1 < len(cuts) {
			high = cuts[i+1] - 1
		}
		if low >= 0xD800 && low < 0xE000 {
			continue // no code points
		}
		best := class{low, len(pleasant) + int(low)}
		for rank, r := range pleasant {
			if low <= r && r <= high {
				best = class{r, rank}
				break
			}
		}
		classes = append(classes, best)
	}
	slices.SortStableFunc(classes, func(a, b class) int { return a.rank - b.rank })
	out := make([]rune, len(classes))
	for i, c := range classes {
		out[i] = c.r
	}
	return out
}

// pleasant are the code points that a witness is preferably made of.
const pleasant = "xabcdefghijklmnopqrstuvwyz0123456789_-./ABCDEFGHIJKLMNOPQRSTUVWXYZ @:,+=%!#&()*;<>?[]^{}|~'\"$`\\é"

// compatible reports whether a text can begin with one head and also with another.
func compatible(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }
