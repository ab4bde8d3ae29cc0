package symbolic

import (
	"slices"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// facts translates the conditions on the call itself.
func (t *Translation) facts(w *syntax.When, permissive bool) []analysis.Condition {
	if w == nil {
		return nil
	}
	var list []analysis.Condition
	for _, fact := range []struct {
		name  string
		globs []string
	}{{"agent", w.Agent}, {"surface", w.Surface}, {"server", w.Server}, {"principal", w.Principal}} {
		if len(fact.globs) > 0 {
			list = append(list, t.fact("when."+fact.name, fact.globs, permissive))
		}
	}
	switch {
	case len(w.Group) == 0, t.GroupsUnknown && !permissive:
	case t.GroupsUnknown:
		list = append(list, t.fact(unknownGroupsFact, nil, false)) // never holds
	default:
		list = append(list, t.fact(groupsFact, w.Group, false))
	}
	if w.Session != nil {
		list = append(list, t.fact(dataFact(w, permissive), []string{metFact}, false))
	}
	if w.Says != nil {
		list = append(list, t.fact(saysFact+w.Says.Key, []string{metFact}, false))
	}
	if w.Effect != nil {
		list = append(list, t.fact("when.effect", []string{strconv.FormatBool(*w.Effect)}, false))
	}
	return list
}

// The groups of a principal are the leaves of one variable, of which one has to match: patterns that
// include each other are compared as the sets of names that they are.
const (
	groupsFact        = "when.group"
	unknownGroupsFact = "when.group unknown"
)

// NamesGroups reports whether a rule has a condition on groups.
func NamesGroups(r *Rule) bool { return r.When != nil && len(r.When.Group) > 0 }

// groupDomain is the set of names that groups can have.
var groupDomain = analysis.Domain{Text: true, Admits: isGroup, Welcome: isGroup}

func isGroup(v analysis.Value) bool {
	_, err := stopgate.GroupsOf(v.Text)
	return v.Kind == analysis.Text && err == nil
}

// A condition on the session's data, or on the words of the person, is a fact of its own, met or not, and independent
// of all others. A proof about rules that look at the same value in different ways then
// never claims too much.
const metFact = "met"

// saysFact begins the names of the variables of conditions on the words of the person.
const saysFact = "when.says "

// dataFact names the variable of a condition on the session.
func dataFact(w *syntax.When, permissive bool) string {
	if permissive {
		return "when.session permits " + w.SessionKey
	}
	return "when.session restricts " + w.SessionKey
}

// fact is one condition on a fact: a text that is empty where the call lacks it, or the groups.
// present reports that the condition needs the fact.
func (t *Translation) fact(key string, globs []string, present bool) analysis.Condition {
	n, ok := t.variables[key]
	if !ok {
		n = len(t.all)
		t.variables[key] = n
		t.names, t.pointers, t.forms = append(t.names, key), append(t.pointers, nil), append(t.forms, asText)
		v := analysis.Variable{Optional: true, Default: &analysis.Value{Kind: analysis.Text}, Domain: analysis.Domain{Text: true}, AtMost: -1}
		if key == groupsFact {
			v = analysis.Variable{Optional: true, Several: true, Domain: groupDomain, AtMost: -1}
		}
		t.all = append(t.all, v)
	}
	set := &analysis.Set{}
	var names []*glob.Name
	for _, text := range globs {
		name, err := glob.ParseName(text)
		if err != nil {
			continue // Parse has refused it
		}
		if present {
			name = name.NonEmpty()
		}
		names = append(names, name)
		if text, exact := name.LiteralPrefix(); exact {
			set.Texts.Exact = append(set.Texts.Exact, text)
			continue
		}
		set.Texts.Languages = append(set.Texts.Languages, analysis.Language{Walkers: func() []automaton.Walker { return nameWalkers([]*glob.Name{name}) }})
	}
	return analysis.Condition{Variable: n, AtMost: -1, Set: set, Named: set, Key: key + "\x00" + strconv.FormatBool(present) + "\x00" + strings.Join(globs, "\x00"), Holds: func(v analysis.Value) bool {
		return slices.ContainsFunc(names, func(name *glob.Name) bool { return name.Match(v.Text) })
	}}
}

func nameWalkers(names []*glob.Name) []automaton.Walker {
	var list []automaton.Walker
	for _, n := range names {
		if w := n.Walker(); w != nil {
			list = append(list, w)
		}
	}
	return list
}
