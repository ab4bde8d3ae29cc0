package flow

import "fmt"

// Kind is how values and texts are compared: which parts of a text can be the value, and in which
// spellings.
type Kind uint8

// The kinds, as policy files name them in `as`.
const (
	Text   Kind = iota // words in their order
	ID                 // words in their order, verbatim
	Email              // the address, without its display name
	URL                // by scheme, host, port, path and query
	Host               // the host, without port and "www."
	Path               // cleaned
	Number             // by exact value
	Money              // by exact value, with the currency where it is known
	Date               // by day, where its spelling is unambiguous
	Phone              // without separators
	IBAN               // without separators
)

var kinds = [...]string{"text", "id", "email", "url", "host", "path", "number", "money", "date", "phone", "iban"}

// Kinds are the names of all kinds.
func Kinds() []string { return kinds[:] }

// String returns the name of the kind.
func (k Kind) String() string { return kinds[min(int(k), len(kinds)-1)] }

// ParseKind returns the kind of a name.
func ParseKind(name string) (Kind, error) {
	for i, k := range kinds {
		if k == name {
			return Kind(i), nil
		}
	}
	return Text, fmt.Errorf("flow: there is no kind of value %q", name)
}

// Relation is how closely a value and a part of a text must agree.
type Relation uint8

// The relations, as policy files name them in `relation`.
const (
	SameValue Relation = iota // "value": the value itself
	SameHost                  // "host": a URL with the host that was named
	Below                     // "below": a path at or below one that was named
)

// Relations are the names of all relations.
func Relations() []string { return []string{SameValue: "value", SameHost: "host", Below: "below"} }

// Query is the question where a value occurs.
type Query struct {
	Kind     Kind
	Relation Relation
	// Sources are the sources whose texts are searched; Untrusted is every text of a result that
	// has none of Trusted.
	Sources, Trusted []Source
	// Weak finds values that occur everywhere, too: short ones, small numbers, common words.
	Weak bool
	// Sure asks only whether the value certainly occurs: readings of it need not be found.
	Sure bool
	// Segments evaluates the segments of "owner/name" one by one.
	Segments bool
	// Tokens is, for [View.Carries], the number of words in a row that count as a part of a text.
	Tokens int
}

// Doubt is why it is not known where a value occurs.
type Doubt uint8

// The reasons. The zero Doubt is none.
const (
	Unreported Doubt = 1 << iota // the surface does not report the texts of a source
	Dropped                      // the session has more text than its budget
)

// Finding is the answer to a query. The zero Finding is that of a value that the model made.
type Finding struct {
	// Certain: the value occurs, as it is written, in a text of the sources.
	Certain bool
	// Possible: some reading of it does. Certain implies Possible. With a Doubt it is set, too.
	Possible bool
	Doubt    Doubt
	// Texts are the numbers of the texts in which the value certainly occurs, in ascending order;
	// at most 64. More is set if there are others. The members of one object of a
	// structured result count as one text: the number is that of the first.
	Texts []int
	More  bool
	// First is the first text of the sources in which the value certainly occurs, or else the first
	// in which a reading of it does. Its Number is 0 if there is none.
	First Ref
}

// View is the texts of a session at one moment. It is safe for concurrent use.
type View interface {
	// Find returns where a value occurs: the text of a string, or the JSON text of a number.
	Find(value []byte, q *Query) Finding
	// Carries returns whether a value holds a part of a text of the sources: q.Tokens words in a
	// row, or one word that looks like a secret. A reading may be decoded.
	Carries(value []byte, q *Query) Finding
	// Origin returns the first text of any source in which a value occurs, for explanations.
	Origin(value []byte, k Kind) Ref
	// Said reports whether the person's words match the condition `says` with this key.
	Said(key string) bool
	// Read reports whether texts of one of q.Sources, or a result of one of the tools, may have
	// been read: with untilUser only those after the person's latest message count.
	Read(q *Query, tool func(name string) bool, untilUser bool) bool
}
