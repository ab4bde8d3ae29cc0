package regular

// Literal is a text that every match of the pattern has in it: the longest one that the
// pattern spells out character by character, "" if it spells out nothing. Who has many
// patterns and few texts looks for it first.
func (p *Pattern) Literal() string {
	var s speller
	s.node(p.root)
	s.cut()
	return s.longest
}

// speller collects characters that stand side by side in every match.
type speller struct {
	run     []rune
	longest string
}

// cut ends a run: anything may follow.
func (s *speller) cut() {
	if text := string(s.run); len(text) > len(s.longest) {
		s.longest = text
	}
	s.run = s.run[:0]
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
	case n.op == opStart || n.op == opEnd || n.op == opBoundary || n.op == opNotBoundary || n.op == opLook:
		// No character is read there.
	default:
		s.cut()
	}
}

// Sample is a short text in which the pattern is found, unless a lookaround or a word
// boundary is in its way: whoever needs to be sure asks [Pattern.Match].
func (p *Pattern) Sample() string { return string(p.root.sample()) }

func (n *node) sample() []rune {
	switch n.op {
	case opClass:
		for _, r := range easy {
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

// easy are the characters that a sample is made of if it can be; maxSample is how often
// it repeats something.
const (
	easy      = "xabcdefghijklmnopqrstuvwyz0123456789_-./ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	maxSample = 64
)
