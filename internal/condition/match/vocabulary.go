package match

import "github.com/stopgate/stopgate/internal/condition"

// The vocabulary of package condition, so that callers of this package import one package.
type (
	Kind        = condition.Kind
	Spec        = condition.Spec
	Literal     = condition.Literal
	LiteralKind = condition.LiteralKind
	SpecError   = condition.SpecError
	Target      = condition.Target
	Env         = condition.Env
	Links       = condition.Links
	Settings    = condition.Settings
	Moved       = condition.Moved
	State       = condition.State
	Result      = condition.Result
)

// The kinds that callers know by name.
const (
	Const            = condition.Const
	Enum             = condition.Enum
	Pattern          = condition.Pattern
	Prefix           = condition.Prefix
	Suffix           = condition.Suffix
	Glob             = condition.Glob
	Minimum          = condition.Minimum
	Maximum          = condition.Maximum
	ExclusiveMinimum = condition.ExclusiveMinimum
	ExclusiveMaximum = condition.ExclusiveMaximum
	Present          = condition.Present
	MinItems         = condition.MinItems
	MaxItems         = condition.MaxItems
	MaxLength        = condition.MaxLength
	Host             = condition.Host
	Scheme           = condition.Scheme
	Usage            = condition.Usage
	Reads            = condition.Reads
	Writes           = condition.Writes
	Outside          = condition.Outside
)

// The JSON types of literals.
const (
	LiteralString = condition.LiteralString
	LiteralNumber = condition.LiteralNumber
	LiteralBool   = condition.LiteralBool
	LiteralArray  = condition.LiteralArray
	LiteralObject = condition.LiteralObject
	LiteralNull   = condition.LiteralNull
	PresentValue  = condition.PresentValue
)

// Budget is [condition.Budget].
const Budget = condition.Budget

// The results of a condition on a string.
const (
	Undecided = condition.Undecided
	Hit       = condition.Hit
	Miss      = condition.Miss
)
