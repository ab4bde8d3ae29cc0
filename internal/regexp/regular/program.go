package regular

import (
	"github.com/stopgate/stopgate/internal/regexp/alternating"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// compiler writes trees as a program. It goes from the end of a tree to its
// beginning, so that every part knows the next one.
type compiler struct {
	*alternating.Builder
	bodies map[*node]int32 // lookarounds that are written already: bodies and trackers
	tests  map[testKey]int32
	body   int32 // where bodies of lookaheads end
}

// testKey names the tests on the next or the last code point, which anchors and
// word boundaries use.
type testKey struct {
	set, skip *span
	behind    bool
}

// program compiles languages as the members of one program.
func program(languages []*Language) *alternating.Program {
	c := &compiler{Builder: alternating.NewBuilder()}
	for _, l := range languages {
		c.bodies, c.tests = map[*node]int32{}, map[testKey]int32{}
		c.body = c.Body()
		c.Member(c.node(l.tree(), c.Match()))
	}
	return c.Program()
}

// node writes a part that goes on at next, and returns where it begins.
func (c *compiler) node(n *node, next int32) int32 {
	switch n.op {
	case opClass:
		return c.Char(n.set, n.skip, next)
	case opConcat:
		for i := len(n.subs) - 1; i >= 0; i-- {
			next = c.node(n.subs[i], next)
		}
		return next
	case opAlternate:
		at := c.node(n.subs[len(n.subs)-1], next)
		for i := len(n.subs) - 2; i >= 0; i-- {
			at = c.Split(c.node(n.subs[i], next), at)
		}
		return at
	case opRepeat:
		return c.repeat(n, next)
	case opStart:
		if n.lines {
			return c.Split(c.Start(next), c.behind(false, lineEnds(), n.skip, next))
		}
		return c.Start(next)
	case opEnd:
		if n.lines {
			return c.Split(c.ahead(true, everything(), n.skip, next), c.ahead(false, lineEnds(), n.skip, next))
		}
		return c.ahead(true, everything(), n.skip, next)
	case opBoundary, opNotBoundary:
		same := n.op == opNotBoundary
		return c.Split(
			c.behind(false, n.set, n.skip, c.ahead(!same, n.set, n.skip, next)),
			c.behind(true, n.set, n.skip, c.ahead(same, n.set, n.skip, next)))
	case opLook:
		return c.look(n, next)
	case opStates:
		return c.states(n, next)
	}
	return c.node(n.subs[0], next) // opGroup
}

// repeat writes its part as often as it may occur.
func (c *compiler) repeat(n *node, next int32) int32 {
	sub, least, most := n.subs[0], n.min, n.max
	if sub.empty() {
		least, most = min(least, 1), min(max(most, -most), 1)
	}
	at, optional := next, most-least
	if most == unlimited {
		loop := c.Split(0, 0)
		at = c.node(sub, loop)
		c.Aim(loop, at, next)
		if least == 0 {
			return loop
		}
		least--
	}
	for range optional {
		at = c.Split(c.node(sub, at), next)
	}
	for range least {
		at = c.node(sub, at)
	}
	return at
}

// states writes an automaton. State 0 is where it begins.
func (c *compiler) states(n *node, next int32) int32 {
	at := map[int]int32{}
	leads := map[int]int32{} // the position of a split whose second way is free
	position := func(state int) int32 {
		p, ok := at[state]
		if !ok {
			p = c.Split(0, 0)
			at[state], leads[state] = p, p
		}
		return p
	}
	first := position(0)
	for i, part := range n.subs {
		from, to := n.arcs[i].from, next
		if n.arcs[i].to < n.max {
			to = position(n.arcs[i].to)
		}
		position(from)
		more := c.Split(0, 0)
		c.Aim(leads[from], c.node(part, to), more)
		leads[from] = more
	}
	dead := c.Char(nil, nil, next)
	for _, split := range leads {
		c.Aim(split, dead, dead)
	}
	return first
}

// look writes a lookaround. Its body is written once, however often a repetition
// writes the lookaround.
func (c *compiler) look(n *node, next int32) int32 {
	body, ok := c.bodies[n]
	if n.behind {
		if !ok {
			body = c.Tracker(c.node(n.subs[0], c.Here(n.skip)))
			c.bodies[n] = body
		}
		return c.Behind(n.negative, body, next)
	}
	if !ok {
		body = c.node(n.subs[0], c.body)
		c.bodies[n] = body
	}
	return c.Ahead(n.negative, body, next)
}

// ahead goes on where a code point of a set is next, or is not.
func (c *compiler) ahead(negative bool, s, skip set, next int32) int32 {
	key := testKey{set: memory(s), skip: memory(skip)}
	body, ok := c.tests[key]
	if !ok {
		body = c.Char(s, skip, c.body)
		c.tests[key] = body
	}
	return c.Ahead(negative, body, next)
}

// behind continues at next if the last code point read is in s, or is not.
func (c *compiler) behind(negative bool, s, skip set, next int32) int32 {
	key := testKey{set: memory(s), skip: memory(skip), behind: true}
	tracker, ok := c.tests[key]
	if !ok {
		tracker = c.Tracker(c.Char(s, skip, c.Here(skip)))
		c.tests[key] = tracker
	}
	return c.Behind(negative, tracker, next)
}

func memory(s automaton.Set) *span {
	if len(s) == 0 {
		return nil
	}
	return &s[0]
}

// The trees that languages are made of.

func class(s set) *node { return &node{op: opClass, set: s} }

func concat(subs ...*node) *node { return &node{op: opConcat, subs: subs} }

func alternate(subs ...*node) *node { return &node{op: opAlternate, subs: subs} }

func star(sub *node) *node { return &node{op: opRepeat, subs: []*node{sub}, max: unlimited} }

func look(negative, behind bool, sub *node) *node {
	return &node{op: opLook, subs: []*node{sub}, negative: negative, behind: behind}
}

// never matches no text, end matches at the end of the text.
func never() *node { return class(nil) }

func end() *node { return &node{op: opEnd} }
