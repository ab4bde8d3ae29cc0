package diff

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// A skip and a deny each end a call at the byte that shows it. If both apply, in a list and a
// guard or in two guards, the answer depends on the order of the call's arguments (K7). No pair
// of rules shows that.

// refusals compares the calls in which a skip and a deny meet: it tries orders of their
// arguments until every edit has shown all that it may do. It reports whether there are such
// calls, or may be some.
func (c *listComparison) refusals(list analysis.List, sides [2]*analysis.Policy) bool {
	answer := analysis.Meet(list, sides[0], sides[1], int(stopgate.Skip), analysis.Budget{}, func(witness []analysis.Choice) bool {
		c.orders(witness)
		return c.e.settled()
	})
	return answer != regular.No
}

// refusalsMeet reports that rules change, or guards, where one of the two skips and the
// other denies.
func refusalsMeet(bound [2]*boundPolicy) bool {
	var written [2][]string
	meet := false
	for i, b := range bound {
		var rules, guards [2]bool // skip, deny
		note := func(list []*symbolic.Rule, modes *[2]bool) {
			for _, r := range list {
				written[i] = append(written[i], r.Rule.Meaning())
				modes[0] = modes[0] || r.Mode == stopgate.Skip
				modes[1] = modes[1] || r.Mode == stopgate.Deny
			}
		}
		note(b.rules, &rules)
		note(b.guards, &guards)
		meet = meet || rules[0] && guards[1] || rules[1] && guards[0] || guards[0] && guards[1]
	}
	return meet && !slices.Equal(written[0], written[1])
}

// orders asks both programs about the arguments of a witness in several orders, and adds
// the changes that they show. It reports whether there are any.
func (c *listComparison) orders(witness []analysis.Choice) (any bool) {
	args, ok := c.t.Document(witness)
	if !ok {
		return false
	}
	for _, text := range reordered(args) {
		any = c.show(witness, text) || any
	}
	return any
}

// deciderOf returns the position of the rule that a verdict names, nil if it names none.
func (b *boundPolicy) deciderOf(v stopgate.Verdict) *RulePlace {
	if v.Rule == nil {
		return nil
	}
	if v.Layer == stopgate.LayerGuard {
		if i := slices.IndexFunc(b.origin, func(r *syntax.Rule) bool { return r.Index == v.Rule.Index }); i >= 0 {
			return b.place(analysis.Decider{Guard: true, Index: i})
		}
		return nil
	}
	if i := slices.IndexFunc(b.rules, func(r *symbolic.Rule) bool { return r.Index == v.Rule.Index }); i >= 0 {
		return b.place(analysis.Decider{Index: i})
	}
	return nil
}

// maxReordered is how many arguments are brought into every order.
const maxReordered = 4

// reordered lists an object with its members in other orders too: all of few, of many those
// in which one comes first.
func reordered(object []byte) [][]byte {
	root, err := jsonstream.Parse(object, jsonstream.Options{})
	if err != nil {
		return [][]byte{object}
	}
	var members [][]byte
	for key, value := range root.Members() {
		members = append(members, slices.Concat(key.Raw(), []byte(":"), value.Raw()))
	}
	var all [][]byte
	write := func(members [][]byte) {
		text := []byte{'{'}
		for i, m := range members {
			if i > 0 {
				text = append(text, ',')
			}
			text = append(text, m...)
		}
		all = append(all, append(text, '}'))
	}
	if len(members) > maxReordered {
		for i := range members {
			write(slices.Concat(members[i:i+1], members[:i], members[i+1:]))
		}
		return all
	}
	var permute func(from int)
	permute = func(from int) {
		if from >= len(members)-1 {
			write(members)
			return
		}
		for i := from; i < len(members); i++ {
			members[from], members[i] = members[i], members[from]
			permute(from + 1)
			members[from], members[i] = members[i], members[from]
		}
	}
	permute(0)
	return all
}
