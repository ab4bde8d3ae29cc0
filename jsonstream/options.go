package jsonstream

// The limits where fields of [Options] are zero.
const (
	defaultMaxDepth    = 128
	defaultMaxMembers  = 10_000
	defaultMaxValues   = 1 << 18
	defaultMaxKey      = 1 << 10
	defaultMaxBytes    = 16 << 20
	defaultMaxExponent = 1_000_000
)

// The largest values of fields of [Options].
const (
	LargestMaxDepth = 512
	LargestMaxBytes = 256 << 20

	// AnyExponent as MaxExponent disables that limit. The literal is still stored and
	// compared exactly.
	AnyExponent = -1
)

// Options are the limits of a parse. Zero means the default of a limit; a value above the
// largest counts as the largest. A text that exceeds a limit is refused with limit_exceeded
// at the byte that exceeds it.
type Options struct {
	// MaxDepth limits the nesting of arrays and objects; 128 by default.
	MaxDepth int
	// MaxMembers limits the members of one object; 10,000 by default.
	MaxMembers int
	// MaxValues limits the values of the text at all depths together: a value of two bytes
	// needs 16 on the tape of a [Document] (A18). 262,144 by default.
	MaxValues int
	// MaxKey limits the length of a decoded key in bytes; 1,024 by default.
	MaxKey int
	// MaxBytes limits the length of the whole text in bytes, white space included; 16 MiB by
	// default.
	MaxBytes int64
	// MaxExponent limits the absolute value of a written exponent, 1,000,000 by default;
	// AnyExponent means no limit.
	MaxExponent int64
	// ObjectRoot refuses every root except an object with non_object_root, at the first
	// byte of the root (A15, A16).
	ObjectRoot bool
	// RepeatedKeys accepts an object with a repeated key. It is for readers that locate a
	// part of a text, which is then evaluated separately. It must not be set for values
	// that decide or run.
	RepeatedKeys bool
}

// fill sets defaults and applies the largest values.
func (o *Options) fill() {
	if o.MaxDepth <= 0 {
		o.MaxDepth = defaultMaxDepth
	}
	if o.MaxMembers <= 0 {
		o.MaxMembers = defaultMaxMembers
	}
	if o.MaxValues <= 0 {
		o.MaxValues = defaultMaxValues
	}
	if o.MaxKey <= 0 {
		o.MaxKey = defaultMaxKey
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.MaxExponent == 0 {
		o.MaxExponent = defaultMaxExponent
	}
	o.MaxDepth = min(o.MaxDepth, LargestMaxDepth)
	o.MaxBytes = min(o.MaxBytes, LargestMaxBytes)
}
