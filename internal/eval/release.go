package eval

import (
	"iter"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/jsonstream"
)

// Args returns the released bytes if the verdict permits the call: a serialisation of the evaluated
// value, with the paths cleaned on which a permissive rule depends (K4). Approved calls, and those
// that a catch-all permits, are released with the model's spelling. It returns nil unless Close
// accepted the arguments and the verdict is not terminal. The bytes are valid until Reset.
func (e *Evaluation) Args() []byte {
	if !e.accepted || e.terminal() {
		return nil
	}
	if e.released == nil {
		e.released = e.release()
	}
	return e.released
}

// release cleans the paths that a permission depends on: those of the permissive rules of all
// lists.
func (e *Evaluation) release() []byte {
	text := e.args.Bytes()
	if !e.verdict.Mode.Permissive() || !e.unclean {
		return text
	}
	c := cleaner{conds: make([]bool, len(e.plan.conds))}
	for i := range e.plan.lists {
		for r := range e.deciding(i) {
			for k := e.plan.rules[r].first; k < e.plan.rules[r].end && e.plan.rules[r].mode.Permissive(); k++ {
				c.conds[k] = true
			}
		}
	}
	for _, v := range e.plan.views {
		c.walk(e.args.Document().Root(), v.root)
	}
	slices.SortFunc(c.edits, func(a, b jsonstream.Edit) int { return a.Start - b.Start })
	c.edits = slices.CompactFunc(c.edits, func(a, b jsonstream.Edit) bool { return a.Start == b.Start })
	cleaned, err := jsonstream.Splice(nil, text, c.edits)
	if err != nil {
		// Unreachable: the edits come from one walk over the text.
		e.refuse(stopgate.LayerFailure, stopgate.CodePolicyError, "release")
		return nil
	}
	return cleaned
}

// deciding yields the rules that decided a list: one, or one for each command.
func (e *decision) deciding(i int) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		l, st := &e.plan.lists[i], &e.lists[i]
		if l.commands == 0 && !l.guard && st.cursor < l.end {
			yield(st.cursor)
		}
		for k := range e.ways(i) {
			for r := l.first; r < l.end; r++ {
				if e.phaseOf(r, k) == holds {
					yield(r)
					break
				}
			}
		}
	}
}

// cleaner collects the edits that clean paths.
type cleaner struct {
	conds []bool // conditions that the permission depends on
	edits []jsonstream.Edit
}

// walk cleans the paths at and below a value that one of the conditions tested.
func (c *cleaner) walk(v jsonstream.Value, s *shape) {
	switch {
	case s == nil:
	case v.Kind() == jsonstream.Object:
		for key, member := range v.Members() {
			to := s.extra
			if g := s.keys[key.Text()]; g != nil {
				to = g.to
			}
			c.walk(member, to)
		}
	case v.Kind() == jsonstream.Array:
		n := 0
		for element := range v.Elements() {
			to := s.items
			if n < len(s.prefix) {
				to = s.prefix[n]
			}
			c.walk(element, to)
			n++
		}
	case v.Kind() == jsonstream.String && s.needs&watchTarget != 0 && c.looks(s):
		if cleaned, _ := pathform.Clean(v.Text()); !v.IsText(cleaned) {
			start, end := v.Span()
			c.edits = append(c.edits, jsonstream.Edit{Start: start, End: end, Text: jsonstream.AppendQuote(nil, cleaned)})
		}
	}
}

// looks reports whether one of the conditions tests the strings of a shape.
func (c *cleaner) looks(s *shape) bool {
	return slices.ContainsFunc(s.tests, func(t test) bool { return c.conds[t.cond] })
}
