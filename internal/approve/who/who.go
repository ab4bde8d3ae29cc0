// Package who reads from policy files who may answer questions, and how many have to approve.
//
//	rules, mistakes := who.Read(program.Settings().Tables)
//	queue, err := approve.New(store, approve.Options{Require: rules.Require(program.ToolNames)})
package who

import (
	"fmt"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// maxApprovals is the largest number of persons that a rule can require.
const maxApprovals = 16

// rule is one element of [approvals] who.
type rule struct {
	people    approve.People
	tools     []string // names and globs; none is every tool
	approvals int
}

// Rules are the rules of [approvals] who. The zero Rules require nothing.
type Rules struct {
	list []rule
	// others: nobody approves a call of his own, since the files name who may, or who calls.
	others bool
}

// table is one element as it is written.
type table struct {
	Principal *tomltree.Value `toml:"principal"`
	Group     *tomltree.Value `toml:"group"`
	Tools     *tomltree.Value `toml:"tools"`
	Approvals *int            `toml:"approvals"`
}

// Read reads the rules of the operator's tables; every mistake is reported with its place.
func Read(tables map[string]*tomltree.Value) (Rules, diag.List) {
	r := Rules{others: tables["identity"] != nil}
	approvals := tables["approvals"]
	if approvals == nil || approvals.Kind != tomltree.Table || approvals.Get("who") == nil {
		return r, nil
	}
	value := approvals.Get("who").Value
	s := tomltree.Read(nil, &struct{}{})
	if value.Kind != tomltree.Array || len(value.Elements) == 0 {
		s.Report(value, `want an array of tables: who = [{ group = "leads", tools = ["deploy*"] }]`)
		return r, s.Mistakes
	}
	r.others = true
	for _, e := range value.Elements {
		r.list = append(r.list, read(s, e))
	}
	return r, s.Mistakes
}

func read(s *tomltree.Settings, e *tomltree.Value) (out rule) {
	if e.Kind != tomltree.Table {
		s.Report(e, `want a table: { group = "leads", tools = ["deploy*"] }`)
		return out
	}
	var t table
	s.Mistakes = append(s.Mistakes, tomltree.Decode(e, &t)...)
	out.people = approve.People{Principal: names(s, t.Principal), Group: names(s, t.Group)}
	out.tools, out.approvals = names(s, t.Tools), 1
	if len(out.people.Principal)+len(out.people.Group) == 0 {
		s.Report(e, "it names nobody: write group or principal")
	}
	if t.Approvals != nil {
		if out.approvals = *t.Approvals; out.approvals < 1 || out.approvals > maxApprovals {
			s.Report(e, "approvals: want 1 to %d", maxApprovals)
		}
	}
	return out
}

// names reads a name or glob, or an array of them; nil is none.
func names(s *tomltree.Settings, v *tomltree.Value) (list []string) {
	if v == nil {
		return nil
	}
	elements := v.Elements
	if v.Kind == tomltree.String {
		elements = []*tomltree.Value{v}
	} else if v.Kind != tomltree.Array || len(elements) == 0 {
		s.Report(v, "want a name, or an array of names")
	}
	for _, e := range elements {
		if e.Kind != tomltree.String || e.Text == "" {
			s.Report(e, "want a name, not %s", e.Kind)
			continue
		}
		if _, err := glob.ParseName(e.Text); err != nil {
			s.Report(e, "%v", fmt.Errorf("%q: %w", e.Text, err))
		}
		list = append(list, e.Text)
	}
	return list
}

// Defers reads [approvals] absent for hooks and the terminal agent. Unlike other surfaces they keep a
// question that cannot be answered now unless configured otherwise: the person sees it, and others can
// answer before the call is repeated (S47).
func Defers(tables map[string]*tomltree.Value) bool {
	approvals := tables["approvals"]
	if approvals == nil || approvals.Kind != tomltree.Table {
		return true
	}
	absent := approvals.Get("absent")
	return absent == nil || absent.Value.Text == "defer"
}

// Guarded reports whether the rules require anything of some question.
func (r Rules) Guarded() bool { return r.others }

// Require returns the requirement of a question about a call. Several rules for a tool add up: any of
// the persons may answer, and the largest number has to approve. names maps further names of tools to
// those of their tables; it may be nil.
func (r Rules) Require(names func() map[stopgate.ToolName]stopgate.ToolName) func(*stopgate.Call) approve.Requirement {
	if !r.others {
		return nil
	}
	return func(call *stopgate.Call) approve.Requirement {
		need, called := approve.Requirement{Others: true}, []stopgate.ToolName{call.Tool}
		if names != nil {
			if known, ok := names()[call.Tool]; ok {
				called = append(called, known)
			}
		}
		for _, rule := range r.list {
			if len(rule.tools) > 0 && !slices.ContainsFunc(called, func(name stopgate.ToolName) bool { return matches(rule.tools, string(name)) }) {
				continue
			}
			need.Who = append(need.Who, rule.people)
			if rule.approvals > 1 {
				need.Approvals = max(need.Approvals, rule.approvals)
			}
		}
		return need
	}
}

func matches(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(text string) bool {
		n, err := glob.ParseName(text)
		return err == nil && n.Match(name)
	})
}
