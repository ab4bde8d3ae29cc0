package check

import (
	"fmt"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy/bind"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// tester evaluates the examples of rules.
type tester struct{ *bind.Binder }

// examples proves the examples of a rule or guard, for a tool with this schema. Other
// rules do not matter: an example is about its own rule.
func (c tester) examples(label string, r *syntax.Rule, s *schema.Schema) {
	if r.Pack != "" {
		return // they hold for the lists of the pack; the file may have changed them
	}
	if len(r.Examples) == 0 {
		return
	}
	probe := *r
	probe.When, probe.Index = nil, 0
	pointer := jsonstream.Pointer(nil)
	if len(r.Conditions) == 1 {
		k := r.Conditions[0]
		if k.On != "" {
			// A guard on a type is tried on one parameter of it.
			k.Arg, k.On = jsonstream.Pointer{"value"}, ""
			s, _ = schema.FromParameters([]schema.Parameter{{Name: "value", Type: []string{r.Conditions[0].On}}})
		}
		probe.Conditions = []syntax.Condition{k}
		pointer = ExamplePointer(&probe, s)
	}
	binding := Alone(c.File, []*syntax.Rule{&probe}, s, c.Env)
	for _, x := range r.Examples {
		switch {
		case x.Value.Kind != condition.LiteralObject:
		case len(r.Conditions) == 1 && r.Conditions[0].On != "":
			c.Report(diag.WrongType, x.Pos, "a guard on a type has values as examples, not arguments", `write one value: "..."`)
			continue
		case !c.argumentsExist(x, s):
			continue
		}
		var doc jsonstream.Document
		if err := doc.Scan([]byte(Arguments(x, pointer)), jsonstream.Options{MaxExponent: jsonstream.AnyExponent}); err != nil {
			c.Report(diag.BadValue, x.Pos, "the example is not valid as JSON: "+err.Error(), "")
			continue
		}
		if matched := binding.ResultMode(&doc).Rule != nil; matched != x.Matches {
			c.wrongExample(label, r, x, matched)
		}
	}
}

func (c tester) wrongExample(label string, r *syntax.Rule, x syntax.Example, matched bool) {
	message, hint := label+" does not match this example", "mend the rule, or move the example to `no_match`"
	if matched {
		message, hint = label+" matches this example", "mend the rule, or move the example to `match`"
	}
	related := diag.Related{Range: r.Pos, Message: "it is here"}
	if len(r.Conditions) == 1 {
		related = diag.Related{Range: r.Conditions[0].ValuePos, Message: "this is what it is compared with"}
	}
	c.Report(diag.WrongExample, x.Pos, message, hint, related)
}

// argumentsExist reports arguments of an example that the tool does not have. An example
// may omit arguments that the tool requires.
func (c tester) argumentsExist(x syntax.Example, s *schema.Schema) bool {
	value, err := jsonstream.Parse([]byte(x.Value.JSON), jsonstream.Options{MaxExponent: jsonstream.AnyExponent})
	ok := err == nil
	for key := range value.Members() {
		if reach := s.Reach(jsonstream.Pointer{key.Text()}); reach.Missing >= 0 {
			hint := ""
			if reach.Suggestion != "" {
				hint = "did you mean `" + tomltree.Key(reach.Suggestion) + "`?"
			}
			c.Report(diag.NoSuchParameter, x.Pos, fmt.Sprintf("the example has an argument %s: %s", strconv.Quote(key.Text()), reach.Problem), hint)
			ok = false
		}
	}
	return ok
}

// ExamplePointer is the location of an example that is no object: at the
// argument of the rule's only condition, nil if the rule has several.
func ExamplePointer(r *syntax.Rule, s *schema.Schema) jsonstream.Pointer {
	if len(r.Conditions) != 1 {
		return nil
	}
	pointer := r.Conditions[0].Arg
	if expanded, err := jsonstream.ParsePointer(s.Reach(pointer).Expanded); err == nil {
		return expanded
	}
	return pointer
}

// Alone binds rules of a file as if they were the only ones of a tool. They are in the list for
// results, which depends only on arguments.
func Alone(of *syntax.File, rules []*syntax.Rule, s *schema.Schema, env condition.Env) *eval.Binding {
	table := &syntax.ToolTable{Name: "example", Schema: s, Result: &syntax.RuleList{Rules: rules}}
	file := &syntax.File{Conditions: of.Conditions, Tools: []*syntax.ToolTable{table}}
	return eval.New([]*eval.Layer{{File: file, Trusted: true, Env: env}}, stopgate.Deny).Bind(stopgate.Call{Tool: "example"})
}

// Arguments returns an example as arguments: a value that is no object around its pointer.
func Arguments(x syntax.Example, pointer jsonstream.Pointer) string {
	if x.Value.Kind == condition.LiteralObject {
		return x.Value.JSON
	}
	return around(pointer, x.Value.JSON)
}

// around returns arguments with one value at a pointer, in an array of one element for
// each "*" of the pointer.
func around(pointer jsonstream.Pointer, value string) string {
	for i := len(pointer) - 1; i >= 0; i-- {
		if i > 0 && pointer[i] == "*" {
			value = "[" + value + "]"
			continue
		}
		value = "{" + string(jsonstream.AppendQuote(nil, pointer[i])) + ":" + value + "}"
	}
	return value
}
