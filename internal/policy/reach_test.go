package policy_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/policy"
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

// unreachable returns the indexes of the rules that check reports with a code.
func reported(t *testing.T, rules []naiveRule, code diag.Code) []bool {
	t.Helper()
	var text strings.Builder
	text.WriteString("version = 1\n" + reachSchema + "run = [\n")
	first := strings.Count(text.String(), "\n") + 1
	for _, r := range rules {
		fmt.Fprintf(&text, "%s,\n", r)
	}
	text.WriteString("]\n")
	found := make([]bool, len(rules))
	for _, d := range check("reach.toml", []byte(text.String()), policy.Options{}) {
		if d.Severity == diag.Error && d.Code != diag.Unreachable && d.Code != diag.NeverHolds {
			t.Fatalf("the generator wrote a policy with a mistake: %v\n%s", d, text.String())
		}
		if d.Code == code || d.Code == diag.NeverHolds && code == diag.Unreachable {
			found[d.Start.Line-first] = true
		}
	}
	return found
}

func show(rules []naiveRule) string {
	var b strings.Builder
	for i, r := range rules {
		fmt.Fprintf(&b, "%d: %s\n", i+1, r)
	}
	return b.String()
}

func cases(short, normal, long int) int {
	switch {
	case os.Getenv("STOPGATE_LONG") != "":
		return long
	case testing.Short():
		return short
	}
	return normal
}

// Proves D25-38, I25: on single conditions over sets, ranges and prefixes the
// analysis is exact. A rule is reported exactly if no document reaches it; a rule
// that only mixed lists reach is warned about, and one does reach it.
func TestReachabilityIsExact(t *testing.T) {
	for seed := range cases(400, 2000, 50_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 1))}
		used := []*shape{&shapes[g.IntN(len(shapes))]}
		longest := 3
		if g.IntN(3) == 0 {
			other := &shapes[g.IntN(len(shapes))]
			if other != used[0] {
				used, longest = append(used, other), 2
			}
		}
		rules := g.rules(used, false)
		dead, mixed := reported(t, rules, diag.Unreachable), reported(t, rules, diag.ShadowedMostly)
		reached := witnesses(rules, used, longest)
		last := len(rules) - 1
		for i := range rules {
			switch {
			case dead[i] && reached[i]:
				t.Fatalf("seed %d: rule %d is reported and can be reached\n%s", seed, i+1, show(rules))
			case needed(rules[:i]) > longest:
				// The search cannot write a list that gets past every rule above.
			case mixed[i] && !reached[i]:
				t.Fatalf("seed %d: rule %d is reported as reached by mixed lists, and nothing reaches it\n%s", seed, i+1, show(rules))
			case !dead[i] && !reached[i] && !(i == last && len(rules[i].conditions) == 0):
				t.Fatalf("seed %d: rule %d cannot be reached and is not reported\n%s", seed, i+1, show(rules))
			}
		}
	}
}

// needed is how many elements a list may need to get past rules that want all of
// them, and to satisfy one more.
func needed(above []naiveRule) int {
	n := 1
	for _, r := range above {
		for _, c := range r.conditions {
			if c.at.list && (c.match == "all" || c.match == "" && r.permissive()) {
				n++
			}
		}
	}
	return n
}

// listed is how many elements of lists the conditions of a rule may ask for.
func listed(r naiveRule) int {
	n := 0
	for _, c := range r.conditions {
		if c.at.list {
			n++
		}
	}
	return n
}

// Proves D25-38, K28, I25: the analysis is exact on compound rules too, as far as the
// search can write lists that get past every rule above.
func TestReachabilityOfCompounds(t *testing.T) {
	found, undecided := 0, 0
	for seed := range cases(400, 2000, 50_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 2))}
		used := []*shape{&shapes[g.IntN(len(shapes))], &shapes[g.IntN(len(shapes))]}
		if used[0] == used[1] {
			used = used[:1]
		}
		rules := g.rules(used, true)
		dead, open := reported(t, rules, diag.Unreachable), reported(t, rules, diag.NotProven)
		reached := witnesses(rules, used, 2)
		last := len(rules) - 1
		for i := range rules {
			switch {
			case dead[i] && reached[i]:
				t.Fatalf("seed %d: rule %d is reported and can be reached\n%s", seed, i+1, show(rules))
			case open[i]:
				undecided++ // the note speaks for all rules of the list
				t.Logf("seed %d: rule %d\n%s", seed, i+1, show(rules))
			case undecided > 0 && slices.Contains(open, true) || needed(rules[:i])+listed(rules[i]) > 3:
			case !dead[i] && !reached[i] && !(i == last && len(rules[i].conditions) == 0):
				t.Fatalf("seed %d: rule %d cannot be reached and is not reported\n%s", seed, i+1, show(rules))
			}
			if dead[i] && len(rules[i].conditions) > 1 {
				found++
			}
		}
	}
	if found == 0 {
		t.Error("no unreachable compound was generated")
	}
	if undecided > 0 {
		t.Errorf("%d times the analysis did not decide", undecided)
	}
}

// Proves D25-38, I25: the evaluator agrees with every witness of the analysis: the
// call is decided by exactly that rule.
func TestWitnessesReachTheirRules(t *testing.T) {
	confirmed := 0
	for seed := range cases(100, 400, 20_000) {
		g := generator{rand.New(rand.NewPCG(uint64(seed), 4))}
		used := []*shape{&shapes[g.IntN(len(shapes))], &shapes[g.IntN(len(shapes))]}
		text := asPolicy(g.rules(used, g.IntN(2) == 0))
		program, mistakes := policy.Compile([]policy.Source{{Name: "reach.toml", Text: []byte(text), Trusted: true}}, policy.Options{})
		if program == nil {
			continue // some rule is unreachable: the file is refused
		}
		p, _ := syntax.Parse("reach.toml", []byte(text))
		for _, r := range policy.Reach(p, policy.Options{}) {
			if r.Answer != match.Yes || r.Witness.Args == nil {
				continue
			}
			e := program.Bind(r.Witness).Evaluate()
			e.Feed(r.Witness.Args)
			v := e.Close(stopgate.Ended)
			switch {
			case v.Rule != nil && v.Rule.Index != r.Index, v.Rule == nil && !slices.Contains(v.Candidates, r.Index):
				t.Fatalf("seed %d: %s does not reach rule %d but %v %v\n%s%v", seed, r.Witness.Args, r.Index, v.Rule, v.Candidates, text, mistakes)
			}
			confirmed++
		}
	}
	if confirmed == 0 {
		t.Error("nothing was confirmed")
	}
	t.Logf("%d witnesses confirmed", confirmed)
}
