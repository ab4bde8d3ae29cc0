package policy

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/symbolic"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/jsonstream"
)

// Reached is what is known about how a rule can be reached.
type Reached struct {
	Tool string // "" for tools that only a table for many describes
	List string // "run" or "result"
	Line int
	// Index is the rule's position in its list, Answer whether some call reaches it.
	Index  int
	Mode   stopgate.Mode
	Answer match.Answer
	// Witness is such a call, with the facts it needs; its Args are nil where no
	// arguments that fit the schema could be written.
	Witness stopgate.Call
	// Verdict is the answer of the file to the witness: stricter than Mode where a guard, a
	// floor or a parameter without coverage asks or denies. It is not decided where the file
	// has mistakes, looks at data of sessions, or has no witness for the rule.
	Verdict stopgate.Verdict
	// By are the rules that together cover the rule if nothing reaches it.
	By []int

	table string // the name of the table that has the list
}

// Reach reports for every rule of a file how it is reached, or by which rules it is covered.
// Check bases its findings on it.
func Reach(p *syntax.File, o Options) []Reached {
	var list []Reached
	c := newChecker(p, o)
	if c.check().HasErrors() {
		c = newChecker(p, o)
		c.reached = func(r Reached) { list = append(list, r) }
		c.check()
		return list
	}
	c = newChecker(p, o)
	env := c.env
	env.Checked = true
	layer := &eval.Layer{File: p, Trusted: true, Env: env}
	policies := eval.New([]*eval.Layer{layer}, o.UnknownTool)
	c.welcome = symbolic.Unprotected(layer.Protected)
	c.reached = func(r Reached) {
		if r.Answer == match.Yes && r.Witness.Args != nil && r.List == syntax.RunList.String() && !policies.LooksAtSessions() {
			r.Verdict = c.answer(policies, &r)
		}
		list = append(list, r)
	}
	c.check()
	return list
}

func reachedOf(t *symbolic.Translation, l *checkedList, r *symbolic.Rule, f *analysis.Finding) Reached {
	out := Reached{
		Tool: l.tool.name, List: l.kind.String(), Line: r.Pos.Start.Line, Index: r.Index, Mode: r.Mode, Answer: f.Answer, table: l.owner.Name,
	}
	for _, e := range pickRules(l.rules, f.By) {
		out.By = append(out.By, e.Index)
	}
	if f.Answer == match.Yes {
		agent, surface, server, principal := t.Facts(f.Witness)
		out.Witness = stopgate.Call{
			Tool: stopgate.ToolName(l.tool.name), Agent: stopgate.AgentName(agent), Surface: stopgate.Surface(surface),
			Server: stopgate.ServerID(server), Principal: stopgate.Principal(principal),
		}
		out.Witness.Args, _ = t.Document(f.Witness)
	}
	return out
}

// answer evaluates the witness of a rule. A rule of a table for many tools is asked about a
// tool that no other table names and that has the parameters of the witness.
func (c *checker) answer(policies *eval.Policies, r *Reached) stopgate.Verdict {
	call := r.Witness
	for i := range c.definitions {
		if d := &c.definitions[i]; d.Name == call.Tool {
			call.Definition = d
		}
	}
	if r.Tool == "" {
		name, ok := c.nameOf(r.table)
		if !ok {
			return stopgate.Verdict{}
		}
		call.Tool = stopgate.ToolName(name)
		call.Definition = &stopgate.ToolDefinition{Name: call.Tool, Schema: schemaOf(call.Args)}
	}
	e := policies.Bind(call).Evaluate()
	e.Feed(call.Args)
	return e.Close(stopgate.Ended)
}

// nameOf returns a tool's name to which a table with a glob applies, and no other table.
func (c *checker) nameOf(table string) (string, bool) {
	own, err := glob.ParseName(table)
	if err != nil || own.Walker() == nil {
		return "", false
	}
	var others []automaton.Walker
	for _, t := range c.policy.Tools {
		for _, name := range append([]string{t.Name}, t.Also...) {
			n, err := glob.ParseName(name)
			if err != nil || t.Name == table || t.Name == syntax.EveryTool {
				continue
			}
			if w := n.Walker(); w != nil {
				others = append(others, w)
			}
		}
	}
	name, answer := analysis.Find([]automaton.Walker{own.Walker()}, others, func(name string) bool {
		return stopgate.ValidToolName(stopgate.ToolName(name)) && !slices.ContainsFunc(c.definitions, func(d toolDefinition) bool { return string(d.Name) == name })
	})
	return name, answer == match.Yes
}

// schemaOf returns a schema that declares the members of an object, of any type: what rules
// for many tools can be checked against.
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
