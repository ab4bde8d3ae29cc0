package condition

import "github.com/stopgate/stopgate/internal/schema"

// Protection is how a value touches the protected list. Larger values are stricter.
type Protection uint8

// The zero Protection is that of a value that touches no protected target.
const (
	Unprotected   Protection = iota
	UnknownTarget            // floor ask path_not_known: it may be a path of the list
	AskedTarget              // floor ask protected_target (K2, H20)
	DeniedTarget             // the gate's own state: deny (S4)
)

// Protected is the list of targets that no rule may let a call change unasked (K2, S4).
type Protected interface {
	// Judge evaluates a string as a path, a command line or a patch. unknown are the unknown facts
	// of an [UnknownTarget]: none if its length leaves out readings.
	Judge(v *Value, as schema.Annotation) (p Protection, unknown Unknown)
}
