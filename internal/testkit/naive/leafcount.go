package naive

// below takes every value inside one that should have been a scalar.
func (l *look) below(n *Node, v view) {
	for _, m := range n.Members {
		l.below(m.Value, v)
	}
	for _, e := range n.Elems {
		l.below(e, v)
	}
	if n.Start < Never && n.Kind != Object && n.Kind != Array {
		if l.seen != nil && l.cond.Kind != "present" {
			l.seen(n)
		}
		if l.each != nil {
			l.each(n, v, n.End)
			return
		}
		hit, at := l.test(n, v, false)
		l.take(hit, at)
	}
}

// count takes a whole array for min_items and max_items.
func (l *look) count(n *Node, v view) {
	bound := int(number(l.cond.Values[0].Text).Num().Int64())
	if v.wrong(Array) && !l.generous() {
		l.miss(n.Start)
		return
	}
	var starts []int
	for _, e := range n.Elems {
		if e.Start < Never {
			starts = append(starts, start(e))
		}
	}
	if len(n.Elems) == 0 && n.End < Never && l.all {
		l.miss(n.End)
		return
	}
	switch {
	case l.cond.Kind == "min_items" && bound == 0 && !l.all:
		l.take(true, n.Start)
	case l.cond.Kind == "min_items" && len(starts) >= max(bound, 1):
		l.take(true, starts[max(bound, 1)-1])
	case l.cond.Kind == "max_items" && len(starts) > bound:
		l.take(false, starts[bound])
	default:
		l.take(l.cond.Kind == "max_items", n.End)
	}
}
