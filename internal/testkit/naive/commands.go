package naive

import "strings"

// commands reports whether a condition looks at command lines.
func (k *Cond) commands(v view) bool {
	if k.On != "" || k.Kind == "present" || k.Kind == "min_items" || k.Kind == "max_items" {
		return false
	}
	for _, a := range v.at(k.Arg).annotations() {
		if a == "command" {
			return true
		}
	}
	return false
}

// command is one command line of a call, or a place where one is missing.
type command struct {
	node *Node // nil: missing
	at   int   // when it is complete
}

// answers is what a condition says if this were the call's only command.
func (one *command) answers(c *call, k *Cond, permissive bool, v view) (holds bool, at int) {
	for _, other := range c.commandsOf(k, v) {
		if other.node == one.node && one.node != nil {
			l := &look{policy: c.policy, cond: k, permissive: permissive}
			l.leaf(one.node, v.at(k.Arg))
			return len(l.hits) > 0, one.at
		}
	}
	return false, one.at
}

// commandsOf lists the commands at a condition's pointer in the order of the text.
func (c *call) commandsOf(k *Cond, v view) (all []*command) {
	l := &look{policy: c.policy, cond: k, each: func(n *Node, at int) {
		if at < Never {
			all = append(all, &command{n, at})
		}
	}}
	l.walk(c.root, v, k.Arg)
	return all
}

// byCommand judges a list command by command if a call can have several (K29).
func (c *call) byCommand(l *list, v view) {
	var found []*Cond
	several := false
	for _, r := range l.rules {
		for i := range r.All {
			k := &r.All[i]
			if k.commands(v) {
				several = several || v.crosses(k.Arg) || len(found) > 0 && plainArg(k) != plainArg(found[0])
				found = append(found, k)
			}
		}
	}
	if !several {
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
			p := part(one)
			p.from = one.at
			at := len(l.commands)
			for at > 0 && l.commands[at-1].from > p.from {
				at--
			}
			l.commands = append(l.commands[:at:at], append([]*list{p}, l.commands[at:]...)...)
		}
		end := (&look{policy: c.policy, cond: k, each: func(*Node, int) {}}).walk(c.root, v, k.Arg)
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

// plainArg is a pointer without what it says about arrays.
func plainArg(k *Cond) string {
	return strings.ReplaceAll(strings.Join(k.Arg, "/"), "/*", "")
}

// crosses reports whether a pointer leads through an array.
func (v view) crosses(tokens []string) bool {
	if list, _ := v.declares(Array); list {
		return true
	}
	if len(tokens) == 0 || tokens[0] == "*" {
		return len(tokens) > 0
	}
	member, _ := v.key(tokens[0])
	return member.crosses(tokens[1:])
}

// at is what the schema says about the values at a pointer.
func (v view) at(tokens []string) view {
	for _, token := range tokens {
		for list, _ := v.declares(Array); list; list, _ = v.declares(Array) {
			v = v.items()
		}
		if token != "*" {
			v, _ = v.key(token)
		}
	}
	return v.leaves()
}

// plainLine reports whether a command line is one simple command of literal words.
func plainLine(line string) bool {
	safe := "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@% \t"
	return strings.TrimSpace(line) != "" && strings.Trim(line, safe) == ""
}

// matchesCommand compares words: of the line where that is certain, of every piece of
// it that may be a command where suspicion is asked.
func matchesCommand(kind, literal, line string, permissive bool) bool {
	pieces := []string{line}
	if !permissive {
		pieces = append(pieces, strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(";&|(){}$`\n", r) })...)
	} else if !plainLine(line) {
		return false
	}
	for _, p := range pieces {
		words, want := strings.Fields(p), strings.Fields(literal)
		if len(words) < len(want) || kind != "prefix" && len(words) != len(want) {
			continue
		}
		if strings.Join(words[:len(want)], " ") == strings.Join(want, " ") {
			return true
		}
	}
	return false
}
