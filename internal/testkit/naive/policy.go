package naive

import (
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/testkit/naiveflow"
)

// Policy is what decides about one tool: the layers of K35, each with
// its own view of the tool's schema.
type Policy struct {
	Layers []Layer
	Root   string // project root and home directory, "" if there is none (K19)
	Home   string
	Agent  string   // who calls
	Groups []string // of the caller, nil if they are not known
	Data   *Node    // the session's data, nil if nobody knows it

	Texts  *naiveflow.View // those of the session, nil if they are not known
	Effect bool            // the tool has one
	Flows  []Flow
}

// Layer is one policy file, reduced to one tool.
type Layer struct {
	Untrusted bool
	Speaks    bool   // it has a table for the tool; otherwise it only objects (S2)
	Rules     []Rule // its list
	Guards    []Rule
	Schema    *Schema // nil: unknown
	Unknown   string  // unknown_params: "ask" (also if empty), "deny" or "allow"
	OnSchema  string  // on_schema_violation: "deny" (also if empty) or "ask"
	Uncovered string  // uncovered: "ask" (also if empty), "deny" or "allow"
}

// Rule is one rule or guard. No conditions: it is a catch-all.
type Rule struct {
	All  []Cond
	Mode string
	When *When // nil: always
	// SameText: one text has the values of all conditions with from.
	SameText bool

	absent bool // When does not hold
}

// Cond is one condition of a rule.
type Cond struct {
	Arg    []string // pointer tokens, "*" crosses an array
	On     string   // guards: "path", "command", "url" or "string" instead
	Match  string   // "any", "all", or "" for the default of the rule's mode
	Kind   string   // the matcher's key in the policy file
	Values []*Node  // what it compares with; several mean any of them

	Relation       flow.Relation // of from and not_from, as the next two
	Weak, Segments bool
	Tokens         int  // of carries
	Ignores        bool // unknown = "ignore" of carries
}

// Schema describes a value. The zero Schema allows everything.
type Schema struct {
	Types      []string // none: any type
	Annotation string   // "path", "command", "url", "patch", "argv" of an array, or ""
	Props      []Prop
	Extra      *Schema   // additionalProperties as a schema
	Closed     bool      // additionalProperties = false
	Items      *Schema   // of an array
	AnyOf      []*Schema // alternatives; the fields above must be zero then
	Enum       []*Node
	Minimum    string // a number's literal, "" for none
	MaxLength  int    // in code points, 0 for none
	MinItems   int
	Default    *Node
	Requested  bool // only the request's schema says it, no parameter table
	As         string
}

// Prop is one property.
type Prop struct {
	Name     string
	Aliases  []string
	Required bool
	Schema   *Schema
}

// Verdict is a verdict and the byte at which it became known.
type Verdict struct {
	Mode  string // "" while waiting
	Code  string
	Layer string // "integrity", "floor", "guard" or "rules"
	File  int    // the layer whose list or guard decided
	Guard int    // which guard of it
	Rule  int    // which rule; -1: none by itself
	// Candidates are the rules that may turn out to have decided; -1 is the
	// implicit ask (K9).
	Candidates []int
	At         int
	Floors     int // how many floors are known
}

// modes from strictest to weakest.
var modes = map[string]int{"deny": 0, "skip": 1, "edit": 2, "ask": 3, "unattended": 4}

// stricter returns the stricter of two modes.
func stricter(a, b string) string {
	if modes[b] < modes[a] {
		return b
	}
	return a
}

func terminal(mode string) bool { return mode == "deny" || mode == "skip" }

// branches lists the alternatives of a schema that are not alternatives
// themselves.
func (s *Schema) branches() []*Schema {
	if s == nil {
		return nil
	}
	if len(s.AnyOf) == 0 {
		return []*Schema{s}
	}
	var all []*Schema
	for _, b := range s.AnyOf {
		all = append(all, b.branches()...)
	}
	return all
}

// view is the set of schemas that may describe a value: empty if nothing is known.
type view []*Schema

func viewOf(s *Schema) view { return s.branches() }

// declares reports whether some schema names the type; known whether any does.
func (v view) declares(kind string) (declared, known bool) {
	for _, s := range v {
		for _, t := range s.Types {
			known = true
			if t == kind || t == "integer" && kind == Number {
				declared = true
			}
		}
	}
	return declared, known
}

// wrong reports whether a container is none that the schema declares here.
func (v view) wrong(kind string) bool {
	declared, known := v.declares(kind)
	return known && !declared
}

func (v view) items() view {
	var items view
	for _, s := range v {
		items = append(items, viewOf(s.Items)...)
	}
	return items
}

// property finds the declared property that a key names.
func (s *Schema) property(key string) *Prop {
	for i, p := range s.Props {
		if p.Name == key {
			return &s.Props[i]
		}
		for _, a := range p.Aliases {
			if a == key {
				return &s.Props[i]
			}
		}
	}
	return nil
}

// key returns the view of a member's value and whether the key is undeclared: some
// schema lists properties or closes the object, and none knows this one (K24).
func (v view) key(key string) (member view, undeclared bool) {
	known := false
	for _, s := range v {
		p := s.property(key)
		switch {
		case p != nil:
			member, known = append(member, viewOf(p.Schema)...), true
		case s.Extra != nil:
			member, known = append(member, viewOf(s.Extra)...), true
		case len(s.Props) > 0 || s.Closed:
			undeclared = true
		}
	}
	return member, undeclared && !known
}

// leaves are the schemas that a pointer which ends here may mean: those of the
// value, and where it may be an array those of its elements (K22).
func (v view) leaves() view {
	if list, _ := v.declares(Array); !list || len(v.items()) == 0 || v.vector() {
		return v
	}
	return append(v[:len(v):len(v)], v.items().leaves()...)
}

// objects is where the members of an object in the wrong place may belong: to the
// elements of the array that is declared, nil if it holds no objects.
func (v view) objects() view {
	list, _ := v.declares(Array)
	for items := v.items(); list && len(items) > 0; items = items.items() {
		if declared, known := items.declares(Object); declared || !known {
			return items
		}
	}
	return nil
}

// annotations lists the annotations of the strings of a view; none of them is "",
// unless no string is annotated.
func (v view) annotations() []string {
	var all []string
	text := false
	for _, s := range v.leaves() {
		if s.Annotation == "argv" {
			all, text = append(all, "command"), true // also a string in its place
		}
		for _, t := range s.Types {
			text = text || t == String
			if t == String && s.Annotation != "" {
				all = append(all, s.Annotation)
			}
		}
	}
	if text && len(all) == 0 {
		all = []string{""}
	}
	return all
}
