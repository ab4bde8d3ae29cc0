package eval_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// originTool is the tool of random policies on origins.
const originTool = `version = 1
[gate]
on_schema_violation = "deny"
[sources.contacts]
tool = "search"
field = "/*"
trusted = true
[sources.web]
tool = "fetch"
[tools.search]
[tools.fetch]
[tools.t.parameters]
a = { type = "string" }
r = { type = "string", required = true }
b = { type = "array", items = { type = "string" } }
n = { type = "number" }
f = { type = "boolean" }
o = { type = "object", additional_properties = true }
e = { type = "array", items = { type = "object", properties = { x = { type = "string" } } } }
[tools.t.policy]
`

// originRule is a random rule: conditions that must all hold.
type originRule struct {
	mode  string
	conds []originCond
}

type originCond struct {
	arg     string
	not     bool
	sources []string
}

func (c originCond) String() string {
	kind := map[bool]string{false: "from", true: "not_from"}[c.not]
	return fmt.Sprintf("arg = %q, %s = [%s]", c.arg, kind, `"`+strings.Join(c.sources, `", "`)+`"`)
}

func policyOf(rules []originRule) string {
	var lines []string
	for _, r := range rules {
		var parts []string
		for _, c := range r.conds {
			parts = append(parts, c.String())
		}
		text := parts[0]
		if len(parts) > 1 {
			text = "all = [ { " + strings.Join(parts, " }, { ") + " } ]"
		}
		lines = append(lines, fmt.Sprintf("  { %s, mode = %q },\n", text, r.mode))
	}
	return originTool + "run = [\n" + strings.Join(lines, "") + "  { mode = \"ask\" },\n]\n"
}

// drawRules draws rules from the strictest to the weakest. With trusting, permissive rules rely on
// trusted sources only, and so do the restrictive ones on what is in no text.
func drawRules(t *rapid.T, trusting bool) []originRule {
	trusted, all := []string{"user", "contacts"}, []string{"user", "contacts", "web", "tool", "untrusted"}
	var rules []originRule
	for _, mode := range []string{"deny", "skip", "unattended", "unattended"} {
		r := originRule{mode: mode}
		for range rapid.IntRange(0, 2).Draw(t, "conditions") {
			c := originCond{arg: rapid.SampledFrom([]string{"/a", "/r", "/b", "/n", "/f", "/o", "/o/k", "/e", "/e/*/x", "/e/x"}).Draw(t, "arg"), not: rapid.Bool().Draw(t, "not")}
			from := all
			if permissive := mode == "unattended"; permissive && !c.not {
				from = trusted // the parser refuses others
				if !trusting {
					from = []string{"user", "contacts", "web"}
				}
			} else if trusting && !permissive && c.not {
				from = trusted
			}
			c.sources = rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, 2, rapid.ID).Draw(t, "sources")
			r.conds = append(r.conds, c)
		}
		if len(r.conds) > 0 {
			rules = append(rules, r)
		}
	}
	return rules
}

var originWords = []string{"ann", "bob", "eve", "mallory", "ANN", "1500", "go", "k", "x"}

func drawArgs(t *rapid.T) map[string]any {
	word := func() any { return rapid.SampledFrom(append([]string{""}, originWords...)).Draw(t, "word") }
	args := map[string]any{"r": word()}
	maybe := func(name string, value func() any) {
		if rapid.Bool().Draw(t, name) {
			args[name] = value()
		}
	}
	maybe("a", word)
	maybe("b", func() any {
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			list = append(list, word())
		}
		return list
	})
	maybe("n", func() any { return json.Number(rapid.SampledFrom([]string{"1500", "7", "2600"}).Draw(t, "number")) })
	maybe("f", func() any { return rapid.Bool().Draw(t, "flag") })
	object := func() any {
		o := map[string]any{}
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			o[rapid.SampledFrom(originWords).Draw(t, "key")] = rapid.SampledFrom([]any{"ann", "eve", "", json.Number("1500"), true, []any{"bob", "eve"}, map[string]any{"ann": "bob"}, []any{}}).Draw(t, "member")
		}
		return o
	}
	maybe("o", object)
	maybe("e", func() any {
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "n") {
			e := map[string]any{}
			if rapid.Bool().Draw(t, "x") {
				e["x"] = word()
			}
			list = append(list, e)
		}
		return list
	})
	return args
}

func drawTexts(t *rapid.T) *fakeView {
	v := &fakeView{doubt: rapid.SampledFrom([]flow.Doubt{0, 0, 0, flow.Unreported, flow.Dropped}).Draw(t, "doubt")}
	for range rapid.IntRange(0, 4).Draw(t, "texts") {
		v.texts = append(v.texts, drawText(t, rapid.SampledFrom([]flow.Source{"user", "contacts", "web", "tool"}).Draw(t, "source")))
	}
	return v
}

func drawText(t *rapid.T, source flow.Source) said {
	text := said{source: source, words: strings.Join(rapid.SliceOfN(rapid.SampledFrom(originWords), 0, 4).Draw(t, "words"), " ")}
	if source != flow.User {
		text.source, text.tool = flow.Tool, "fetch"
		if source != flow.Tool {
			text.declared = []flow.Source{source}
		}
	}
	return text
}

// naiveOrigin is the second opinion on a condition: it states the table of certainty and suspicion
// on the leaves of plain values.
type naiveOrigin struct {
	texts      flow.View
	cond       originCond
	permissive bool
}

func (n *naiveOrigin) holds(args map[string]any) bool {
	steps := strings.Split(n.cond.arg[1:], "/")
	steps = slices.DeleteFunc(steps, func(s string) bool { return s == "*" })
	value, there := args[steps[0]]
	optional := steps[0] != "r"
	if !there {
		return n.permissive && optional
	}
	results := n.at(value, steps[1:], optional, steps[0] == "o", true)
	if n.permissive {
		return len(results) > 0 && !slices.Contains(results, false)
	}
	return slices.Contains(results, true)
}

// at returns the result of every leaf. optional: the schema does not require the value; free: it
// declares nothing of what is in it; direct: the pointer leads here.
func (n *naiveOrigin) at(value any, steps []string, optional, free, direct bool) (results []bool) {
	switch v := value.(type) {
	case []any:
		if len(v) == 0 && direct && n.permissive {
			return []bool{optional}
		}
		for _, e := range v {
			results = append(results, n.at(e, steps, false, free, direct)...)
		}
	case map[string]any:
		if len(steps) > 0 {
			member, ok := v[steps[0]]
			if !ok {
				return []bool{n.permissive && !free} // a declared member is optional, another one is not known
			}
			return n.at(member, steps[1:], !free, free, direct)
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if free {
				results = append(results, n.leaf(key, "string"))
			}
			member := n.at(v[key], nil, !free, free, false)
			if v[key] == "" && !free {
				continue // below an object an optional member without a value is as if it were absent
			}
			results = append(results, member...)
		}
	case string:
		switch {
		case len(steps) > 0:
			return []bool{false}
		case v == "" && optional:
			return []bool{n.permissive}
		case v == "":
			return []bool{!n.permissive && n.cond.not}
		}
		return []bool{n.leaf(v, "string")}
	case json.Number:
		return []bool{len(steps) == 0 && n.leaf(string(v), "number")}
	case bool:
		return []bool{len(steps) == 0 && n.leaf(fmt.Sprint(v), "boolean")}
	}
	return results
}

func (n *naiveOrigin) leaf(text, _ string) bool {
	q := flow.Query{Trusted: []flow.Source{"contacts"}}
	for _, s := range n.cond.sources {
		q.Sources = append(q.Sources, flow.Source(s))
	}
	f := n.texts.Find([]byte(text), &q)
	switch {
	case n.permissive && n.cond.not:
		return !f.Possible
	case n.permissive:
		return f.Certain
	case n.cond.not:
		return !f.Certain
	}
	return f.Possible
}

func naiveMode(rules []originRule, args map[string]any, texts flow.View) string {
	for _, r := range rules {
		if !slices.ContainsFunc(r.conds, func(c originCond) bool {
			return !(&naiveOrigin{texts, c, r.mode == "unattended"}).holds(args)
		}) {
			return r.mode
		}
	}
	return "ask"
}

// The verdict on random calls is that of the naive evaluator, whole and in pieces; without texts no
// permissive rule on a value holds.
func TestOriginsAgreeWithTheNaiveTwin(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		rules := drawRules(rt, false)
		if len(rules) == 0 {
			return
		}
		args, texts := drawArgs(rt), drawTexts(rt)
		text, _ := json.Marshal(args)
		p := compile(t, policyOf(rules))
		v := with(t, p, string(text), texts)
		if want := naiveMode(rules, args, texts); v.Mode.String() != want {
			rt.Fatalf("%v, want %s\n%s\n%s\n%+v", v, want, policyOf(rules), text, texts)
		}
	})
}

// A text that anybody may have written never makes a verdict more permissive, where permissive rules
// rely on trusted sources.
func TestUntrustedTextsOnlyRestrict(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		rules := drawRules(rt, true)
		if len(rules) == 0 {
			return
		}
		text, _ := json.Marshal(drawArgs(rt))
		before := drawTexts(rt)
		after := &fakeView{doubt: before.doubt, texts: append(slices.Clone(before.texts), drawText(rt, rapid.SampledFrom([]flow.Source{"web", "tool"}).Draw(rt, "new")))}
		p := compile(t, policyOf(rules))
		was, is := with(t, p, string(text), before), with(t, p, string(text), after)
		if stopgate.Strictest(was.Mode, is.Mode) != is.Mode {
			rt.Fatalf("%v, before the text %v\n%s\n%s\n%+v", is, was, policyOf(rules), text, after)
		}
	})
}

// A trusted text never makes a restrictive from weaker than it was without it.
func TestTrustedTextsDoNotWeakenRestrictions(t *testing.T) {
	property.Check(t, func(rt *rapid.T) {
		rules := []originRule{{mode: "deny", conds: []originCond{{arg: rapid.SampledFrom([]string{"/a", "/r", "/b", "/n", "/o", "/e/*/x"}).Draw(rt, "arg"),
			sources: rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"user", "contacts", "web", "tool", "untrusted"}), 1, 3, rapid.ID).Draw(rt, "sources")}}}}
		text, _ := json.Marshal(drawArgs(rt))
		before := drawTexts(rt)
		after := &fakeView{doubt: before.doubt, texts: append(slices.Clone(before.texts), drawText(rt, rapid.SampledFrom([]flow.Source{"user", "contacts"}).Draw(rt, "new")))}
		p := compile(t, policyOf(rules))
		was, is := with(t, p, string(text), before), with(t, p, string(text), after)
		if was.Mode == stopgate.Deny && is.Mode != stopgate.Deny {
			rt.Fatalf("%v, before the text %v\n%s\n%s\n%+v", is, was, policyOf(rules), text, after)
		}
	})
}
