// Package prove finds unreachable rules by proof.
//
//	program, mistakes := prove.Compile(sources, policy.Options{Root: root})
//
// Guarantees:
//
//   - A rule that is reported as unreachable is proved to be: no arguments that fit the schema
//     and whose values are plainly written reach it. On single conditions over sets, ranges and
//     prefixes the answer is exact; elsewhere "not proven" is one of the answers.
//   - It does no I/O, reads no clock, starts no goroutine and logs nothing.
package prove

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// Compile is [policy.Compile] with proofs: an unreachable rule is a mistake of its file.
func Compile(sources []policy.Source, o policy.Options) (*policy.Program, diag.List) {
	o.Prove = unreachable(nil, nil)
	return policy.Compile(sources, o)
}

// Check is [policy.Check] with proofs.
func Check(f *syntax.File, o policy.Options) diag.List {
	o.Prove = unreachable(nil, nil)
	return policy.Check(f, o)
}

// Reached is the result of the search for arguments that reach a rule.
type Reached struct {
	Tool string // "" for tools that only a table for many describes
	List string // "run" or "result"
	Line int
	// Index is the rule's position in its list, Answer whether some call reaches it.
	Index  int
	Mode   stopgate.Mode
	Answer regular.Answer
	// Witness is such a call, with the facts it needs; its Args are nil where no
	// arguments that fit the schema could be written.
	Witness stopgate.Call
	// Verdict is the answer of the file to the witness: stricter than Mode where a guard, a
	// floor or a parameter without coverage asks or denies. It is not decided where the file
	// has mistakes, looks at data of sessions, or has no witness for the rule.
	Verdict stopgate.Verdict
	// By are the rules that together cover the rule if it is unreachable.
	By []int

	table string // the name of the table that has the list
}

// Reach reports for every rule of a file how it is reached, or by which rules it is covered.
// Check bases its findings on it.
func Reach(f *syntax.File, o policy.Options) (list []Reached) {
	note := func(r Reached) { list = append(list, r) }
	if Check(f, o).HasErrors() {
		o.Prove = unreachable(note, nil)
		policy.Check(f, o)
		return list
	}
	env := f.Environment(condition.Env{})
	env.Checked = true
	layer := &eval.Layer{File: f, Trusted: true, Env: env}
	policies := eval.New([]*eval.Layer{layer}, o.UnknownTool)
	o.Prove = unreachable(func(r Reached) {
		if r.Answer == regular.Yes && r.Witness.Args != nil && r.List == syntax.RunList.String() && !policies.LooksAtSessions() {
			r.Verdict = answer(policies, &r, f, o.Definitions)
		}
		note(r)
	}, symbolic.Unprotected(layer.Protected))
	policy.Check(f, o)
	return list
}

func reachedOf(t *symbolic.Translation, l *ruleList, r *symbolic.Rule, f *analysis.Finding) Reached {
	out := Reached{
		Tool: l.Tool.Name, List: l.Kind.String(), Line: r.Pos.Start.Line, Index: r.Index, Mode: r.Mode, Answer: f.Answer, table: l.Owner.Name,
	}
	for _, e := range pickRules(l.rules, f.By) {
		out.By = append(out.By, e.Index)
	}
	if f.Answer == regular.Yes {
		out.Witness = stopgate.Call{Tool: stopgate.ToolName(l.Tool.Name)}
		t.Facts(&out.Witness, f.Witness)
		out.Witness.Args, _ = t.Document(f.Witness)
	}
	return out
}

// answer evaluates the witness of a rule. A rule of a table for many tools is asked about a
// tool that no other table names and that has the parameters of the witness.
func answer(policies *eval.Policies, r *Reached, f *syntax.File, definitions []stopgate.ToolDefinition) stopgate.Verdict {
	call := r.Witness
	for i := range definitions {
		if d := &definitions[i]; d.Name == call.Tool {
			call.Definition = d
		}
	}
	if r.Tool == "" {
		name, ok := nameOf(r.table, f, definitions)
		if !ok {
			return stopgate.Verdict{}
		}
		call.Tool = stopgate.ToolName(name)
		call.Definition = &stopgate.ToolDefinition{Name: call.Tool, Schema: schemaOf(call.Args)}
	}
	e := policies.BindUnder(call, eval.Circumstances{Situation: policies.Situation(call.Groups, jsonstream.Value{}, nil)}).Evaluate()
	e.Feed(call.Args)
	return e.Close(stopgate.Ended)
}

// nameOf returns a tool's name to which a table with a glob applies, and no other table.
func nameOf(table string, f *syntax.File, definitions []stopgate.ToolDefinition) (string, bool) {
	own, err := glob.ParseName(table)
	if err != nil || own.Walker() == nil {
		return "", false
	}
	var others []automaton.Walker
	var large []*glob.Name // without an automaton
	for _, t := range f.Tools {
		for _, name := range append([]string{t.Name}, t.Also...) {
			n, err := glob.ParseName(name)
			if err != nil || t.Name == table || t.Name == syntax.EveryTool {
				continue
			}
			if w := n.Walker(); w != nil {
				others = append(others, w)
			} else {
				large = append(large, n)
			}
		}
	}
	name, answer := analysis.Find([]automaton.Walker{own.Walker()}, others, func(name string) bool {
		return !slices.ContainsFunc(large, func(n *glob.Name) bool { return n.Match(name) }) &&
			stopgate.ValidToolName(stopgate.ToolName(name)) && !slices.ContainsFunc(definitions, func(d stopgate.ToolDefinition) bool { return string(d.Name) == name })
	})
	return name, answer == regular.Yes
}

// schemaOf returns a schema that declares the members of an object, of any type, to check rules
// for many tools.
func schemaOf(args []byte) []byte {
	value, err := jsonstream.Parse(args, jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	if err != nil {
		return nil
	}
	out := []byte(`{"type":"object","properties":{`)
	first := true
	for key := range value.Members() {
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(jsonstream.AppendQuote(out, key.Text()), ":{}"...)
	}
	return append(out, "}}"...)
}
