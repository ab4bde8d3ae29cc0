package naive

import "slices"

// route is one way in which a value can be what a condition of a layer looks at.
type route struct {
	cond   *Cond
	rule   int // in the list, -1 for a guard
	permit bool
	rest   []string // of the pointer
	flat   bool     // an array was crossed
	deep   bool     // it looks at everything below a value of no known type
}

// uncovered finds out when it is known that some permits of a layer's list do not cover the
// call: a string, a list or an object that only the request declares, or nobody.
func (c *call) uncovered(file int, l *list) {
	layer := &c.policy.Layers[file]
	l.lacks = slices.Repeat([]int{Never}, len(l.rules))
	if l.uncovered = c.policy.onUncovered(); l.uncovered == "allow" {
		return
	}
	for i, r := range l.rules {
		named := !layer.Untrusted && (layer.Uncovered == "" || layer.Uncovered == "allow")
		if l.mode(i, 0) != "unattended" || named && len(r.All) == 0 || r.absent {
			continue
		}
		v := &cover{list: l, rule: i}
		var routes []route
		for n, other := range l.rules {
			for k := range other.All {
				if !other.absent {
					routes = append(routes, route{cond: &other.All[k], rule: n, permit: other.Mode == "unattended", rest: other.All[k].Arg})
				}
			}
		}
		for n := range c.policy.Layers { // files that see one schema look together
			other := &c.policy.Layers[n]
			if other.Schema != layer.Schema {
				continue
			}
			for _, g := range c.policy.present(other.Guards) {
				if !g.absent && g.All[0].On == "" {
					routes = append(routes, route{cond: &g.All[0], rule: -1, rest: g.All[0].Arg})
				}
			}
			if other.Speaks && n != file {
				for _, r := range c.policy.present(other.Rules) {
					for k := range r.All {
						if !r.absent {
							routes = append(routes, route{cond: &r.All[k], rule: len(l.rules), permit: r.Mode == "unattended", rest: r.All[k].Arg})
						}
					}
				}
			}
		}
		v.members(c.root, viewOf(layer.Schema), routes)
		l.lacks[i] = v.at()
	}
}

// onUncovered is the strictest that is said about uncovered parameters.
func (p *Policy) onUncovered() string {
	said := ""
	for i := range p.Layers {
		l := &p.Layers[i]
		if l.Uncovered == "" || l.Untrusted && l.Uncovered == "allow" || !l.Speaks {
			continue
		}
		if said == "" || l.Uncovered == "deny" || l.Uncovered == "ask" && said == "allow" {
			said = l.Uncovered
		}
	}
	if said == "" {
		return "ask"
	}
	return said
}

// cover looks for what one permit does not cover.
type cover struct {
	list  *list
	rule  int
	times []int
}

func (v *cover) at() int { return first(v.times) }

// members looks at the members of an object of the schema's type.
func (v *cover) members(n *Node, s view, routes []route) {
	for _, m := range n.Members {
		if s.nul(m.Key) {
			return // ambiguous: the call ends here
		}
		member, undeclared := s.key(m.Key)
		if !undeclared && !member.tabled() {
			v.value(m.Value, member, s.along(routes, m.Key, member), m.At)
		}
	}
}

// tabled reports whether a parameter table declares a value.
func (s view) tabled() bool {
	return slices.ContainsFunc(s, func(one *Schema) bool { return !one.Requested })
}

// along continues routes to a member.
func (s view) along(routes []route, key string, member view) (next []route) {
	for _, r := range routes {
		if r.deep {
			next = append(next, r)
			continue
		}
		if _, known := s.declares(Object); !known && r.ends() && !r.permit && r.cond.Match != "all" {
			next = append(next, route{cond: r.cond, rule: r.rule, deep: true})
		}
		if len(r.rest) > 0 && (r.rest[0] == key || s.alias(key, r.rest[0])) {
			next = append(next, route{cond: r.cond, rule: r.rule, permit: r.permit, rest: r.rest[1:]})
		}
	}
	return next
}

// ends reports that the condition looks at the value here.
func (r *route) ends() bool { return r.deep || len(r.rest) == 0 && !r.counts() }

func (r *route) counts() bool {
	return r.cond.Kind == "present" || r.cond.Kind == "min_items" || r.cond.Kind == "max_items"
}

// leads reports that the condition looks at something in the value here.
func (r *route) leads() bool {
	return len(r.rest) > 1 || len(r.rest) == 1 && (r.rest[0] != "*" || !r.flat)
}

// texts reports a condition that strings or objects can satisfy.
func (k *Cond) texts() bool {
	if k.Kind == "const" || k.Kind == "enum" {
		return slices.ContainsFunc(k.Values, func(v *Node) bool { return v.Kind == String || v.Kind == Object })
	}
	return !slices.Contains([]string{"minimum", "maximum", "exclusive_minimum", "exclusive_maximum"}, k.Kind)
}

// looks reports whether a condition counts for the permit: it is one of its own, or of a rule
// that restricts before it.
func (v *cover) looks(r route) bool {
	return r.rule == v.rule && !r.deep || !r.permit && r.rule < v.rule
}

func (v *cover) value(n *Node, s view, routes []route, key int) {
	simple := true
	whole, partly := false, false
	for _, r := range routes {
		simple = simple && !r.leads() && (!r.ends() || r.cond.texts())
		if r.ends() && v.looks(r) {
			whole = whole || r.cond.texts() || r.rule == v.rule
			partly = true
		}
		partly = partly || r.leads() && !r.counts() && v.looks(r)
	}
	text, known := s.declares(String)
	list, _ := s.declares(Array)
	object, _ := s.declares(Object)
	other, _ := s.declares(Number)
	for _, kind := range []string{Bool, Null} {
		is, _ := s.declares(kind)
		other = other || is
	}
	switch {
	case known && !text && !list && !object:
	case known && simple && !other && key >= 0:
		if !whole {
			v.times = append(v.times, key)
		}
	case n.Start == Never:
	case n.Kind == String:
		if !whole {
			v.times = append(v.times, n.Start)
		}
	case n.Kind != Array && n.Kind != Object || s.wrong(n.Kind):
	default:
		if !whole && !partly {
			v.times = append(v.times, n.Start)
		}
		if simple || s.vector() && n.Kind == Array {
			return
		}
		if n.Kind == Object {
			v.members(n, s, routes)
			return
		}
		for _, e := range n.Elems {
			if items := s.items(); !items.tabled() {
				v.value(e, items, across(routes), -1)
			}
		}
	}
}

// across continues routes to the elements of an array.
func across(routes []route) (next []route) {
	for _, r := range routes {
		if len(r.rest) > 0 && r.rest[0] == "*" && !r.flat {
			next = append(next, route{cond: r.cond, rule: r.rule, permit: r.permit, rest: r.rest[1:]})
		}
		r.flat = true
		next = append(next, r)
	}
	return next
}
