package jsonstream

// Limits that hold where [Options] leaves a field zero, and the largest values
// that it can set (THREATS 2.2).
const (
	DefaultMaxDepth    = 128
	DefaultMaxMembers  = 10_000
	DefaultMaxValues   = 1 << 18
	DefaultMaxKey      = 1 << 10
	DefaultMaxBytes    = 16 << 20
	DefaultMaxExponent = 1_000_000

	LargestMaxDepth = 512
	LargestMaxBytes = 256 << 20

	// AnyExponent as MaxExponent switches that limit off. The literal is kept
	// and compared exactly all the same.
	AnyExponent = -1
)

// Options are the limits of a parse. The zero value is the default of every
// limit; a value above the largest is taken as the largest. What exceeds a limit
// is refused with limit_exceeded at the byte that exceeds it.
type Options struct {
	// MaxDepth is how deep arrays and objects may nest.
	MaxDepth int
	// MaxMembers is how many members one object may have.
	MaxMembers int
	// MaxValues is how many values the text may have at all depths together: one
	// of two bytes takes 16 on the tape of a [Document] (THREATS A18).
	MaxValues int
	// MaxKey is the length of a key in bytes, decoded.
	MaxKey int
	// MaxBytes is the length of the whole text in bytes, white space included.
	MaxBytes int64
	// MaxExponent is the largest absolute exponent that a number may be written
	// with; AnyExponent for no limit.
	MaxExponent int64
	// ObjectRoot refuses every root but an object with non_object_root, at the
	// first byte of the root (THREATS A15, A16).
	ObjectRoot bool
	// RepeatedKeys accepts an object that has a key twice. It is for a reader that
	// must find the way to a part of a text which is judged by itself: nothing that
	// runs or decides may be read with it.
	RepeatedKeys bool
}

// fill fills the defaults in and applies the maxima.
func (o *Options) fill() {
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	if o.MaxMembers <= 0 {
		o.MaxMembers = DefaultMaxMembers
	}
	if o.MaxValues <= 0 {
		o.MaxValues = DefaultMaxValues
	}
	if o.MaxKey <= 0 {
		o.MaxKey = DefaultMaxKey
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = DefaultMaxBytes
	}
	if o.MaxExponent == 0 {
		o.MaxExponent = DefaultMaxExponent
	}
	o.MaxDepth = min(o.MaxDepth, LargestMaxDepth)
	o.MaxBytes = min(o.MaxBytes, LargestMaxBytes)
}
