package naive

import (
	"slices"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/testkit/naiveflow"
)

// Origin reports a condition on where a value comes from.
func (k *Cond) Origin() bool { return k.Kind == "from" || k.Kind == "not_from" || k.Kind == "carries" }

// sameText are the texts that have all values so far of a rule, in the order of their bytes.
type sameText struct{ leaves []leafOrigin }

// leafOrigin is one value that a condition looked at.
type leafOrigin struct {
	holds bool
	at    int
	doubt flow.Doubt
	texts []naiveflow.Text
	named bool // it has a value, and from
}

// origins collects the values that a condition looks at.
type origins struct {
	texts      *naiveflow.View
	cond       *Cond
	permissive bool
	found      []leafOrigin
}

// where evaluates a condition on origins. The conditions of a rule with same share their texts.
func (c *call) where(k *Cond, permissive bool, v view, same *sameText) (holds bool, at int, doubt string) {
	o := &origins{texts: c.policy.Texts, cond: k, permissive: permissive}
	end := Never
	if k.On != "" {
		end = o.strings(c.root, v, false)
	} else {
		end = o.walk(c.root, v, k.Arg, false, true)
	}
	slices.SortStableFunc(o.found, func(a, b leafOrigin) int { return a.at - b.at })
	d := flow.Doubt(0)
	for _, l := range o.found {
		if l.at == Never {
			break
		}
		if same != nil && l.named && l.holds && !same.keep(&l, c.policy.Texts) {
			l.holds = false
		}
		if l.holds != permissive {
			d |= l.doubt
			return l.holds, l.at, codeOf(d)
		}
	}
	if permissive {
		return len(o.found) > 0 && end < Never, end, ""
	}
	return false, end, ""
}

func codeOf(d flow.Doubt) string {
	switch {
	case d&flow.Unreported != 0:
		return "origin_unknown"
	case d != 0:
		return "origin_budget"
	}
	return ""
}

// keep reports whether a text has all values up to this one: one leaf of a result, and if the
// definition leaves it open one result.
func (s *sameText) keep(l *leafOrigin, texts *naiveflow.View) bool {
	s.leaves = append(s.leaves, *l)
	in := func(fits func(a, b naiveflow.Text) bool) bool {
		return slices.ContainsFunc(s.leaves[0].texts, func(first naiveflow.Text) bool {
			return !slices.ContainsFunc(s.leaves, func(other leafOrigin) bool {
				return !slices.ContainsFunc(other.texts, func(t naiveflow.Text) bool { return fits(first, t) })
			})
		})
	}
	return in(func(a, b naiveflow.Text) bool { return a.Number == b.Number }) ||
		in(func(a, b naiveflow.Text) bool { return a.Event == b.Event }) && texts.Guess("same")
}

func (o *origins) take(holds bool, at int) {
	o.found = append(o.found, leafOrigin{holds: holds, at: at})
}

// walk follows the tokens to values and returns when no further one can appear. A list is looked at by
// element, an object by its values and the keys that no schema names. optional: the schema does not
// require the value; direct: the pointer leads here.
func (o *origins) walk(n *Node, v view, tokens []string, optional, direct bool) int {
	switch {
	case n == nil || n.Start == Never:
		return Never
	case n.Kind == Array:
		if len(tokens) > 0 && tokens[0] == "*" {
			tokens = tokens[1:]
		}
		for _, e := range n.Elems {
			o.walk(e, v.items(), tokens, false, direct)
		}
		if len(n.Elems) == 0 && n.End < Never && direct && o.permissive {
			o.take(optional, n.End)
		}
		return n.End
	case n.Kind == Object && len(tokens) > 0:
		return o.member(n, v, tokens, direct)
	case n.Kind == Object:
		for _, m := range n.Members {
			member, required, free := v.named(m.Key)
			if free {
				o.leaf(&Node{Kind: String, Text: m.Key, End: m.At}, nil)
			}
			if m.Value != nil && m.Value.Kind == String && m.Value.Text == "" && !free && !required {
				continue // as if it were absent
			}
			o.walk(m.Value, member, nil, !required && !free, false)
		}
		return n.End
	case len(tokens) > 0:
		if o.permissive {
			o.take(false, start(n))
		}
		return n.End
	case n.Kind == String && n.Text == "":
		o.take(optional && o.permissive || !optional && !o.permissive && o.cond.Kind == "not_from", n.End)
		return n.End
	case n.Kind == Null:
		o.take(optional && o.permissive, n.End)
		return n.End
	}
	o.leaf(n, v)
	return n.End
}

// member follows a token into an object.
func (o *origins) member(n *Node, v view, tokens []string, direct bool) int {
	for _, m := range n.Members {
		if m.Key == tokens[0] {
			member, required, free := v.named(m.Key)
			return o.walk(m.Value, member, tokens[1:], !required && !free, direct)
		}
	}
	if n.End < Never && o.permissive {
		_, required, free := v.named(tokens[0])
		o.take(!required && !free, n.End)
	}
	return n.End
}

// named returns the view of a member, whether the schema requires it, and whether it names it.
func (v view) named(key string) (member view, required, free bool) {
	free = true
	for _, s := range v {
		if p := s.property(key); p != nil {
			free, required = false, required || p.Required
		}
	}
	member, _ = v.key(key)
	return member, required, free
}

// strings looks at every string of a call, whatever it is, and at the keys that no schema names.
func (o *origins) strings(n *Node, v view, optional bool) int {
	switch {
	case n == nil || n.Start == Never:
		return Never
	case n.Kind == String && n.Text == "":
		o.take(!optional && o.cond.Kind == "not_from", n.End)
	case n.Kind == String:
		o.leaf(n, v)
	}
	for _, e := range n.Elems {
		o.strings(e, v.items(), false)
	}
	for _, m := range n.Members {
		member, required, free := v.named(m.Key)
		if free {
			o.leaf(&Node{Kind: String, Text: m.Key, End: m.At}, nil)
		}
		o.strings(m.Value, member, !required && !free)
	}
	return n.End
}

// leaf asks the texts for a value.
func (o *origins) leaf(n *Node, v view) {
	if n.End == Never {
		return
	}
	q := &naiveflow.Query{Question: naiveflow.Question{Relation: o.cond.Relation, Weak: o.cond.Weak, Segments: o.cond.Segments}, Tokens: o.cond.Tokens}
	for _, s := range v {
		if s.As != "" {
			q.Kind, _ = flow.ParseKind(s.As)
		}
	}
	switch {
	case n.Kind == Bool:
		q.Kind = flow.Text
	case n.Kind == Number && q.Kind == flow.Text:
		q.Kind = flow.Number
	}
	for _, name := range o.cond.Values {
		q.Sources = append(q.Sources, name.Text)
	}
	f := naiveflow.Finding{Possible: true, Doubt: flow.Unreported}
	switch {
	case o.texts == nil:
	case o.cond.Kind == "carries":
		f = o.texts.Carries(n.Text, q)
	default:
		f = o.texts.Find(n.Text, q)
	}
	l := leafOrigin{at: n.End, named: o.cond.Kind == "from", texts: f.Texts}
	sure := f.Certain
	switch {
	case o.cond.Kind == "not_from" && o.permissive:
		l.holds, sure = !f.Possible, f.Seen
	case o.cond.Kind == "not_from":
		l.holds = !f.Certain
	case o.permissive:
		l.holds = f.Certain
	case o.cond.Ignores && f.Doubt&flow.Unreported != 0:
		l.holds, sure = f.Seen, f.Seen
	default:
		l.holds, sure = f.Possible, f.Seen
	}
	if !sure {
		l.doubt = f.Doubt
	}
	o.found = append(o.found, l)
}
