package imports

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// unconditional is a rule on every call of the tools with a name, or with a prefix and "*".
type unconditional struct {
	name string
	rule *rule
}

// fold converts the name of a rule to one that a table can have: it drops the text after the first
// "*". For a permissive rule that is not allowed.
func fold(glob string, permits bool) (name string, exact, ok bool) {
	beginning, rest, wild := strings.Cut(glob, "*")
	switch {
	case !wild:
		return glob, true, true
	case rest == "":
		return glob, true, true
	case permits:
		return "", false, false
	}
	return beginning + "*", false, true
}

// ofServers is the name of every tool of every MCP server. No table can have it: tools without a
// table share "*".
const ofServers = "*__*"

// meets reports whether one tool can have both names.
func meets(a, b string) bool {
	x, xw := strings.CutSuffix(a, "*")
	y, yw := strings.CutSuffix(b, "*")
	switch {
	case a == ofServers:
		return yw || strings.Contains(b, "__")
	case b == ofServers:
		return meets(b, a)
	case xw && yw:
		return strings.HasPrefix(x, y) || strings.HasPrefix(y, x)
	case xw:
		return strings.HasPrefix(b, x)
	case yw:
		return strings.HasPrefix(a, y)
	}
	return a == b
}

// holds reports whether every tool of the second name has the first.
func holds(a, b string) bool {
	x, wild := strings.CutSuffix(a, "*")
	switch {
	case a == b:
		return true
	case a == ofServers:
		return strings.Contains(b, "__")
	case b == ofServers:
		return a == "*"
	}
	return wild && strings.HasPrefix(strings.TrimSuffix(b, "*"), x)
}

// addUnconditional adds the unconditional rules to every table, and creates the tables that they
// name: the tools of a longer name have their own table. A restrictive rule on some of the tools of
// a table, for which no table can be made, restricts all of them.
func (d *draft) addUnconditional(list []unconditional) {
	for _, w := range list {
		if w.name == ofServers {
			if w.rule.from != nil && w.rule.mode == stopgate.Unattended {
				w.rule.from.stricter("only for servers that other rules name")
			} else if w.rule.from != nil {
				w.rule.from.stricter("also for other tools that no rule names")
			}
			continue
		}
		if w.name != "*" && !slices.ContainsFunc(d.tables, func(t *table) bool { return t.has(w.name) }) {
			d.table(w.name)
		}
	}
	everything := &table{name: "*"}
	for _, t := range append(slices.Clone(d.tables), everything) {
		var own []*rule
		for _, w := range list {
			switch {
			case w.name == ofServers && t == everything && w.rule.mode == stopgate.Unattended:
			case w.name == ofServers && t == everything, t.covered(w.name), w.rule.mode != stopgate.Unattended && t.met(w.name) && !holds(t.name, w.name):
				copied := *w.rule
				copied.wide = copied.wide || !t.covered(w.name)
				own = append(own, &copied)
			}
		}
		t.rules = merge(t.rules, own)
	}
	d.everything = everything.rules
}

// has reports whether a table names a tool.
func (t *table) has(name string) bool { return t.name == name || slices.Contains(t.also, name) }

// covered reports whether a rule on a name applies to every tool of the table.
func (t *table) covered(name string) bool {
	if !holds(name, t.name) {
		return false
	}
	return !slices.ContainsFunc(t.also, func(n string) bool { return !holds(name, n) && t.native(n) })
}

func (t *table) met(name string) bool {
	return meets(name, t.name) || slices.ContainsFunc(t.also, func(n string) bool { return meets(name, n) && t.native(n) })
}

// native reports whether an additional name is one of the host's own: the host's rules do not apply
// to the names that other agents have for a shell.
func (t *table) native(name string) bool { return !slices.Contains(shellNames, name) }

// merge joins two lists in the order of their ranks.
func merge(a, b []*rule) []*rule {
	all := append(slices.Clone(a), b...)
	slices.SortStableFunc(all, func(x, y *rule) int { return x.rank - y.rank })
	return all
}

func isHost(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-' {
			return false
		}
	}
	return strings.Contains(name, ".") || name == "localhost"
}
