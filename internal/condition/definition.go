package condition

import (
	"slices"

	"github.com/stopgate/stopgate/internal/schema"
)

// AnyType are the types of the values that conditions apply to.
const AnyType = schema.AnyType &^ schema.Null

// Definition is one kind of condition: a row of the table of kinds, and all that the parser, the
// evaluator, the proofs and the reference know of it.
type Definition struct {
	Kind Kind
	// Doc describes the kind in policy.schema.json, in one sentence.
	Doc string
	// Types are the JSON types of the values that it applies to.
	Types schema.Type
	// Reads are the annotations of the strings that it applies to, nil for all of them. Others are
	// reported with Misfit and Remedy.
	Reads          []schema.Annotation
	Misfit, Remedy string
	// Undeclared are the readings of a string without a schema.
	Undeclared []schema.Annotation
	// Values are the literals that a rule may write.
	Values Arity
	// Listed: a named list may hold the values, with the suffix "_in".
	Listed bool
	// Counts: the literal is a number of characters or of items, also where the values are strings.
	Counts bool
	// Sources: the literals name sources of texts, which the file declares or the language has.
	Sources bool
	// Excludes: the values are those that do not satisfy the condition.
	Excludes bool
	// Options are the further keys that the condition may have, which belong to no other kind.
	Options []Option
	// Verb joins the argument and the values in a sentence, "" if no sentence does.
	Verb string
	// Build compiles a condition whose literals fit Types, Reads and Values.
	Build func(Request) (Tests, *SpecError)
	// Samples returns strings that may satisfy a literal, for proofs; nil if there are none.
	Samples func(literal string) []string
}

// Option is a further key of a condition.
type Option struct {
	Key string
	// Doc describes the key in policy.schema.json, in one sentence.
	Doc string
	// Kind is the type of its value. Words are the strings that it may be, nil for any.
	Kind  LiteralKind
	Words []string
}

// AnyReading are the readings of a string that may be a text or a path.
var AnyReading = []schema.Annotation{schema.None, schema.Path}

// Arity is the number of literals of a condition.
type Arity uint8

// The arities. A named list may replace the literals of a listed kind whatever its arity.
const (
	One       Arity = iota // one literal
	OneOrMany              // one literal or an array
	Many                   // an array
)

// Request is a condition to compile.
type Request struct {
	Spec        Spec
	Target      Target
	Restrictive bool
	Env         *Env // shared by many conditions
	// CheckOnly: only the error is of interest.
	CheckOnly bool
}

// Tests are the compiled form of a condition.
type Tests struct {
	// Fits are the types of values that the tests apply to, a subset of those of the target.
	Fits   schema.Type
	Text   TextTest // nil if strings do not satisfy the condition
	Values Values
}

// Types are the types of the values at the target.
func (t *Target) Types() schema.Type {
	if t.Type == 0 {
		return AnyType
	}
	return t.Type
}

// CheckStrings checks the literals of a kind that compares strings, and the annotation of the
// strings.
func (r *Request) CheckStrings(d *Definition) *SpecError {
	for i, lit := range r.Spec.Values {
		if lit.Kind != LiteralString {
			return Invalid(i, "must be a string, not "+Describe(lit), "")
		}
	}
	if d.Reads != nil && !slices.Contains(d.Reads, r.Target.Annotation) {
		return Invalid(-1, d.Misfit, d.Remedy)
	}
	return nil
}
