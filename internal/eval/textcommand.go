package eval

import (
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
)

// swept takes whether a command reads directories in which a guard protects files.
func (e *leafTests) swept(hit bool) {
	if hit {
		e.floorHere(stopgate.Ask, stopgate.CodeGuardedBelow)
	}
}

// notKnown takes the unknown facts of the paths that a restrictive condition evaluates: the
// condition covers the known readings, and the others require an approval.
func (e *leafTests) notKnown(unknown condition.Unknown) {
	if unknown != condition.Known && !e.probing {
		e.unknownPaths |= unknown
		e.floorHere(stopgate.Ask, stopgate.CodePathNotKnown)
	}
}

// commandEnd evaluates the simple commands of the string that has just ended, one by one (K29).
func (e *leafTests) commandEnd() {
	if e.commands {
		e.commands = false
		v := e.stringValue()
		for n := range e.line().Commands() {
			e.lanes.segment = e.segment(n)
			e.command(v, n)
			e.endCommand()
		}
	}
	e.lanes.segment = segment{}
	e.endCommand()
}

// startLines is startTest for a bundle on command lines.
func (e *leafTests) startLines(t *test, sole bool) {
	x := e.nextText()
	x.test, x.m, x.index, x.lines, x.result, x.sole = t, nil, nil, t.lines, condition.Undecided, sole
	x.among = x.among[:0]
	e.undecided++
	e.commands = true
}

// endLines takes the end of a string that an index of command lines evaluates, command by command.
func (e *leafTests) endLines(x *textTest) {
	v := e.stringValue()
	x.among = x.lines.Find(v, x.among[:0])
	e.notKnown(x.lines.Unknown(v, x.among))
}

// commandLines evaluates a bundle for one simple command.
func (e *leafTests) commandLines(x *textTest, v *condition.Value, n int) {
	c := x.test.cond
	e.hits.Reset()
	for _, at := range x.among {
		r, by, hit := x.lines.Judge(at, v, n)
		if !hit {
			continue
		}
		e.hits.Members = append(e.hits.Members, r)
		if by == nil {
			continue
		}
		if !e.plan.conds[c].permissive && by.Exceeds(v) {
			b := &e.bundles[e.plan.conds[c].bundle]
			b.limited = append(b.limited, r)
		}
		e.names(c, r, by, v, n)
	}
	e.holding(x.test.site, e.hits.Members, x.sole)
}

// command evaluates the conditions on commands for one simple command.
func (e *leafTests) command(v *condition.Value, n int) {
	for i := range e.texts {
		x := &e.texts[i]
		if e.plan.conds[x.test.cond].command < 0 || i > 0 && e.texts[i-1].test == x.test {
			continue
		}
		if x.lines != nil {
			e.commandLines(x, v, n)
			continue
		}
		permissive := e.plan.conds[x.test.cond].permissive
		hit := permissive
		for j := i; j < len(e.texts) && e.texts[j].test == x.test && hit == permissive; j++ {
			if hit = e.reads(&e.texts[j], v, n); hit {
				e.names(x.test.cond, 0, e.texts[j].m, v, n)
			}
		}
		e.leaf(x.test.site, hit, x.sole)
	}
}

// reads evaluates one simple command by one reading of a condition.
func (e *leafTests) reads(x *textTest, v *condition.Value, n int) bool {
	switch {
	case x.result != condition.Undecided:
		return x.result == condition.Hit
	case x.m.Incremental():
		return x.m.End(&x.state) == condition.Hit
	}
	hit := x.m.JudgeCommand(v, n)
	if hit {
		e.limit(x)
	}
	return hit
}
