package regular

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Literal is a text that every match of the pattern has in it: the longest one that the
// pattern spells out character by character, "" if there is none. A caller with many
// patterns and few texts searches for it first.
func (p *Pattern) Literal() string {
	var s speller
	s.node(p.root)
	s.cut()
	return s.longest
}

// needles are texts of which every match of the pattern has one in it: the literal, or
// those of alternatives where the shortest of them is longer. Nil if there are none.
func (p *Pattern) needles() [][]byte {
	var s speller
	s.node(p.root)
	s.cut()
	var list [][]byte
	for _, text := range s.either() {
		if strings.ContainsRune(text, utf8.RuneError) {
			return nil // U+FFFD may replace bytes that are not UTF-8
		}
		list = append(list, []byte(text))
	}
	return list
}

// speller collects characters that are adjacent in every match.
type speller struct {
	run     []rune
	longest string
	any     []string // texts of which one is in every match, as alternatives have them
}

// cut ends a run: anything may follow.
func (s *speller) cut() {
	if text := string(s.run); len(text) > len(s.longest) {
		s.longest = text
	}
	s.run = s.run[:0]
}

// either is the more specific of the results.
func (s *speller) either() []string {
	if len(s.any) > 0 && shortest(s.any) > len(s.longest) {
		return s.any
	}
	if s.longest == "" {
		return nil
	}
	return []string{s.longest}
}

func shortest(list []string) int {
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// maxNeedles bounds the alternatives that are looked for one by one.
const maxNeedles = 16

// alternatives adds the texts that the branches of an alternation spell out, if each does.
func (s *speller) alternatives(branches []*node) {
	var all []string
	for _, b := range branches {
		var one speller
		one.node(b)
		one.cut()
		texts := one.either()
		if texts == nil || len(all)+len(texts) > maxNeedles {
			return
		}
		all = append(all, texts...)
	}
	if len(s.any) == 0 || shortest(all) > shortest(s.any) {
		s.any = all
	}
}

func (s *speller) node(n *node) {
	switch {
	case len(n.skip) > 0:
		s.cut()
	case n.op == opClass && len(n.set) == 1 && n.set[0].Low == n.set[0].High:
		s.run = append(s.run, n.set[0].Low)
	case n.op == opConcat || n.op == opGroup:
		for _, sub := range n.subs {
			s.node(sub)
		}
	case n.op == opRepeat && n.min > 0:
		s.cut()
		s.node(n.subs[0])
		s.cut()
	case n.op == opAlternate:
		s.cut()
		s.alternatives(n.subs)
	case n.op == opStart || n.op == opEnd || n.op == opBoundary || n.op == opNotBoundary || n.op == opLook:
		// No character is read there.
	default:
		s.cut()
	}
}

// Sample is a short text in which the pattern is found, unless a lookaround or a word
// boundary is in its way: a caller that needs certainty asks [Pattern.Match].
func (p *Pattern) Sample() string { return string(p.root.sample()) }

func (n *node) sample() []rune {
	switch n.op {
	case opClass:
		for _, r := range readableRunes {
			if n.set.Contains(r) {
				return []rune{r}
			}
		}
		if len(n.set) > 0 {
			return []rune{n.set[0].Low}
		}
	case opConcat, opGroup:
		var text []rune
		for _, sub := range n.subs {
			text = append(text, sub.sample()...)
		}
		return text
	case opAlternate:
		best := n.subs[0].sample()
		for _, sub := range n.subs[1:] {
			if text := sub.sample(); len(text) < len(best) {
				best = text
			}
		}
		return best
	case opRepeat:
		var text, one []rune
		if n.min > 0 {
			one = n.subs[0].sample()
		}
		for range min(n.min, maxSample) {
			text = append(text, one...)
		}
		return text
	}
	return nil
}

// readableRunes are the characters that a sample is made of if it can be; maxSample is how often
// it repeats something.
const (
	readableRunes = "xabcdefghijklmnopqrstuvwyz0123456789_-./ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	maxSample     = 64
)
