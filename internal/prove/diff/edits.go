package diff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Edit is one change of a policy: a rule or a guard that was added, removed or rewritten, or a
// named list, which changes every rule that uses it.
type Edit struct {
	Name string // "rule 3", "guard 2", "lists.look"
	// Old and New are the rule, nil where there is none.
	Old, New *RulePlace `json:"-"`
	// Bounded reports that the edit is about command lines or a parameter: its effect is known by
	// direction, each shown by a change, and not for every two modes.
	Bounded bool `json:"-"`

	old, new *syntax.Rule // of a named list, the first rule that uses it
}

// alignment pairs the rules of two lists: of rules that both have in the same order, the
// edit is -1.
type alignment struct {
	old, new []int
}

// edits numbers the edits of two files. A rule that many tools share is one edit, and so
// are all rules that changed because a named list did.
type edits struct {
	list   []*Edit
	rules  map[[2]*syntax.Rule]int
	guard  map[[2]*syntax.Rule]bool
	pairs  map[int][][2]*syntax.Rule // of each edit
	lists  map[string]int
	guards *alignment
	files  [2]string
	done   map[[2]*syntax.RuleList]*alignment
}

func newEdits(before, after *syntax.File) *edits {
	e := &edits{rules: make(map[[2]*syntax.Rule]int), guard: make(map[[2]*syntax.Rule]bool), pairs: make(map[int][][2]*syntax.Rule), lists: make(map[string]int), done: make(map[[2]*syntax.RuleList]*alignment),
		files: [2]string{before.Name, after.Name}}
	e.guards = e.align(before.Guards, after.Guards, true)
	return e
}

// rulesOf aligns the lists that apply to a tool.
func (e *edits) rulesOf(old, new *syntax.RuleList) *alignment {
	key := [2]*syntax.RuleList{old, new}
	if a, ok := e.done[key]; ok {
		return a
	}
	var rules [2][]*syntax.Rule
	for i, l := range key {
		if l != nil {
			rules[i] = l.Rules
		}
	}
	a := e.align(rules[0], rules[1], false)
	e.done[key] = a
	return a
}

// align finds rules that both lists have in the same order. The rules between two of them are
// edits: it pairs the first of one list with the first of the other.
func (e *edits) align(old, new []*syntax.Rule, guards bool) *alignment {
	a := &alignment{old: make([]int, len(old)), new: make([]int, len(new))}
	for i := range a.old {
		a.old[i] = unpaired
	}
	for i := range a.new {
		a.new[i] = unpaired
	}
	keys := [2][]string{meanings(old), meanings(new)}
	pairs := inCommon(keys[0], keys[1])
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{len(old), len(new)}) {
		for i < p[0] || j < p[1] {
			var was, is *syntax.Rule
			if i < p[0] {
				was = old[i]
			}
			if j < p[1] {
				is = new[j]
			}
			n := e.number(was, is, guards)
			if was != nil {
				a.old[i], i = n, i+1
			}
			if is != nil {
				a.new[j], j = n, j+1
			}
		}
		i, j = p[0]+1, p[1]+1
	}
	return a
}

const unpaired = -1

// number is the number of an edit.
func (e *edits) number(old, new *syntax.Rule, guard bool) int {
	key := [2]*syntax.Rule{old, new}
	if n, ok := e.rules[key]; ok {
		return n
	}
	e.guard[key] = guard
	list := changedList(old, new)
	if n, ok := e.lists[list]; ok && list != "" {
		e.rules[key] = n
		e.pairs[n] = append(e.pairs[n], key)
		return n
	}
	edit := &Edit{old: old, new: new}
	place := func(file string, r *syntax.Rule) *RulePlace {
		if r == nil {
			return nil
		}
		edit.Name = r.Label()
		if guard {
			edit.Name = fmt.Sprintf("guard %d", r.Index+1)
		}
		return &RulePlace{File: r.In(file), Line: r.Pos.Start.Line, Index: r.Index, Guard: guard, Text: r.Text()}
	}
	edit.Old, edit.New = place(e.files[0], old), place(e.files[1], new)
	if list != "" {
		edit.Name = list
		e.lists[list] = len(e.list)
	}
	e.rules[key] = len(e.list)
	e.pairs[len(e.list)] = append(e.pairs[len(e.list)], key)
	e.list = append(e.list, edit)
	return len(e.list) - 1
}

// at finds the edit of the rule that decides, -1 if it was not edited.
func (e *edits) at(p *RulePlace, isNew bool) int {
	if p == nil {
		return unpaired
	}
	for pair, n := range e.rules {
		r := pair[0]
		if isNew {
			r = pair[1]
		}
		if r != nil && r.Pos.Start.Line == p.Line && r.Index == p.Index && e.guard[pair] == p.Guard {
			return n
		}
	}
	return unpaired
}

// changedList names the lists because of which a rule changed that is written as before,
// "" if that is not why.
func changedList(old, new *syntax.Rule) string {
	if old == nil || new == nil || len(old.Conditions) != len(new.Conditions) || written(old) != written(new) {
		return ""
	}
	var names []string
	for i := range old.Conditions {
		was, is := &old.Conditions[i].Spec, &new.Conditions[i].Spec
		if was.List != "" && !slices.Equal(was.Values, is.Values) && !slices.Contains(names, "lists."+was.List) {
			names = append(names, "lists."+was.List)
		}
	}
	return strings.Join(names, ", ")
}

// written returns the text of a rule without keys that do not decide.
func written(r *syntax.Rule) string {
	plain := *r
	plain.Reason, plain.Note = "", ""
	return plain.Text()
}

// meanings are equal for rules that decide alike in the same place.
func meanings(rules []*syntax.Rule) []string {
	keys := make([]string, len(rules))
	for i, r := range rules {
		plain := syntax.Rule{
			Conditions: r.Conditions, Compound: r.Compound, Match: r.Match, When: r.When, Mode: r.Mode, Ignores: r.Ignores,
			AllowUnsafePrefix: r.AllowUnsafePrefix, SameText: r.SameText,
		}
		keys[i] = plain.Meaning()
	}
	return keys
}

// inCommon finds positions at which two lists have the same key, in the same order: the common
// beginning and end, and of the rest the longest sequence of keys that each list has once.
func inCommon(old, new []string) [][2]int {
	var head, tail [][2]int
	from := 0
	for from < len(old) && from < len(new) && old[from] == new[from] {
		head = append(head, [2]int{from, from})
		from++
	}
	i, j := len(old), len(new)
	for i > from && j > from && old[i-1] == new[j-1] {
		i, j = i-1, j-1
		tail = append(tail, [2]int{i, j})
	}
	slices.Reverse(tail)
	where := make(map[string]int)
	for n := from; n < j; n++ {
		if _, twice := where[new[n]]; twice {
			where[new[n]] = unpaired
		} else {
			where[new[n]] = n
		}
	}
	count := make(map[string]int)
	for n := from; n < i; n++ {
		count[old[n]]++
	}
	var middle [][2]int
	for n := from; n < i; n++ {
		if at, ok := where[old[n]]; ok && at != unpaired && count[old[n]] == 1 {
			middle = append(middle, [2]int{n, at})
		}
	}
	return slices.Concat(head, rising(middle), tail)
}

// rising is a longest subsequence whose second numbers rise.
func rising(pairs [][2]int) [][2]int {
	var ends []int // of the best sequence of each length, the last pair
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n, _ := slices.BinarySearchFunc(ends, p[1], func(end, at int) int { return pairs[end][1] - at })
		before[i] = unpaired
		if n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	out := make([][2]int, len(ends))
	for i, n := ends[len(ends)-1], len(ends)-1; n >= 0; i, n = before[i], n-1 {
		out[n] = pairs[i]
	}
	return out
}
