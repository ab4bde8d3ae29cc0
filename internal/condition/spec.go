package condition

// LiteralKind is the JSON type of a literal in a rule.
type LiteralKind uint8

// The JSON types of literals. TOML has no null: a rule writes it as { null = true }.
const (
	LiteralString LiteralKind = iota + 1
	LiteralNumber
	LiteralBool
	LiteralArray
	LiteralObject
	LiteralNull
)

// Literal is a value in a rule, exactly as written.
type Literal struct {
	Kind LiteralKind
	// Text is the string's text; for a number its exact decimal literal; for a
	// boolean "true" or "false", for null "null".
	Text string
	// JSON is the canonical JSON text of the value, for every kind.
	JSON string
}

// NamesNull reports whether null is among the values of a const or enum, and whether it is the only
// one.
func (s Spec) NamesNull() (named, only bool) {
	only = len(s.Values) > 0
	for _, lit := range s.Values {
		named = named || lit.Kind == LiteralNull
		only = only && lit.Kind == LiteralNull
	}
	return named, only
}

// PresentValue is the value of present that requires an argument that is present and not null; see
// [Spec.Presence].
const PresentValue = "value"

// Presence returns the requirements of a [Present] condition: whether the argument must be present,
// and, for present = "value", not null.
func (s Spec) Presence() (there, value bool) {
	value = s.Values[0].Kind == LiteralString
	return value || s.Values[0].Text == "true", value
}

// Spec is a matcher as written in a policy file, before it is compiled for a type. The parser
// expands a named list (glob_in, const_in, ...) into Values: several values mean "any of them".
type Spec struct {
	Kind Kind
	// Definition is the row of the kind in the table of the parser, nil if the table has none.
	Definition *Definition
	Values     []Literal
	// List is the name of the list of the values, "" if they are in the rule.
	List string
	// Options are the further keys of the condition, in the order of the definition.
	Options []Setting
}

// Setting is a further key of a condition with its value.
type Setting struct {
	Key   string
	Value Literal
}

// Option returns the value of a further key; ok is false if the rule does not write it.
func (s *Spec) Option(key string) (value Literal, ok bool) {
	for i := range s.Options {
		if s.Options[i].Key == key {
			return s.Options[i].Value, true
		}
	}
	return value, false
}

// Budget is the length in bytes up to which command lines and patches are parsed. A condition on a
// longer one fails closed; it has the code matcher_budget. Strings, paths and URLs are evaluated at any
// length.
const Budget = 1 << 20
