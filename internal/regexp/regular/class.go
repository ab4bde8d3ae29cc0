package regular

import "github.com/stopgate/stopgate/internal/regexp/automaton"

// class parses "[...]".
func (p *parser) class() *node {
	n := &node{op: opClass, at: p.pos}
	p.pos++
	negated := p.accept("^")
	var spans []span
	for !p.accept("]") {
		at := p.pos
		lo, multiple := p.classAtom(n.at)
		if !p.rangeFollows() {
			spans = append(spans, lo...)
			continue
		}
		p.pos++ // the hyphen
		hi, multipleToo := p.classAtom(n.at)
		if multiple || multipleToo {
			p.fail(at, "a range cannot end in a class of characters", `write "\-" for the character "-"`)
		}
		if lo[0].Low > hi[0].Low {
			p.fail(at, "the range is out of order", "")
		}
		spans = append(spans, span{Low: lo[0].Low, High: hi[0].Low})
	}
	n.set = p.read(automaton.Of(spans))
	if negated {
		n.set = n.set.Complement()
	}
	return n
}

// rangeFollows reports whether a hyphen is next that is not the last character.
func (p *parser) rangeFollows() bool {
	return p.peek() == '-' && p.pos+1 < len(p.text) && p.text[p.pos+1] != ']'
}

// classAtom parses one member of a class: one code point, or the several of a
// class escape.
func (p *parser) classAtom(open int) (s set, multiple bool) {
	if p.pos == len(p.text) {
		p.fail(open, `"[" is not closed`, `write "\[" for the character`)
	}
	at := p.pos
	if !p.accept(`\`) {
		return single(p.next()), false
	}
	if s, ok := p.classEscape(at); ok {
		return s, true
	}
	if p.accept("b") {
		return single('\b'), false
	}
	return single(p.characterEscape(at, syntaxCharacters+"-")), false
}
