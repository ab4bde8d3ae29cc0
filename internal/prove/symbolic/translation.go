package symbolic

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/prove/inclusion"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// Translation turns rules that were bound to a schema into rules of package
// analysis. Several lists over one schema can share one, so that their rules
// look at the same variables.
type Translation struct {
	Env    condition.Env
	Schema *schema.Schema
	// Keyed gives rules keys, to be compared with those of another list.
	Keyed bool
	// GroupsUnknown translates conditions on groups for calls whose groups are not known: restrictive
	// ones hold then, permissive ones do not. Otherwise they are known.
	GroupsUnknown bool
	// Mixed: the rules look at commands one by one and also at whole calls, which no proof
	// covers.
	Mixed bool
	// Welcome reports the values that a witness should prefer, nil for any.
	Welcome func(annotation schema.Annotation, value analysis.Value) bool

	variables map[string]int // by the key of conditions
	names     []string       // pointers as they are written, by variable
	all       []analysis.Variable
	doubtful  map[int]bool // variables with defaults that are not understood
	pointers  []jsonstream.Pointer
	forms     []leafForm // how texts are written, by variable
	// sources are the sources that conditions name, by their place in the texts of origins.
	sources []flow.Source
	origins []originVariable
	// compared are the variables whose values some condition compares.
	compared map[int]bool
}

// New translates rules over arguments that fit a schema, with paths read against env.
func New(env condition.Env, s *schema.Schema) *Translation {
	return &Translation{Env: env, Schema: s, variables: make(map[string]int), doubtful: make(map[int]bool), compared: make(map[int]bool)}
}

// List translates one list.
func (t *Translation) List(rules []*Rule) analysis.List {
	translated := t.Rules(rules)
	list := t.Space()
	list.Rules = translated
	return list
}

// Space is a list without rules over the variables of all rules that were translated.
func (t *Translation) Space() analysis.List { return analysis.List{Variables: t.all, Covers: covers} }

// Name is the pointer of a variable as it is written.
func (t *Translation) Name(variable int) string { return t.names[variable] }

// Rules translates rules.
func (t *Translation) Rules(rules []*Rule) []analysis.Rule {
	t.commands(rules)
	list := make([]analysis.Rule, len(rules))
	conditions := make([]analysis.Condition, 0, len(rules)+len(rules)/4)
	for i, r := range rules {
		from := len(conditions)
		for _, k := range r.Bound {
			conditions = append(conditions, t.condition(k))
		}
		conditions = append(conditions, t.facts(r.When, r.Mode.Permissive())...)
		conditions = append(conditions, t.oneText(r)...)
		list[i].Conditions = conditions[from:len(conditions):len(conditions)]
		if t.Keyed {
			list[i].Key = r.same()
		}
	}
	return list
}

// same is equal for rules with the same conditions, as they are written.
func (r *Rule) same() string {
	plain := syntax.Rule{Conditions: slices.Clone(r.Conditions), Compound: r.Compound, Match: r.Match, When: r.When, SameText: r.SameText}
	if !r.Mode.Permissive() {
		plain.Mode = stopgate.Deny // the modes that suspect hold for the same calls
	} else {
		plain.Mode = stopgate.Unattended
	}
	return plain.Meaning()
}

// covers lets the matchers compare conditions that no automaton describes. They look at plain
// writing. Suspicion of a value that is read as a command, or in several ways, also holds for
// other writing, which no certainty covers.
func covers(earlier, later *analysis.Condition) regular.Answer {
	e, okE := earlier.Source.(*Condition)
	l, okL := later.Source.(*Condition)
	if !okE || !okL || len(e.Readings) == 0 || !slices.Equal(e.Readings, l.Readings) {
		return regular.NotProven
	}
	if e.Rule.Mode.Permissive() && !l.Rule.Mode.Permissive() && (len(e.Readings) > 1 || e.Readings[0] == schema.Command || e.Readings[0] == schema.Patch) {
		return regular.NotProven
	}
	return CoversPlain(e, l)
}

// CoversPlain compares two conditions for values that are plainly written.
func CoversPlain(e, l *Condition) regular.Answer {
	result := regular.Yes
	for i, m := range e.built() {
		switch inclusion.Covers(m, l.built()[i]) {
		case regular.No:
			return regular.No
		case regular.NotProven:
			result = regular.NotProven
		}
	}
	return result
}

// Vague reports a rule that a default may reach which the translation does not
// understand: a finding about it is not a proof.
func (t *Translation) Vague(r *Rule) bool {
	return !r.Mode.Permissive() && slices.ContainsFunc(r.Bound, func(k *Condition) bool { return t.doubtful[t.variables[k.Key]] })
}

// commands notes which variables are command lines. Where a call can have several,
// each is judged through the list by itself while the others have no value (K29):
// then conditions on their presence, which see the whole call, are not understood.
func (t *Translation) commands(rules []*Rule) {
	keys := make(map[string]bool)
	for _, r := range rules {
		for _, k := range r.Bound {
			if k.IsCommand() {
				keys[k.Key] = true
				t.Variable(k)
			}
		}
	}
	for key := range keys {
		v := &t.all[t.variables[key]]
		if len(keys) > 1 || v.Several {
			v.Optional = true
			t.Mixed = t.Mixed || slices.ContainsFunc(rules, func(r *Rule) bool { return r.counts(keys) })
		}
		v.Several, v.Holes = false, false
		// A line of several commands is no value that a condition could be asked about.
		if slices.ContainsFunc(v.Domain.Enum, isLineOfSeveral) {
			v.Domain.Enum = nil
		}
		if v.Default != nil && isLineOfSeveral(*v.Default) {
			v.Default, t.doubtful[t.variables[key]] = nil, true
		}
	}
}

// counts reports a condition that asks whether there are values at some keys, or how
// many.
func (r *Rule) counts(keys map[string]bool) bool {
	return slices.ContainsFunc(r.Bound, func(k *Condition) bool { return keys[k.Key] && !k.TestsLeaf() })
}

func isLineOfSeveral(v analysis.Value) bool {
	return v.Kind == analysis.Text && len(commandline.Analyse(v.Text).Simple) > 1
}

// Variable finds or makes the variable that a condition looks at.
func (t *Translation) Variable(k *Condition) int {
	if n, ok := t.variables[k.Key]; ok {
		return n
	}
	n := len(t.all)
	t.variables[k.Key] = n
	t.names = append(t.names, k.Arg.String())
	pointer, _ := jsonstream.ParsePointer(k.Reach.Expanded)
	t.pointers = append(t.pointers, pointer)
	t.forms = append(t.forms, k.form())
	v := analysis.Variable{Several: k.Several, Optional: k.Reach.Optional || k.Reach.Unknown, AtMost: -1}
	if k.Several {
		v.Holes = k.Lacks
		if !k.Reach.Unknown {
			v.Optional, v.Null = t.without(pointer)
		}
	} else {
		v.Null = slices.ContainsFunc(k.Reach.Locations, (*schema.Location).Nullable) || k.Reach.Unknown || k.form() == asVector // one without words
	}
	v.Domain = t.domain(k)
	t.arrays(k, pointer, &v)
	t.defaults(n, k, &v)
	t.all = append(t.all, v)
	return n
}

// without reports whether arguments that fit the schema may lack the first array that a
// pointer crosses, and whether it may be null.
func (t *Translation) without(pointer jsonstream.Pointer) (absent, null bool) {
	at := t.Schema.Location()
	for _, token := range pointer {
		if token == "*" && at.Types()&schema.Array != 0 {
			return absent, null || at.Nullable()
		}
		absent = absent || at.Nullable() || !slices.ContainsFunc(at.Properties(), func(d schema.Declared) bool { return d.Name == token && d.Required })
		at = at.Member([]byte(token)).Location
	}
	return true, true
}

// arrays finds the bounds of the one array that a pointer crosses at its end.
func (t *Translation) arrays(k *Condition, pointer jsonstream.Pointer, v *analysis.Variable) {
	stars := 0
	for _, token := range pointer {
		if token == "*" {
			stars++
		}
	}
	if !k.Several || k.Reach.Unknown || stars != 1 || pointer[len(pointer)-1] != "*" {
		return
	}
	v.Countable = true
	for _, n := range nodesAt(t.Schema, pointer[:len(pointer)-1]) {
		if n.MinItems != nil {
			v.AtLeast = max(v.AtLeast, *n.MinItems)
		}
		if n.MaxItems != nil && (v.AtMost < 0 || *n.MaxItems < v.AtMost) {
			v.AtMost = *n.MaxItems
		}
	}
}

// defaults finds the default of an absent value. A default further up, or one of
// several, is only noted as not understood.
func (t *Translation) defaults(n int, k *Condition, v *analysis.Variable) {
	var found []jsonstream.Value
	for _, p := range k.Reach.Locations {
		found = append(found, p.Defaults()...)
	}
	at := t.Schema.Location()
	for _, token := range t.pointers[n] {
		if len(at.Defaults()) > 0 {
			t.doubtful[n] = true
		}
		if token == "*" && at.Types()&schema.Array != 0 {
			at = at.Items()
		} else {
			at = at.Member([]byte(token)).Location
		}
	}
	switch {
	case len(found) == 1 && !v.Several:
		if value, ok := leafOf(found[0], k); ok {
			v.Default = &value
		}
		v.DefaultNull = found[0].Kind() == jsonstream.Null
	case len(found) > 0:
		t.doubtful[n] = true
	}
}

// leafOf turns a JSON value into a leaf.
func leafOf(v jsonstream.Value, k *Condition) (analysis.Value, bool) {
	switch v.Kind() {
	case jsonstream.Array:
		text, ok := vectorText(v)
		return analysis.Value{Kind: analysis.Text, Text: text}, ok && k.form() == asVector
	case jsonstream.String:
		text := v.Text()
		if k.Reach.Annotation == schema.Path {
			cleaned, _ := pathform.Clean(text)
			if cleaned != text || text == "." {
				return analysis.Value{}, false
			}
		}
		return analysis.Value{Kind: analysis.Text, Text: text}, true
	case jsonstream.Number:
		d, ok := v.Decimal()
		return analysis.Value{Kind: analysis.Number, Number: d}, ok
	case jsonstream.True, jsonstream.False:
		return analysis.Value{Kind: analysis.Boolean, True: v.Kind() == jsonstream.True}, true
	case jsonstream.Object:
		return analysis.Value{Kind: analysis.Object, Text: string(jsonstream.AppendCanonical(nil, v))}, true
	}
	return analysis.Value{}, false
}

// condition translates one condition.
func (t *Translation) condition(k *Condition) analysis.Condition {
	if k.Spec.Row().Sources {
		return t.origin(k)
	}
	out := analysis.Condition{
		AtEnd:    len(k.Readings) == 1 && k.Readings[0] == schema.Path && k.TestsLeaf(),
		Variable: t.Variable(k), All: k.All, Permissive: k.Rule.Mode.Permissive(), AtMost: -1, Source: k, Holds: k.holds,
	}
	t.compared[out.Variable] = true
	v := &t.all[out.Variable]
	switch k.Spec.Kind {
	case condition.Present:
		out.Subject = analysis.Present
		if out.Present, out.Value = k.Spec.Presence(); out.Value && v.Several && v.Null {
			out.Subject = analysis.Opaque // elements that are null are no leaves
			break
		}
		out.Set = everything
		out.Named = out.Set
		out.Holds = func(analysis.Value) bool { return true }
	case condition.MinItems, condition.MaxItems:
		n, err := strconv.Atoi(k.Spec.Values[0].Text)
		switch {
		case err != nil || !v.Countable:
			out.Subject = analysis.Opaque
		case k.Spec.Kind == condition.MinItems:
			out.Subject, out.AtLeast = analysis.Count, n
		default:
			out.Subject, out.AtMost = analysis.Count, n
		}
	default:
		if out.Null, _ = k.Spec.NamesNull(); out.Null && v.Several { // elements that are null are no leaves
			out.Subject = analysis.Opaque
			break
		}
		out.Set, out.Named = k.sets()
		if !out.Set.Every && out.Set.Texts.Open || out.Set.Texts.Languages != nil {
			out.Key = t.sameKey(k)
		}
	}
	return out
}

var everything = &analysis.Set{Every: true}

// sameKey is equal for conditions that hold for the same leaves.
func (t *Translation) sameKey(k *Condition) string {
	key := fmt.Sprintf("%v %t %t %t", k.Spec.Kind, k.Rule.Mode.Permissive(), k.Target.ReadsJudged, k.Target.WritesJudged)
	for _, lit := range k.Spec.Values {
		key += "\x00" + lit.JSON
	}
	for _, o := range k.Spec.Options {
		key += "\x00" + o.Key + "=" + o.Value.JSON
	}
	return key
}
