package eval

import (
	"math"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/literal"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/jsonstream"
)

// textTest is one matcher on the current string, or the index of a bundle. A test with several
// readings has several, consecutively.
type textTest struct {
	test     *test
	m        *match.Matcher
	state    condition.State
	index    *index.Index // instead of a matcher
	lines    *index.Lines // or instead of both, for command lines
	among    []int32      // the members of lines that the string may satisfy
	arriving index.State
	shown    index.State // state when it last decided something
	result   condition.Result
	sole     bool // no other value can be at the test's site
	optional bool // of a member that the schema does not require
	shows    int  // bytes of the current piece after which a test is decided, 0 if none is
}

// textWatch is the checks of one view on the current string, independent of rules.
type textWatch struct {
	view  *view
	shape *shape
	found bool // a control character was found
	shows int  // bytes of the current piece up to and including it, 0 if it has none
}

// leafTests evaluates the values of the arguments while they arrive: the tests of the current
// string, and of the value that ended last.
type leafTests struct {
	decision
	texts      []textTest
	watches    []textWatch
	suspects   []suspect       // guards that read the string although it is not declared
	undeclared condition.Value // one reading of it
	hits       index.Hits
	undecided  int
	commands   bool // a test evaluates it command by command
	decoded    bool // scratch contains its text
	prepared   bool // str contains it
	str        condition.Value
	scratch    []byte
	value      jsonstream.Value
	vector     condition.Vector
	object     []byte // canonical text of an object
	unclean    bool   // some path is not spelled as it would be released
	// sessionTexts are the texts of the call's session, nil if none are known.
	sessionTexts flow.View
	part         condition.Value // a number, a boolean or a key
}

func (e *leafTests) reset(p *plan) {
	e.decision.reset(p)
	e.texts, e.watches, e.undecided, e.decoded = e.texts[:0], e.watches[:0], 0, false
	e.suspects, e.commands, e.unclean = e.suspects[:0], false, false
}

// startTest begins a test of the string that begins now.
func (e *leafTests) startTest(t *test, sole, optional bool) {
	first := len(e.texts)
	e.commands = e.commands || e.plan.conds[t.cond].command >= 0
	for _, m := range t.texts {
		x := e.nextText()
		x.test, x.m, x.index, x.lines, x.sole, x.optional = t, m, nil, nil, sole, optional
		if x.result = m.Start(&x.state); x.result == condition.Undecided {
			e.undecided++
		}
	}
	for i := first; i < len(e.texts); i++ {
		if x := &e.texts[i]; x.result != condition.Undecided {
			e.textResult(x)
		}
	}
}

// nextText adds a test, whose cursor keeps its memory.
func (e *leafTests) nextText() *textTest {
	if len(e.texts) < cap(e.texts) {
		e.texts = e.texts[:len(e.texts)+1]
	} else {
		e.texts = append(e.texts, textTest{})
	}
	return &e.texts[len(e.texts)-1]
}

// startIndex is startTest for a bundle.
func (e *leafTests) startIndex(t *test, sole bool) {
	x := e.nextText()
	x.test, x.m, x.index, x.lines, x.result, x.sole = t, nil, t.index, nil, condition.Undecided, sole
	e.undecided++
	if x.index.Start(&x.arriving) {
		e.progress(x, false)
	}
}

// WantsEncoded implements [jsonstream.EncodedTextHandler]: it reports whether the rest of the
// string is needed only at its end.
func (e *leafTests) WantsEncoded() bool { return e.undecided == 0 && len(e.watches) == 0 }

// textPart passes a piece of the string to its tests. Their decisions are taken in byte order, so
// that the result does not depend on the chunks of the text (I2).
func (e *leafTests) textPart(ev *jsonstream.Event) (stop bool) {
	if e.WantsEncoded() {
		return false
	}
	shown := 0
	if len(e.texts) == 1 && len(e.watches) == 0 {
		return e.onlyPart(ev)
	}
	for i := range e.texts {
		if x := &e.texts[i]; e.reading(x) && e.feed(x, ev.Text, 0) {
			shown++
		}
	}
	for i := range e.watches {
		w := &e.watches[i]
		if w.shows = 0; w.shape.needs&watchControls != 0 && !w.found {
			if w.shows = control(ev.Text, w.shape.needs&allowTabs != 0); w.shows > 0 {
				shown++
			}
		}
	}
	for ; shown > 0; shown-- {
		test, watch := e.nextShown()
		if test == nil {
			if e.reach(offset(ev, watch.shows)) {
				return true
			}
			watch.found, watch.shows = true, 0
			e.controlFound(watch.view)
			continue
		}
		if e.reach(offset(ev, test.shows)) {
			return true
		}
		if e.showText(test, ev.Text) {
			shown++
		}
	}
	return false
}

// onlyPart is textPart for a string with one test. No other test shares its bytes, so that each
// decision is settled before the next byte is read.
func (e *leafTests) onlyPart(ev *jsonstream.Event) (stop bool) {
	x := &e.texts[0]
	if !e.reading(x) {
		return false
	}
	if e.dirty && e.settle() {
		return true
	}
	for from := 0; e.feed(x, ev.Text, from); {
		from = x.shows
		e.at = offset(ev, from)
		if x.index != nil {
			e.progress(x, true)
		} else {
			e.textResult(x)
		}
		if e.dirty && e.settle() {
			return true
		}
		if x.result != condition.Undecided {
			break
		}
	}
	x.shows = 0
	return false
}

// reading reports whether a test reads the current piece.
func (e *leafTests) reading(x *textTest) bool {
	x.shows = 0
	return x.result == condition.Undecided && x.lines == nil && e.conds[x.test.cond].phase == waiting && (x.index == nil || x.index.Arrives())
}

// nextShown returns the test or watch with the first decision in the current piece.
func (e *leafTests) nextShown() (test *textTest, watch *textWatch) {
	first := math.MaxInt
	for i := range e.texts {
		if x := &e.texts[i]; x.shows > 0 && x.shows < first {
			first, test = x.shows, x
		}
	}
	for i := range e.watches {
		if w := &e.watches[i]; w.shows > 0 && w.shows < first {
			first, test, watch = w.shows, nil, w
		}
	}
	return test, watch
}

// showText takes the decision of a test in a piece of text, and passes it the rest. It reports
// whether there is a further decision.
func (e *leafTests) showText(x *textTest, text []byte) (more bool) {
	from := x.shows
	x.shows = 0
	if x.index == nil {
		e.textResult(x)
		return false
	}
	e.progress(x, false)
	return x.result == condition.Undecided && e.feed(x, text, from)
}

// feed passes a test the text of a piece from a byte on, until it decides something.
func (e *leafTests) feed(x *textTest, text []byte, from int) (found bool) {
	var n int
	if x.index != nil {
		n, found = x.index.Feed(&x.arriving, text[from:])
	} else if x.result, n = x.m.Feed(&x.state, text[from:]); x.result != condition.Undecided {
		found = true
		e.undecided--
	}
	if found {
		x.shows = from + n
	}
	return found
}

// offset returns the argument byte that completed the first n bytes of a piece's text.
func offset(ev *jsonstream.Event, n int) int64 {
	if ev.Escaped {
		return ev.Offset
	}
	return ev.Offset - int64(len(ev.Text)-n)
}

// textResult takes the result of one matcher. The readings of one test are combined: a permissive
// condition needs them all, a restrictive one any.
func (e *leafTests) textResult(x *textTest) {
	if e.plan.conds[x.test.cond].command >= 0 {
		return // every reading of a command is evaluated at its end (K13)
	}
	if len(x.test.texts) > 1 {
		enough := condition.Hit
		if e.plan.conds[x.test.cond].permissive {
			enough = condition.Miss
		}
		for j := range e.texts {
			y := &e.texts[j]
			switch {
			case y.test != x.test || y.result != condition.Undecided:
			case x.result != enough:
				return // another reading may still match
			default:
				y.result = enough
				e.undecided--
			}
		}
	}
	e.leaf(x.test.site, x.result == condition.Hit, x.sole)
}

// textEnd takes the closing quote.
func (e *leafTests) textEnd() {
	for i := range e.texts {
		x := &e.texts[i]
		if x.result != condition.Undecided || e.conds[x.test.cond].phase != waiting {
			continue
		}
		e.undecided--
		if x.index != nil {
			e.endIndex(x)
			continue
		}
		if x.test.origin {
			e.endOrigin(x)
			continue
		}
		if x.lines != nil {
			e.endLines(x)
			continue
		}
		if x.m.JudgesSweeps() && !e.probing {
			e.swept(x.m.Sweeps(e.stringValue()))
		}
		if x.m.MayBeUnknown() {
			e.notKnown(x.m.Unknown(e.stringValue()))
		}
		switch {
		case e.plan.conds[x.test.cond].command >= 0:
			continue // below, command by command
		case x.m.Incremental():
			x.result = x.m.End(&x.state)
		case x.m.Judge(e.stringValue()):
			x.result = condition.Hit
			e.limit(x)
		default:
			x.result = condition.Miss
		}
		e.textResult(x)
		e.explainable(x.test.cond)
		st := &e.conds[x.test.cond]
		switch {
		case st.phase != holds || x.result != condition.Hit || x.m.Incremental():
		case x.m.JudgesCommands():
			e.segmentOf(x.test.cond, 0, x.m)
			if e.plan.conds[x.test.cond].on != "" {
				st.value = e.spine.keep(e.text())
			}
		default:
			st.value = e.spine.keep(e.text())
		}
	}
	e.commandEnd()
	e.suspected()
	for i := range e.watches {
		e.protected(&e.watches[i])
	}
	e.texts, e.watches, e.undecided = e.texts[:0], e.watches[:0], 0
	e.decoded, e.prepared = false, false
}

// endIndex takes the end of a string that the index of a bundle evaluates.
func (e *leafTests) endIndex(x *textTest) {
	if x.index.JudgesSweeps() && !e.probing {
		e.swept(x.index.Sweeps(e.stringValue()))
	}
	if n := e.plan.conds[x.test.cond].bundle; len(e.plan.bundles[n].rules) > 1 || e.bundles[n].hit.First() == literal.None {
		e.notKnown(x.index.Unknown(e.stringValue())) // a guard that holds needs to know no further path
	}
	x.index.End(&x.arriving, e.stringValue(), &e.hits)
	e.matched(x.test.cond, x.test.site, &e.hits, x.sole)
	if len(e.hits.Members) > 0 {
		b := &e.bundles[e.plan.conds[x.test.cond].bundle]
		b.limited = append(b.limited, e.hits.Limited...)
		e.conds[x.test.cond].value = e.spine.keep(e.text())
		if x.index.HasSingle() {
			e.bundleSegments(x)
		}
	}
	e.explainable(x.test.cond)
}

// stringValue returns the string that has just ended, with the derived forms that its matchers
// share.
func (e *leafTests) stringValue() *condition.Value {
	if !e.prepared {
		e.str.ResetText(e.text()) // the parser accepted it
		e.str.SetTexts(e.sessionTexts)
		e.prepared = true
	}
	return &e.str
}

// line returns the string that has just ended as a command line.
func (e *leafTests) line() condition.Line { return e.plan.table.Line(e.stringValue()) }

// text returns the complete string that has just ended.
func (e *leafTests) text() []byte {
	if e.decoded {
		return e.scratch
	}
	v := e.value
	if text, ok := v.TextBytes(); ok {
		return text
	}
	e.scratch, e.decoded = v.AppendText(e.scratch[:0]), true
	return e.scratch
}
