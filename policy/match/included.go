package match

// canonicalPaths accepts the canonical forms of paths that do not climb.
func canonicalPaths() *automaton {
	n := newNFA()
	n.accept(0)
	slash := n.text(0, "/")
	n.accept(slash)
	begin, dot, dots, name := n.state(), n.state(), n.state(), n.state()
	n.free(0, begin)
	n.free(slash, begin)
	written := notSlash.minus(single('.'))
	n.edge(begin, single('.'), dot)
	n.edge(begin, written, name)
	n.edge(dot, single('.'), dots)
	n.edge(dot, written, name)
	n.edge(dots, notSlash, name)
	n.edge(name, notSlash, name)
	n.edge(name, single('/'), begin)
	n.accept(name)
	return n.direct().determinise()
}

// included decides whether every text of l that is in the domain is in e.
func included(l, e, domain *automaton) Answer {
	const limit = 1 << 20
	type triple struct{ l, e, d uint32 }
	points := representatives(l, e, domain)
	start := triple{l: l.first, e: e.first}
	if domain != nil {
		start.d = domain.first
	}
	seen := map[triple]bool{start: true}
	for todo := []triple{start}; len(todo) > 0; {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if l.accept[at.l] && !e.accept[at.e] && (domain == nil || domain.accept[at.d]) {
			return No
		}
		if len(seen) > limit {
			return NotProven // bounds memory; no pair of globs in the tests gets here
		}
		for _, r := range points {
			next := triple{l.step(at.l, l.class(r)), e.step(at.e, e.class(r)), 0}
			if domain != nil {
				next.d = domain.step(at.d, domain.class(r))
			}
			dead := l.fate[next.l] == Miss || e.fate[next.e] == Hit || domain != nil && domain.fate[next.d] == Miss
			if !dead && !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return Yes
}

// representatives returns one code point of every joint class of the automata.
func representatives(automata ...*automaton) []rune {
	candidates := []rune{}
	for r := range rune(0x80) {
		candidates = append(candidates, r)
	}
	for _, a := range automata {
		if a == nil {
			continue
		}
		for _, s := range a.others {
			candidates = append(candidates, s.low, min(s.high+1, 0x10FFFF))
		}
	}
	candidates = append(candidates, 0x80)
	seen := map[string]bool{}
	var out []rune
	for _, r := range candidates {
		var key []byte
		for _, a := range automata {
			if a != nil {
				c := a.class(r)
				key = append(key, byte(c), byte(c>>8))
			}
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, r)
		}
	}
	return out
}
