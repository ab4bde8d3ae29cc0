package condition

// Kind is a kind of condition: its key in policy files. The zero Kind is none.
type Kind string

// The kinds that other packages know by name. The table of package kinds defines all kinds.
const (
	Const            Kind = "const"
	Enum             Kind = "enum"
	Pattern          Kind = "pattern"
	Prefix           Kind = "prefix"
	Suffix           Kind = "suffix"
	Glob             Kind = "glob"
	Minimum          Kind = "minimum"
	Maximum          Kind = "maximum"
	ExclusiveMinimum Kind = "exclusive_minimum"
	ExclusiveMaximum Kind = "exclusive_maximum"
	Present          Kind = "present"
	MinItems         Kind = "min_items"
	MaxItems         Kind = "max_items"
	MaxLength        Kind = "max_length"
	Host             Kind = "host"
	Scheme           Kind = "scheme"
	Usage            Kind = "usage"
	Reads            Kind = "reads"
	Writes           Kind = "writes"
	Outside          Kind = "outside"
	From             Kind = "from"
	NotFrom          Kind = "not_from"
	Carries          Kind = "carries"
)

// String returns the key, "none" for the zero Kind.
func (k Kind) String() string {
	if k == "" {
		return "none"
	}
	return string(k)
}

// IsRange reports whether a condition compares a number with a limit.
func (k Kind) IsRange() bool {
	return k == Minimum || k == Maximum || k == ExclusiveMinimum || k == ExclusiveMaximum
}
