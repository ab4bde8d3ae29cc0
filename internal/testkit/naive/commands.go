package naive

// commands reports whether a condition looks at command lines.
func (k *Cond) commands(v view) bool {
	if k.On != "" || k.Kind == "present" || k.Kind == "min_items" || k.Kind == "max_items" {
		return false
	}
	if _, only := k.null(); only {
		return false
	}
	for _, a := range v.at(k.Arg).annotations() {
		if a == "command" {
			return true
		}
	}
	return false
}

// command is one simple command of a call, or a place where a line is missing.
type command struct {
	node *Node // the line; nil: missing
	view view  // what the schema says where it stands
	part int   // which command of it
	at   int   // when it is complete
}

// answers is what a condition says if this were the call's only command.
func (one *command) answers(c *call, k *Cond, permissive bool, v view) (holds bool, at int) {
	for _, other := range c.commandsOf(k, v) {
		if other.node == one.node && one.node != nil {
			return c.partHolds(one, k, permissive, other.view, v.at(k.Arg)), one.at
		}
	}
	return false, one.at
}

// partHolds judges one simple command. A value that is no string satisfies nothing.
func (c *call) partHolds(one *command, k *Cond, permissive bool, stands, at view) bool {
	_, _, vector := vectorWords(one.node.Text)
	if one.node.Kind != String || permissive && !vector && (at.wrong(String) || stands.wrong(String)) {
		return false
	}
	l := lineOf(one.node.Text)
	for _, a := range at.annotations() {
		hit := false
		for _, literal := range k.Values {
			if a == "command" && literal.Kind == String && k.Kind != "max_length" {
				hit = hit || matchesPart(k.Kind, literal.Text, l.parts[one.part], l.plain, permissive)
			} else {
				hit = hit || c.policy.matches(k.Kind, literal.Text, one.node.Text, a, permissive)
			}
		}
		if hit != permissive {
			return hit
		}
	}
	return permissive
}

// commandsOf lists the commands at a condition's pointer in the order of the text.
func (c *call) commandsOf(k *Cond, v view) (all []*command) {
	l := &look{policy: c.policy, cond: k, each: func(n *Node, v view, at int) {
		if at < Never {
			all = append(all, &command{n, v, 0, at})
		}
	}}
	l.walk(c.root, v, k.Arg)
	return all
}

// byCommand judges a list command by command (K29).
func (c *call) byCommand(l *list, v view) {
	var found []*Cond
	for _, r := range l.rules {
		for i := range r.All {
			k := &r.All[i]
			if k.commands(v) {
				found = append(found, k)
			}
		}
	}
	if len(found) == 0 {
		return
	}
	part := func(one *command) *list {
		p := *l
		p.holds, p.at, p.follows, p.commands = nil, nil, nil, nil
		c.fill(&p, v, one)
		return &p
	}
	l.follows = part(&command{at: Never})
	seen := map[*Node]bool{}
	for _, k := range found {
		for _, one := range c.commandsOf(k, v) {
			if one.node != nil && seen[one.node] {
				continue
			}
			seen[one.node] = true
			parts := 1
			if one.node != nil && one.node.Kind == String {
				parts = len(lineOf(one.node.Text).parts)
			}
			for n := range parts {
				p := part(&command{one.node, one.view, n, one.at})
				p.from = one.at
				at := len(l.commands)
				for at > 0 && l.commands[at-1].from > p.from {
					at--
				}
				l.commands = append(l.commands[:at:at], append([]*list{p}, l.commands[at:]...)...)
			}
		}
		end := (&look{policy: c.policy, cond: k, each: func(*Node, view, int) {}}).walk(c.root, v, k.Arg)
		l.following = max(l.following, end)
	}
	l.holds, l.at = nil, nil
	c.fill(l, v, &command{}) // without any command
}

// byCommand is outcome, command by command: the strictest of them counts.
func (l *list) byCommand(t int) (low, high string, v *Verdict) {
	plain := *l
	plain.follows = nil
	low, high = "unattended", "unattended"
	var all []*list
	for _, one := range l.commands {
		if one.from <= t {
			all = append(all, one)
		}
	}
	rest := &plain
	if l.following > t {
		rest = l.follows
	}
	if len(all) == 0 {
		return rest.outcome(t)
	}
	if l.following > t {
		low, _, _ = rest.outcome(t)
	}
	for _, one := range all {
		a, b, _ := one.outcome(t)
		low, high = stricter(low, a), stricter(high, b)
	}
	for _, one := range all {
		if a, b, decided := one.outcome(t); low == high && a == low && b == low {
			return low, high, decided
		}
	}
	return low, high, nil
}

// at is what the schema says about the values at a pointer.
func (v view) at(tokens []string) view {
	for _, token := range tokens {
		for list, _ := v.declares(Array); list && !v.vector(); list, _ = v.declares(Array) {
			v = v.items()
		}
		if token != "*" {
			v, _ = v.key(token)
		}
	}
	return v.leaves()
}
