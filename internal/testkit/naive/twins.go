package naive

// Twin is the second opinion of a kind of condition that is a package of its own, and the
// vocabulary from which tests draw. Its literals and values are few, so that it may know them by
// heart.
type Twin struct {
	Literals []string
	// Values are strings, by the annotation of their parameter: "" or "url".
	Values map[string][]string
	// Holds judges a complete string by one literal.
	Holds func(literal, value, annotation string, permissive bool) bool
	// Begins says of a plain string whether it can still satisfy a permissive condition if it
	// begins so. A restrictive one is judged at the end.
	Begins func(literal, begun string) bool
}

// Twins are the twins by the key of their kind. A kind of package condition that is a package has
// one.
var Twins = map[string]Twin{
	"cidr": cidr,
}
