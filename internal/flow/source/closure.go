package source

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Closure is everything that a declared source depends on: who can write a text that has it.
type Closure struct {
	Source  flow.Source // by its scoped name
	Trusted bool
	Tables  []*syntax.SourceTable
	// Leans are the sources that conditions of the source name, in their order.
	Leans []Lean
	// All are the sources that it depends on, through whichever others, sorted; Roots those of them
	// that are built in.
	All, Roots []flow.Source
	// Longest is the number of definitions in the longest chain, this one included.
	Longest int
	// Cycle is set if the source depends on itself, so that it covers nothing.
	Cycle bool
	Risks []Risk
}

// Lean is one dependence of a source.
type Lean struct {
	On      flow.Source
	Through string // the condition: `where "/sender"`
}

// Risk is a property of a definition by which others than its author may write texts of the source.
type Risk struct {
	Table *syntax.SourceTable
	Text  string
}

// Closures returns the closure of every declared source, in the order of the files.
func Closures(files []File) []Closure {
	trusted := Trusted(files)
	var all []Closure
	at := map[flow.Source]int{}
	for _, f := range files {
		for _, t := range f.Sources {
			if builtIn(t.Name) {
				continue
			}
			name := Scoped(t.Name, f.Scope)
			i, ok := at[name]
			if !ok {
				i = len(all)
				at[name] = i
				all = append(all, Closure{Source: name, Trusted: slices.Contains(trusted, name)})
			}
			c := &all[i]
			c.Tables = append(c.Tables, t)
			c.Leans = append(c.Leans, leansOf("asked", t.Asked, f.Scope)...)
			c.Leans = append(c.Leans, leansOf("where", t.Where, f.Scope)...)
			c.Risks = append(c.Risks, risks(t)...)
		}
	}
	for i := range all {
		all[i].follow(all, at)
	}
	return all
}

func leansOf(key string, conditions []syntax.SourceCondition, scope string) (leans []Lean) {
	for _, c := range conditions {
		for _, s := range c.From {
			l := Lean{Scoped(s, scope), fmt.Sprintf("%s %q", key, c.Pointer)}
			if !slices.Contains(leans, l) {
				leans = append(leans, l)
			}
		}
	}
	return leans
}

// follow fills in what the source depends on through others.
func (c *Closure) follow(all []Closure, at map[flow.Source]int) {
	reached := map[flow.Source]bool{}
	longest := map[flow.Source]int{}
	var visit func(name flow.Source, active []flow.Source) int
	visit = func(name flow.Source, active []flow.Source) int {
		i, declared := at[name]
		if !declared || slices.Contains(active, name) {
			return 0
		}
		if n, done := longest[name]; done {
			return n
		}
		n := 0
		for _, l := range all[i].Leans {
			reached[l.On] = true
			n = max(n, visit(l.On, append(active, name)))
		}
		longest[name] = n + 1
		return n + 1
	}
	c.Longest = visit(c.Source, nil)
	for name := range reached {
		c.All = append(c.All, name)
		if builtIn(name) {
			c.Roots = append(c.Roots, name)
		}
		if l := (flow.Source)(name); l == flow.Tool || l == flow.Untrusted || l == flow.Hidden {
			c.Risks = append(c.Risks, Risk{c.Tables[0], fmt.Sprintf("it depends on %q: anybody whose text the agent reads can write it", name)})
		}
	}
	slices.Sort(c.All)
	slices.Sort(c.Roots)
	slices.SortStableFunc(c.Risks, func(a, b Risk) int { return strings.Compare(a.Text, b.Text) })
	c.Cycle = reached[c.Source]
	if c.Longest > 2 {
		c.Risks = append(c.Risks, Risk{c.Tables[0], fmt.Sprintf("%d definitions depend on each other: a hole in one is a hole in all", c.Longest)})
	}
}

// risks returns the risks of one definition.
func risks(t *syntax.SourceTable) (risks []Risk) {
	add := func(text string) { risks = append(risks, Risk{t, text}) }
	if len(t.Field) == 0 && !t.Keys && t.Label == "" && len(t.Items) == 0 {
		add("it is the whole result: everybody who can write a part of it can write every value")
	}
	if len(t.Items) > 0 && len(t.Where) == 0 {
		add("it takes every item: `where` chooses those of known authors")
	}
	for _, c := range slices.Concat(t.Asked, t.Where) {
		if c.Label != "" {
			add(fmt.Sprintf("%q is compared by a part of its text: others can have the same words", c.Pointer))
		}
	}
	for _, name := range t.Tools {
		if syntax.IsGlob(name) {
			add(fmt.Sprintf("%q covers tools that are declared later", name))
		}
	}
	return risks
}
