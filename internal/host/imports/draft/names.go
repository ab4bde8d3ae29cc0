package draft

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// Unconditional is a rule on every call of the tools with a name, or with a prefix and "*".
type Unconditional struct {
	Name string
	Rule *Rule
}

// Fold converts the name of a rule to one that a table can have: it drops the text after the first
// "*". For a permissive rule that is not allowed.
func Fold(glob string, permits bool) (name string, exact, ok bool) {
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

// OfServers is the name of every tool of every MCP server. No table can have it: tools without a
// table share "*".
const OfServers = "*__*"

// meets reports whether one tool can have both names.
func meets(a, b string) bool {
	x, xw := strings.CutSuffix(a, "*")
	y, yw := strings.CutSuffix(b, "*")
	switch {
	case a == OfServers:
		return yw || strings.Contains(b, "__")
	case b == OfServers:
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
	case a == OfServers:
		return strings.Contains(b, "__")
	case b == OfServers:
		return a == "*"
	}
	return wild && strings.HasPrefix(strings.TrimSuffix(b, "*"), x)
}

// AddUnconditional adds the unconditional rules to every table, and creates the tables that they
// name: the tools of a longer name have their own table. A restrictive rule on some of the tools of
// a table, for which no table can be made, restricts all of them.
func (d *Draft) AddUnconditional(list []Unconditional) {
	for _, w := range list {
		if w.Name == OfServers {
			if w.Rule.From != nil && w.Rule.Mode == stopgate.Unattended {
				w.Rule.From.Stricter("only for servers that other rules name")
			} else if w.Rule.From != nil {
				w.Rule.From.Stricter("also for other tools that no rule names")
			}
			continue
		}
		if w.Name != "*" && !slices.ContainsFunc(d.Tables, func(t *Table) bool { return t.has(w.Name) }) {
			d.Table(w.Name)
		}
	}
	everything := &Table{Name: "*"}
	for _, t := range append(slices.Clone(d.Tables), everything) {
		var own []*Rule
		for _, w := range list {
			switch {
			case w.Name == OfServers && t == everything && w.Rule.Mode == stopgate.Unattended:
			case w.Name == OfServers && t == everything, t.covered(w.Name), w.Rule.Mode != stopgate.Unattended && t.met(w.Name) && !holds(t.Name, w.Name):
				copied := *w.Rule
				copied.Wide = copied.Wide || !t.covered(w.Name)
				own = append(own, &copied)
			}
		}
		t.Rules = merge(t.Rules, own)
	}
	d.Everything = everything.Rules
}

// has reports whether a table names a tool.
func (t *Table) has(name string) bool { return t.Name == name || slices.Contains(t.Also, name) }

// covered reports whether a rule on a name applies to every tool of the table.
func (t *Table) covered(name string) bool {
	if !holds(name, t.Name) {
		return false
	}
	return !slices.ContainsFunc(t.Also, func(n string) bool { return !holds(name, n) && t.native(n) })
}

func (t *Table) met(name string) bool {
	return meets(name, t.Name) || slices.ContainsFunc(t.Also, func(n string) bool { return meets(name, n) && t.native(n) })
}

// native reports whether an additional name is one of the host's own: the host's rules do not apply
// to the names that other agents have for a shell.
func (t *Table) native(name string) bool { return !slices.Contains(shellNames, name) }

// merge joins two lists in the order of their ranks.
func merge(a, b []*Rule) []*Rule {
	all := append(slices.Clone(a), b...)
	slices.SortStableFunc(all, func(x, y *Rule) int { return x.Rank - y.Rank })
	return all
}

// IsHost reports whether a text is the name of a host in lower case.
func IsHost(name string) bool {
	for _, r := range name {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '.' && r != '-' {
			return false
		}
	}
	return strings.Contains(name, ".") || name == "localhost"
}
