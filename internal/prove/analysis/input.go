package analysis

import (
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// Kind is the kind of a leaf value. Null is not one: it is the absence of a value.
type Kind uint8

// The kinds of leaves.
const (
	Text Kind = iota + 1
	Number
	Boolean
	Object
)

// Value is one leaf.
type Value struct {
	Kind   Kind
	Text   string // of a text; the canonical JSON of an object
	Number jsonstream.Decimal
	True   bool
}

// Language is a set of texts.
type Language struct {
	// Key identifies the value that the language was made from, nil if it is not known: a
	// language of a condition's Named is a subset of the one with the same key in its Set.
	Key any
	// Walkers makes automata whose union it is, when they are needed; none if they would be
	// too large.
	Walkers func() []automaton.Walker
}

// Texts is a set of texts: literals, everything that begins with one of some
// beginnings, and languages.
type Texts struct {
	Exact []string
	Below []string
	// Folded: Exact and Below have no upper case, and a text is
	// compared without its ASCII case.
	Folded bool
	// Languages hold further texts: those in one of them, or if All is set those in all.
	Languages []Language
	All       bool
	// Language is the union of the languages, for running many at once; nil
	// if there is none. CaseToo: a text without its ASCII case may be in it
	// instead of the text.
	Language func() *regular.Language
	CaseToo  bool
	// Contains is a literal that is part of every text of the languages, in lower case if
	// CaseToo is set, "" if none is known.
	Contains string
	// Keys are the keys that [Domain.Key] has for the texts of the set, nil if they are not
	// known.
	Keys []string
	// Part is a literal that is part of every text of the set that has a key, "" if none is known.
	Part string
	// Samples are texts that are probably in the languages: they are tried before a search.
	Samples func() []string
	// Head is the beginning of every text of the languages (compared without case if
	// Folded is set), "" if none is known.
	Head string
	// Open: the set may hold more texts than these.
	Open bool
}

// literal reports a set that Exact and Below describe.
func (t *Texts) literal() bool { return t.Languages == nil && !t.Open }

// Set is a set of leaves.
type Set struct {
	Every     bool // all leaves of all kinds
	Texts     Texts
	Intervals []Interval
	True      bool // holds the boolean true
	False     bool
	Objects   []string // canonical JSON texts
}

// Subject is the property that a condition tests.
type Subject uint8

// The subjects of conditions.
const (
	Leaves  Subject = iota // the values of the leaves
	Present                // whether there are leaves
	Count                  // how many elements the one array has
	Opaque                 // something that this package cannot reason about
)

// Condition is one condition on one variable.
type Condition struct {
	Variable int
	Subject  Subject
	// All: every leaf has to be in the set, and no branch may lack one; otherwise one
	// leaf in the set is enough.
	All bool
	// Permissive conditions take a default and null for no value; the others take
	// them for a value and for none (K5, B9).
	Permissive bool
	// Null: the condition names null. It holds for null, and for an absent value with
	// the default null also if it is permissive.
	Null bool
	// AtEnd: the condition is answered where its value ends, at the same time as all others
	// on it that are.
	AtEnd bool
	// Set holds the leaves that satisfy the condition, or some of them if it is open:
	// the values that the condition takes from the rules below.
	Set *Set
	// Named holds the leaves for which the condition was written, without the further
	// spellings that a suspicious one also catches: where a witness is looked for.
	Named *Set
	// Holds reports whether the condition accepts a leaf. It is not called if literals decide.
	Holds func(Value) bool
	// Present: whether a condition on presence requires a value. AtLeast and AtMost bound a count.
	Present         bool
	AtLeast, AtMost int
	// Value: a condition on presence that null does not satisfy.
	Value bool
	// Key is equal for conditions with the same meaning, "" if that is not known.
	Key string
	// Source is the caller's own; Covers gets it back.
	Source any
}

// Rule is a rule of a list: it matches if all its conditions hold.
type Rule struct {
	Conditions []Condition
	// Skip leaves the rule out, as if it were not written.
	Skip bool
	// Key is equal for rules with the same conditions, "" if that is not known.
	Key string
}

// Variable is a pointer that rules look at, with the values that it may have.
type Variable struct {
	// Several: there may be more than one leaf.
	Several bool
	// Optional: there may be none at all. Holes: of several branches one may lack its
	// leaf. Null: a leaf may be null.
	Optional, Holes, Null bool
	// Default replaces an absent value, nil if there is none.
	Default *Value
	// DefaultNull: null replaces an absent value.
	DefaultNull bool
	// Domain holds the values that a leaf may have. Where it is open in a kind it
	// holds all of that kind.
	Domain Domain
	// AtLeast and AtMost bound the number of elements of the one array; AtMost is -1
	// without a bound. Countable: there is only one array.
	AtLeast, AtMost int
	Countable       bool
}

// Domain is the set of values that a schema allows at a pointer.
type Domain struct {
	Text, Number, Boolean, Object bool // the kinds
	// Enum are the only values there are, nil if there is no such list.
	Enum []Value
	// Languages makes the walkers that all texts have to be in; Outside those that
	// they must not be in.
	Languages func() (inside, outside []automaton.Walker)
	// Intervals hold the numbers, nil for all; Whole leaves the integers of them.
	Intervals []Interval
	Whole     bool
	// Odd reports a text that conditions may compare in other forms than as it is
	// written, so that their literals do not decide. Nil if there is none.
	Odd func(string) bool
	// Key returns the key of a text for sets with keys. It reports false for a text that
	// may be in any of them. Nil if there are none.
	Key func(string) (string, bool)
	// Admits asks whether a value is in the domain, nil for all.
	Admits func(Value) bool
	// Welcome is asked before a value that the domain admits is taken as a witness,
	// nil for all; values that are not are taken only if there are no others.
	Welcome func(Value) bool
}

// List is an ordered list of rules over some variables.
type List struct {
	Variables []Variable
	Rules     []Rule
	// Covers reports whether all values that a condition names also satisfy an earlier one,
	// for sets that no walker describes. It may be nil.
	Covers func(earlier, later *Condition) regular.Answer
}

// Budget bounds the work of an analysis.
type Budget struct {
	// States is how many states of multiplied automata are looked at in one search,
	// AllStates in all. Branches is how many ways around rules with several
	// conditions are tried for one rule. Pairs is how often Covers is asked. Zero
	// takes the default.
	States, AllStates, Branches, Pairs int
	// Cells is how many pairs of rules are compared.
	Cells int
}

func (b Budget) orDefault() Budget {
	for _, f := range []struct {
		field *int
		value int
	}{{&b.States, 20_000}, {&b.AllStates, 1_000_000}, {&b.Branches, 400}, {&b.Pairs, 2_000}, {&b.Cells, 200_000}} {
		if *f.field == 0 {
			*f.field = f.value
		}
	}
	return b
}
