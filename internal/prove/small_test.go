package prove_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// The tests of this file compare the unreachable rules that check reports with a search: a
// small evaluator of its own looks for a document that reaches the rule.

// reachSchema has one parameter of every shape that reachability tells apart.
const reachSchema = `[tools.t.parameters]
p = { type = "path", required = true }
q = { type = "path" }
d = { type = "path", default = "src/lib" }
s = { type = "string", required = true }
n = { type = "integer", required = true }
r = { type = "number" }
b = { type = "boolean", required = true }
ps = { type = "array", items = { type = "path" } }
ns = { type = "array", items = { type = "integer" }, required = true }
es = { type = "array", items = { type = "object", properties = { p = { type = "path" } } } }
[tools.t.policy]
`

// shape is the kind of value that documents have at a pointer.
type shape struct {
	pointer  string
	kind     string // path, string, integer, number, boolean
	list     bool
	optional bool // the argument may be absent
	holes    bool // an element may lack the field
	fallback any  // the schema's default
}

var shapes = []shape{
	{pointer: "/p", kind: "path"}, {pointer: "/q", kind: "path", optional: true}, {pointer: "/d", kind: "path", optional: true, fallback: "src/lib"},
	{pointer: "/s", kind: "string"}, {pointer: "/n", kind: "integer"}, {pointer: "/r", kind: "number", optional: true},
	{pointer: "/b", kind: "boolean"}, {pointer: "/ps", kind: "path", list: true, optional: true},
	{pointer: "/ns", kind: "integer", list: true}, {pointer: "/es/p", kind: "path", list: true, optional: true, holes: true},
}

// naiveCondition and naiveRule are a rule of the small evaluator.
type naiveCondition struct {
	at     *shape
	kind   string
	values []any
	match  string
}

type naiveRule struct {
	conditions []naiveCondition
	mode       string
}

func (r naiveRule) permissive() bool { return r.mode == "unattended" }

func (r naiveRule) String() string {
	var members []string
	for _, c := range r.conditions {
		var values []string
		for _, v := range c.values {
			text := fmt.Sprintf("%v", v)
			if _, ok := v.(string); ok {
				text = fmt.Sprintf("%q", v)
			}
			values = append(values, text)
		}
		value := values[0]
		if c.kind == "enum" {
			value = "[" + strings.Join(values, ", ") + "]"
		}
		member := fmt.Sprintf("arg = %q, %s = %s", c.at.pointer, c.kind, value)
		if c.match != "" {
			member += fmt.Sprintf(", match = %q", c.match)
		}
		members = append(members, member)
	}
	switch len(members) {
	case 0:
		return fmt.Sprintf("{ mode = %q }", r.mode)
	case 1:
		return fmt.Sprintf("{ %s, mode = %q }", members[0], r.mode)
	}
	return fmt.Sprintf("{ all = [ { %s } ], mode = %q }", strings.Join(members, " }, { "), r.mode)
}

// leaves are the values of a document at one pointer, and whether a branch has none.
type leaves struct {
	values  []any
	missing bool
	absent  bool
}

// holds evaluates a condition by the quantifier of its mode and B9.
func (c naiveCondition) holds(l leaves, permissive bool) bool {
	if l.absent && !permissive && c.at.fallback != nil {
		l = leaves{values: []any{c.at.fallback}}
	}
	all := permissive
	if c.match != "" {
		all = c.match == "all"
	}
	if c.kind == "present" {
		if len(l.values) == 0 && !l.missing && !l.absent {
			return !permissive // an empty array is a value and none (K5)
		}
		return len(l.values) > 0 && (!all || !l.missing)
	}
	if !all {
		return slices.ContainsFunc(l.values, c.hits)
	}
	return len(l.values) > 0 && !l.missing && !slices.ContainsFunc(l.values, func(v any) bool { return !c.hits(v) })
}

func (c naiveCondition) hits(v any) bool {
	want := c.values[0]
	switch c.kind {
	case "const", "enum":
		return slices.ContainsFunc(c.values, func(w any) bool { return same(v, w) })
	case "prefix":
		value, prefix := v.(string), want.(string)
		if c.at.kind == "string" {
			return strings.HasPrefix(value, prefix)
		}
		prefix = strings.TrimSuffix(prefix, "/")
		return value == prefix || strings.HasPrefix(value, prefix+"/")
	case "suffix":
		return strings.HasSuffix(v.(string), want.(string))
	case "minimum":
		return number(v) >= number(want)
	case "exclusive_minimum":
		return number(v) > number(want)
	case "maximum":
		return number(v) <= number(want)
	}
	return number(v) < number(want) // exclusive_maximum
}

func number(v any) float64 {
	if n, ok := v.(int); ok {
		return float64(n)
	}
	return v.(float64)
}

func same(v, w any) bool {
	switch v.(type) {
	case int, float64:
		return number(v) == number(w)
	}
	return v == w
}

// first returns the index of the rule that decides, -1 if none does.
func firstMatch(rules []naiveRule, doc map[string]leaves) int {
	return slices.IndexFunc(rules, func(r naiveRule) bool {
		return !slices.ContainsFunc(r.conditions, func(c naiveCondition) bool { return !c.holds(doc[c.at.pointer], r.permissive()) })
	})
}

// domain lists values that tell the conditions on a pointer apart: each literal,
// its neighbours, and a value that no condition names.
func domain(at *shape, rules []naiveRule) []any {
	var values []any
	add := func(v any) {
		if !slices.ContainsFunc(values, func(w any) bool { return same(v, w) }) {
			values = append(values, v)
		}
	}
	for _, r := range rules {
		for _, c := range r.conditions {
			if c.at != at || c.kind == "present" {
				continue
			}
			for _, v := range c.values {
				switch at.kind {
				case "path":
					text := strings.TrimSuffix(v.(string), "/")
					add(text)
					if c.kind == "prefix" || c.kind == "suffix" {
						add(text + "/zz")
					}
				case "string":
					add(v)
					add(v.(string) + "zz")
				case "integer":
					for n := -1; n <= 1; n++ {
						add(v.(int) + n)
					}
				case "number":
					for _, n := range []float64{-1, -0.25, 0, 0.25, 1} {
						add(number(v) + n)
					}
				}
			}
		}
	}
	switch at.kind {
	case "boolean":
		return []any{true, false}
	case "integer":
		add(1000)
		add(-1000)
	case "number":
		add(1000.5)
		add(-1000.5)
	default:
		add("other")
	}
	return values
}

// documents lists the values that a document may have at a pointer.
func documents(at *shape, rules []naiveRule, longest int) []leaves {
	var list []leaves
	if at.optional {
		list = append(list, leaves{absent: true})
	}
	values := domain(at, rules)
	if !at.list {
		for _, v := range values {
			list = append(list, leaves{values: []any{v}})
		}
		return list
	}
	lists := [][]any{{}}
	for from, n := 0, 0; n < longest; n++ {
		end := len(lists)
		for _, l := range lists[from:end] {
			for _, v := range values {
				lists = append(lists, append(slices.Clone(l), v))
			}
		}
		from = end
	}
	for _, l := range lists {
		list = append(list, leaves{values: l})
		if at.holes {
			list = append(list, leaves{values: l, missing: true})
		}
	}
	return list
}

// witnesses searches all small documents and returns for each rule whether one
// reaches it.
func witnesses(rules []naiveRule, used []*shape, longest int) []bool {
	reached := make([]bool, len(rules))
	eachSmallDocument(rules, used, longest, func(doc map[string]leaves) {
		if n := firstMatch(rules, doc); n >= 0 {
			reached[n] = true
		}
	})
	return reached
}

// eachSmallDocument goes through all small documents that tell rules apart.
func eachSmallDocument(rules []naiveRule, used []*shape, longest int, do func(map[string]leaves)) {
	doc := make(map[string]leaves)
	var fill func(i int)
	fill = func(i int) {
		if i == len(used) {
			do(doc)
			return
		}
		for _, l := range documents(used[i], rules, longest) {
			doc[used[i].pointer] = l
			fill(i + 1)
		}
	}
	fill(0)
}

type generator struct{ *rand.Rand }

func pick[T any](g generator, list []T) T { return list[g.IntN(len(list))] }

func (g generator) condition(at *shape) naiveCondition {
	c := naiveCondition{at: at}
	texts := []any{"src", "src/lib", "src/lib/a", "src-old", "doc", "sr"}
	switch at.kind {
	case "boolean":
		c.kind, c.values = "const", []any{g.IntN(2) == 0}
	case "integer", "number":
		c.kind = pick(g, []string{"const", "enum", "minimum", "maximum", "exclusive_minimum", "exclusive_maximum"})
		for range 3 {
			c.values = append(c.values, g.IntN(5))
		}
		if at.kind == "number" && g.IntN(3) == 0 {
			c.values[0] = 2.5
		}
	default:
		c.kind = pick(g, []string{"const", "enum", "prefix", "prefix"})
		for range 1 + g.IntN(3) {
			c.values = append(c.values, pick(g, texts))
		}
		if c.kind == "prefix" && at.kind == "path" && g.IntN(2) == 0 {
			c.values[0] = c.values[0].(string) + "/"
		}
	}
	if c.kind != "enum" {
		c.values = c.values[:1]
	}
	if g.IntN(12) == 0 {
		c.kind, c.values = "present", []any{true}
	}
	return c
}

func (g generator) rules(used []*shape, compound bool) []naiveRule {
	var rules []naiveRule
	for range 2 + g.IntN(4) {
		r := naiveRule{mode: pick(g, []string{"unattended", "unattended", "ask", "deny"})}
		members := 1
		if compound {
			members = 1 + g.IntN(2)
		}
		for range members {
			c := g.condition(pick(g, used))
			if g.IntN(5) == 0 {
				c.match = pick(g, []string{"any", "all"})
			}
			r.conditions = append(r.conditions, c)
		}
		if g.IntN(15) == 0 {
			r.conditions = nil
		}
		rules = append(rules, r)
	}
	return rules
}

func show(rules []naiveRule) string {
	var b strings.Builder
	for i, r := range rules {
		fmt.Fprintf(&b, "%d: %s\n", i+1, r)
	}
	return b.String()
}
