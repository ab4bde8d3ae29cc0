// Package check finds the mistakes of a policy file that the parser cannot see: rules that do
// not fit the parameters of their tools, examples that do not hold, and traps, which are legal
// rules that permit more than they seem to.
//
//	file, mistakes := parser.Parse(kinds.Table(), "stopgate.toml", text)
//	mistakes = append(mistakes, check.File(file, check.Options{})...)
//
// Each finding is a diagnostic with its position, a stable code and, if there is one, the
// replacement text. All mistakes of a file are found in one run. Package internal/prove finds
// unreachable rules.
//
// The package does no I/O, reads no clock, starts no goroutine and logs nothing.
package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/schema"
)

// Options are the environment of a file, as package policy describe them.
type Options struct {
	Strict, Untrusted, Bundled bool
	Definitions                []stopgate.ToolDefinition
	// Prove reports the unreachable rules of a list; nil skips the search.
	Prove Prover
}

// Prover reports the rules of a list that no arguments reach. Such a rule decides no call.
type Prover func(b *bind.Binder, l *List)

// File finds the mistakes of a file that the parser cannot see (D25-15, D25-30 to D25-39). A
// file with mistakes is checked too, less thoroughly. The directories that paths are read
// against do not count: a file that is accepted is accepted in every project and for every
// user, and its examples do not depend on where it is read.
func File(f *syntax.File, o Options) diag.List {
	f.Place()
	c := &checker{Binder: &bind.Binder{File: f, Env: f.Environment(condition.Env{})}, options: o}
	return c.check()
}

type checker struct {
	*bind.Binder
	options Options
	known   []*bind.Tool
}

func (c *checker) check() diag.List {
	if c.options.Untrusted {
		c.trust()
	}
	if c.options.Bundled {
		c.bundled()
	}
	c.guards()
	c.tools()
	c.defaults()
	c.successes()
	c.prerequisites()
	c.scopes()
	c.sources()
	c.Found = slices.DeleteFunc(c.Found, settled)
	if c.options.Strict || c.File.Gate.Strict {
		c.Found.Strict()
	}
	c.Found.Sort()
	return c.Found
}

// settled reports whether a finding is about a pack, whose tests show that it has none: what remains
// are traps that the file knows of, and rules that the file decides before.
func settled(d diag.Diagnostic) bool {
	return d.Pack != 0 && (d.Severity != diag.Error || d.Code == diag.Unreachable)
}

// trust restricts a project file to rules (S3).
func (c *checker) trust() {
	for _, e := range c.File.OperatorOnly() {
		c.Report(diag.Untrusted, e.KeyRange, "a project file that nobody trusted cannot have `"+tomltree.Key(e.Key)+"`",
			"move it to your own file, or trust these bytes with stopgate trust")
	}
}

// bundled restricts a file of a bundle to rules: addresses, stores and identities belong to the
// machine, and the machine decides where it fetches its rules.
func (c *checker) bundled() {
	for _, name := range slices.Sorted(maps.Keys(c.File.Tables)) {
		at := c.File.Source.Root.Get(name)
		c.Report(diag.BundledTable, at.KeyRange, "a file of a policy bundle cannot have `["+name+"]`", "move the table to the file of the gate that names the bundle")
	}
	if at := c.File.Source.Root.Get("external"); at != nil {
		c.Report(diag.BundledTable, at.KeyRange, "a file of a policy bundle cannot have `[[external]]`", "move the table to the file of the gate that names the bundle")
	}
}

// List is a rule list as one tool sees it.
type List struct {
	bind.List
	Bound []*bind.Rule // those that apply and fit
}

// list checks one list for one tool.
func (c *checker) list(l *List) {
	for _, r := range l.Rules {
		if bound, ok := c.Rule(&l.List, r); ok {
			l.Bound = append(l.Bound, bound)
			if !l.Shared || l.Tool.Name == "" {
				tester{c.Binder}.examples(r.Label(), r, l.Tool.Schema)
			}
		}
	}
	c.catchAll(l)
	traps := linter{c.Binder}
	for _, r := range l.Bound {
		traps.rule(l, r)
	}
	if l.Kind == syntax.RunList {
		traps.targets(l)
		traps.destinations(l)
		traps.effects(l)
	}
	traps.absent(l)
	// A list for many tools is analysed once, with the schema of its own table: a rule that no
	// call of one tool reaches may be meant for another.
	if c.options.Prove != nil && !l.Incomplete && (!l.Shared || l.Tool.Name == "") {
		c.options.Prove(c.Binder, l)
	}
}

// catchAll warns about a list that ends without a rule for everything (D25-11).
func (c *checker) catchAll(l *List) {
	if l.Incomplete {
		return
	}
	at := l.Pos
	for _, r := range l.Rules {
		if r.CatchAll() {
			return // later rules are reported as unreachable
		}
		at = r.Pos
	}
	c.Report(diag.NoCatchAll, at, "what no rule matches is asked", "say so with a last rule: `{ mode = \"ask\" },`")
}

// guards checks the literals and the examples of guards.
func (c *checker) guards() {
	for _, g := range c.File.Guards {
		before := len(c.Found)
		c.Literals(g)
		for i := range g.Conditions {
			if k := &g.Conditions[i]; k.On == "path" {
				linter{c.Binder}.name(g, k)
			}
		}
		if !c.Found[before:].HasErrors() {
			tester{c.Binder}.examples(fmt.Sprintf("guard %d", g.Index+1), g, nil)
		}
	}
}

// pathSeen notes a tool in whose calls no guard on paths can see anything (S40).
func (c *checker) pathSeen(t *bind.Tool) {
	var guard *syntax.Rule
	for _, g := range c.File.Guards {
		if len(g.Conditions) == 1 && g.Conditions[0].On == "path" {
			guard = g
		}
	}
	if guard == nil || t.Schema == nil {
		return
	}
	text := false // that may name a file
	for pointer, p := range t.Schema.All() {
		text = text || p.Types()&schema.String != 0 && len(pointer) == 1
		if p.HasWithin(schema.Path) || p.Runs() || p.HasWithin(schema.Patch) || p.HasWithin(schema.URL) || p.Unknown() || !p.Tabled() && p.Types()&schema.String != 0 {
			return
		}
	}
	if !text {
		return
	}
	c.Report(diag.NoPathSeen, t.Pos, "no guard on paths sees anything in the calls of "+t.Label()+": it declares no path, no patch, no command and no url",
		"where a parameter is a file name, write `type = \"path\"`",
		diag.Related{Range: guard.Pos, Message: "a guard on paths is here"})
}
