package naive

import "strings"

// look is what one condition learns from a document: when its leaves matched, when
// they did not, and when no further leaf can appear (K11).
type look struct {
	policy     *Policy
	cond       *Cond
	permissive bool
	all        bool
	hits       []int
	misses     []int // leaves that do not match and branches without a leaf
	leaves     int
	seen       func(n *Node)
	lost       []*Node                       // command lines with paths whose files are unknown
	each       func(n *Node, v view, at int) // takes the leaves instead; nil for a missing one
}

// miss takes a branch without a leaf.
func (l *look) miss(at int) {
	l.noCommand(at)
	l.misses = append(l.misses, at)
}

// generous conditions look for any leaf that a restriction may mean; they follow
// values of the wrong type too (B1).
func (l *look) generous() bool { return !l.permissive && !l.all }

// result says whether the condition holds and since when that is known.
func (l *look) result(end int) (holds bool, at int) {
	if l.all {
		if at = first(l.misses); at < Never {
			return false, at
		}
		return end < Never && l.leaves > 0, end
	}
	if at = first(l.hits); at < Never {
		return true, at
	}
	return false, end
}

func first(times []int) int {
	at := Never
	for _, t := range times {
		at = min(at, t)
	}
	return at
}

// walk follows the tokens through a value and returns when no further leaf can
// appear below it.
func (l *look) walk(n *Node, v view, tokens []string) int {
	switch {
	case n.Start == Never:
		return Never
	case n.Kind == Array && v.vector():
		return l.vector(n)
	case n.Kind == Array:
		return l.array(n, v, tokens)
	case len(tokens) == 0:
		return l.leaf(n, v)
	case n.Kind != Object:
		l.miss(n.End)
		return n.End
	}
	if v.wrong(Object) {
		l.noCommand(n.Start)
		if !l.generous() {
			l.miss(n.Start)
			return n.End
		}
		if v.objects() == nil {
			if strings.Trim(strings.Join(tokens, ""), "*") == "" {
				l.below(n, v)
			}
			return n.End
		}
		if v = v.objects(); tokens[0] == "*" {
			tokens = tokens[1:]
		}
		return l.walk(n, v, tokens)
	}
	if tokens[0] == "*" {
		l.miss(n.Start)
		return n.End
	}
	for _, m := range n.Members {
		if m.Key == tokens[0] || v.alias(m.Key, tokens[0]) {
			member, _ := v.key(m.Key)
			return l.walk(m.Value, member, tokens[1:])
		}
	}
	if n.End == Never {
		return Never
	}
	member, _ := v.key(tokens[0])
	l.absent(member, tokens[1:], n.End)
	return n.End
}

// vector takes an argument vector: one value, or if it has no words a branch without one.
func (l *look) vector(n *Node) int {
	one := n.vector()
	switch {
	case n.End == Never:
		return Never
	case one == nil:
		l.empty(n.End)
		return n.End
	}
	return l.leaf(one, vectorView)
}

// alias reports whether key is another name of the property called name.
func (v view) alias(key, name string) bool {
	for _, s := range v {
		if p := s.property(key); p != nil && p.Name == name {
			return true
		}
	}
	return false
}

func (l *look) array(n *Node, v view, tokens []string) int {
	if len(tokens) == 0 && (l.cond.Kind == "min_items" || l.cond.Kind == "max_items") {
		l.count(n, v)
		return n.End
	}
	items := v.items()
	if v.wrong(Array) {
		l.noCommand(n.Start)
		if !l.generous() {
			l.miss(n.Start)
			return n.End
		}
		items = v
	}
	if len(tokens) > 0 && tokens[0] == "*" {
		tokens = tokens[1:]
	}
	for _, e := range n.Elems {
		l.walk(e, items, tokens)
	}
	if len(n.Elems) == 0 && n.End < Never {
		l.empty(n.End)
	}
	return n.End
}

// noCommand takes a value of the wrong type in the place of a command: nothing is
// permitted by it.
func (l *look) noCommand(at int) {
	if l.each != nil {
		l.each(nil, nil, at)
	}
}

// empty takes an array without elements: a branch without a leaf (K3). For
// present it is, like null, a value and none.
func (l *look) empty(at int) {
	if l.cond.Kind == "present" {
		l.unsure(at)
		return
	}
	l.miss(at)
}

// unsure takes a branch that counts as present and as absent: for a restrictive
// condition it is what the condition looks for, for a permissive one it is not (K5).
func (l *look) unsure(at int) {
	l.leaves++
	if l.permissive {
		l.miss(at)
	} else {
		l.hits = append(l.hits, at)
	}
}

// absent takes a branch that ends because a member is missing.
func (l *look) absent(v view, tokens []string, at int) {
	if l.each != nil {
		return
	}
	defaults := l.defaults(v, tokens)
	switch {
	case l.cond.Kind == "present" && len(defaults) > 0 && !l.cond.wantsValue():
		l.unsure(at)
	case l.cond.Kind == "present" && l.cond.Values[0].Text == "false":
		l.take(true, at)
	case l.permissive && l.nulls(defaults):
		l.take(true, at)
	case l.permissive || len(defaults) == 0:
		l.miss(at)
	default:
		for _, d := range defaults {
			seen := look{policy: l.policy, cond: l.cond, all: l.all}
			if l.cond.On != "" {
				seen.everywhere(d.value, d.view)
			} else {
				seen.walk(d.value, d.view, d.tokens)
			}
			l.leaves += seen.leaves
			if len(seen.hits) > 0 {
				l.hits = append(l.hits, at)
			}
			if len(seen.misses) > 0 {
				l.miss(at)
			}
		}
	}
}

// nulls reports a condition that names null, about something that is null by default.
func (l *look) nulls(defaults []defaulted) bool {
	for _, d := range defaults {
		if d.value.Kind != Null || len(d.tokens) > 0 {
			return false
		}
	}
	named, _ := l.cond.null()
	return named && len(defaults) > 0
}

// null reports whether a condition names null, and nothing else.
func (c *Cond) null() (named, only bool) {
	only = true
	for _, v := range c.Values {
		named, only = named || v.Kind == Null, only && v.Kind == Null
	}
	return named, named && only
}

// wantsValue reports present = "value", for which null is no value.
func (c *Cond) wantsValue() bool { return c.Kind == "present" && c.Values[0].Kind == String }

type defaulted struct {
	value  *Node
	view   view
	tokens []string
}

// defaults finds the values that the schema gives to what is missing (B9).
func (l *look) defaults(v view, tokens []string) []defaulted {
	var found []defaulted
	for _, s := range v {
		if s.Default != nil {
			found = append(found, defaulted{s.Default, v, tokens})
		}
	}
	if len(found) > 0 {
		return found
	}
	if l.cond.On != "" {
		for _, s := range v {
			for _, p := range s.Props {
				member, _ := v.key(p.Name)
				found = append(found, l.defaults(member, nil)...)
			}
		}
		return found
	}
	if len(tokens) > 0 && tokens[0] != "*" {
		if member, _ := v.key(tokens[0]); len(member) > 0 {
			return l.defaults(member, tokens[1:])
		}
	}
	return nil
}

func (l *look) take(hit bool, at int) {
	if at == Never {
		return
	}
	l.leaves++
	if hit {
		l.hits = append(l.hits, at)
	} else {
		l.misses = append(l.misses, at)
	}
}

// leaf takes the value that the pointer names.
func (l *look) leaf(n *Node, v view) int {
	kind := l.cond.Kind
	if l.seen != nil && kind != "min_items" && kind != "max_items" {
		l.seen(n)
	}
	if l.each != nil && n.Kind != Object {
		l.each(n, v, n.End)
		return n.End
	}
	switch {
	case kind == "present":
		at := n.Start
		if n.Kind == Number || n.Kind == Bool || n.Kind == Null {
			at = n.End
		}
		if at == Never {
			return Never
		}
		if wrong := n.Kind == Object && v.wrong(Object); wrong && !l.generous() {
			l.miss(at)
		} else if n.Kind == Null && l.cond.wantsValue() {
			l.take(false, at)
		} else if wrong || n.Kind == Null {
			l.unsure(at)
		} else {
			l.take(l.cond.Values[0].Text != "false", at)
		}
		return at
	case kind == "min_items" || kind == "max_items":
		l.take(false, start(n))
		if n.Kind == Object {
			return n.End
		}
		return start(n)
	case n.Kind == Object:
		return l.object(n, v)
	}
	if l.permissive && v.wrong(n.Kind) {
		l.take(false, start(n))
		return start(n)
	}
	hit, at := l.test(n, v, l.permissive)
	l.take(hit, at)
	return at
}

// start is when it is known that a value is of the wrong kind.
func start(n *Node) int {
	if n.Kind == String || n.Kind == Object || n.Kind == Array {
		return n.Start
	}
	return n.End
}

func (l *look) object(n *Node, v view) int {
	declared, _ := v.declares(Object)
	l.noCommand(n.Start)
	switch {
	case l.cond.Kind == "const" && l.cond.Values[0].Kind == Object:
		hit := n.End < Never && equal(n, l.cond.Values[0])
		l.take(hit && !(v.wrong(Object) && l.permissive), n.End)
	case declared || !l.generous():
		l.take(false, n.Start)
	default:
		l.below(n, v)
	}
	return n.End
}
