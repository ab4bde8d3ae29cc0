package eval

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// foundOrigin is where a value comes from that a condition looked at.
type foundOrigin struct {
	cond  int32
	path  span
	ref   flow.Ref
	held  bool
	doubt flow.Doubt
}

// maxOrigins is the maximum number of origins that are kept for records and explanations.
const maxOrigins = 64

// commonTexts are the texts that have all values so far of the conditions of a rule.
type commonTexts struct {
	known   bool // there was a value
	numbers []int
}

// keep leaves only those of the texts that are among some others. It returns false if none is left.
func (t *commonTexts) keep(texts []int) bool {
	if !t.known {
		t.known, t.numbers = true, append(t.numbers[:0], texts...)
	} else {
		t.numbers = slices.DeleteFunc(t.numbers, func(n int) bool { return !slices.Contains(texts, n) })
	}
	return len(t.numbers) > 0
}

// endOrigin takes the closing quote of a string of which a condition looks at the origin.
func (e *leafTests) endOrigin(x *textTest) {
	c := x.test.cond
	v := e.stringValue()
	if len(v.Text()) == 0 {
		e.withoutValue(x.test, x.optional, false, x.sole)
		x.result = condition.Miss
		return
	}
	o := e.origin(x.test, x.m.Origin(v, schema.String))
	if x.result = condition.Miss; o.Holds {
		x.result = condition.Hit
	}
	e.found(c, x.m, v, schema.String, &o)
	e.textResult(x)
}

// origin takes the result of a condition for one value, before it counts: with same_text the value
// must be from a text that the other values are from, too.
func (e *leafTests) origin(t *test, o condition.Origin) condition.Origin {
	k := &e.plan.conds[t.cond]
	if k.rule >= 0 && o.Holds && k.kind == condition.From {
		if same := e.plan.rules[k.rule].same; same >= 0 && e.conds[t.cond].phase == waiting && !e.same[same].keep(o.Texts) {
			o.Holds = false
		}
	}
	if o.Holds != k.permissive && e.conds[t.cond].phase == waiting {
		e.conds[t.cond].doubt |= o.Doubt
	}
	return o
}

// found records the origin of the current value, which is the first text of any source if none of
// those of the condition has it.
func (e *leafTests) found(c int32, m *match.Matcher, v *condition.Value, of schema.Type, o *condition.Origin) {
	if e.probing || len(e.origins) == maxOrigins {
		return
	}
	f := foundOrigin{cond: c, path: e.spine.mark(), ref: o.Ref, held: o.Holds, doubt: o.Doubt}
	if o.Ref.Number == 0 && o.Holds == (e.plan.conds[c].kind == condition.NotFrom) {
		f.ref = m.FirstText(v, of)
	}
	e.origins = append(e.origins, f)
}

// scalarOrigin takes a number, a boolean or null.
func (e *leafTests) scalarOrigin(t *test, ev *jsonstream.Event, kind typeSet, p position) {
	sole := !p.many && !t.many
	switch {
	case kind == nullType:
		e.withoutValue(t, p.optional, true, sole)
		return
	case kind&t.fits&^t.wrong == 0 || e.conds[t.cond].phase != waiting:
		e.leaf(t.site, false, sole)
		return
	}
	text, of := ev.Text, schema.Number
	switch ev.Kind {
	case jsonstream.True:
		text, of = trueText, schema.Boolean
	case jsonstream.False:
		text, of = falseText, schema.Boolean
	}
	e.partOrigin(t, text, of, sole)
}

var trueText, falseText = []byte("true"), []byte("false")

// keyOrigin takes a key that no schema and no rule names.
func (e *leafTests) keyOrigin(t *test, key []byte) {
	if e.conds[t.cond].phase == waiting && len(key) > 0 {
		e.partOrigin(t, key, schema.String, false)
	}
}

// partOrigin evaluates a value that is no string of its own by all readings of a location.
func (e *leafTests) partOrigin(t *test, text []byte, of schema.Type, sole bool) {
	k := &e.plan.conds[t.cond]
	e.part.ResetText(text)
	e.part.SetTexts(e.sessionTexts)
	var o condition.Origin
	for _, m := range t.texts {
		o = e.origin(t, m.Origin(&e.part, of))
		if e.found(t.cond, m, &e.part, of, &o); o.Holds != k.permissive {
			break
		}
	}
	e.leaf(t.site, o.Holds, sole)
}

// withoutValue takes "" or null, which have no origin. For an optional member it satisfies a
// permissive condition; below an object it is as if it were absent. A required "" is from no text.
func (e *leafTests) withoutValue(t *test, optional, null, sole bool) {
	k := &e.plan.conds[t.cond]
	switch {
	case optional && k.vacuous() && !t.many:
		e.leaf(t.site, true, sole)
	case optional && t.many: // neither
	case k.kind == condition.NotFrom && !k.permissive && !optional && !null:
		e.leaf(t.site, true, sole)
	default:
		e.leaf(t.site, false, sole)
	}
}

// Origins lists where the values come from that conditions on origins evaluated, in the order in
// which they did. It has no part of a value or a text.
func (e *Evaluation) Origins() []stopgate.Origin {
	var all []stopgate.Origin
	for i := range e.origins {
		all = append(all, e.originOf(&e.origins[i]))
	}
	return all
}

func (e *decision) originOf(f *foundOrigin) stopgate.Origin {
	spec := &e.plan.conds[f.cond].ast.Spec
	o := stopgate.Origin{
		Pointer: string(e.spine.pointer(f.path)), Source: string(f.ref.Source), Tool: f.ref.Tool, Call: f.ref.Call, Field: f.ref.Pointer,
		Not: spec.Kind == condition.NotFrom, Held: f.held, Doubt: doubtCode(f.doubt),
	}
	for _, name := range spec.Values {
		o.Wanted = append(o.Wanted, name.Text)
		o.Reading = o.Reading || !o.Held && !o.Not && name.Text == o.Source
	}
	if f.ref.Number > 0 {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %q %q %q", f.ref.Number, f.ref.Call, f.ref.Proposal, f.ref.Pointer))
		o.Text = hex.EncodeToString(sum[:8])
	}
	return o
}

// doubtful gives the verdict of a list the code of a doubt about origins, if it follows from one: the
// rule that decided holds by it, or an earlier permissive rule fails by it.
func (e *decision) doubtful(i int, v *stopgate.Verdict) {
	l, st := &e.plan.lists[i], &e.lists[i]
	if !e.plan.origins || v.Mode == stopgate.Unattended || v.Layer != l.layer {
		return
	}
	decided := int32(-1)
	if st.holds {
		r := &e.plan.rules[st.cursor]
		for c := r.first; c < r.end; c++ {
			if k := &e.plan.conds[c]; !k.permissive && e.conds[c].phase == holds && e.conds[c].doubt != 0 {
				decided = c
			}
		}
	}
	for r := l.first; r < st.cursor && decided < 0; r++ {
		rule := &e.plan.rules[r]
		if rule.own < 0 || e.rules[rule.own].phase != failed {
			continue
		}
		if c := e.rules[rule.own].cond; c >= 0 && e.plan.conds[c].permissive && e.conds[c].doubt != 0 {
			decided = c
		}
	}
	if decided >= 0 {
		st := &e.conds[decided]
		v.Code = doubtCode(st.doubt)
		v.Pointer, v.Public = string(e.spine.pointer(st.path)), v.Code.Public()
	}
}

// doubtCode returns the code of a reason why origins are not known, "" for none.
func doubtCode(d flow.Doubt) stopgate.Code {
	switch {
	case d&flow.Unreported != 0:
		return stopgate.CodeOriginUnknown
	case d != 0:
		return stopgate.CodeOriginBudget
	}
	return ""
}
