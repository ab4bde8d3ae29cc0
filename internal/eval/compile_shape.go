package eval

import (
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// shape is what a view knows about the values at one place of the arguments: what
// the schema says and which conditions look there. Shapes form a graph that is
// walked along the events of a document; an evaluation only remembers where in it
// every open container stands. A nil shape has nothing to look at.
type shape struct {
	place *schema.Place

	// wrongObject, wrongArray and wrongScalar say that the schema knows the type of
	// this place and it is not that one (B1, B2).
	wrongObject, wrongArray bool
	wrongScalar             typeSet

	vector bool     // an array here is one value: an argument vector
	tests  []test   // conditions that look at the values here
	counts []test   // min_items and max_items on an array here
	under  []int32  // sites here and below: the end of a value ends them
	deeper []int32  // the sites below alone: a scalar here has no such branch
	within []int32  // those of them that only elements of an array can reach ("*")
	needs  textNeed // floors on strings here
	// suspects are the guards that read strings here although nobody declares them.
	suspects []suspect
	// leaf says when a value here may lack cover; simple: no pointer leads into it.
	leaf          leafTime
	simple        bool
	whole, partly looks // what covers a value here, and a list or an object that holds others
	// analyse: a condition looks at a command here, which has to be analysable (E1 to
	// E27); redirects: one of them judges what commands read or write.
	analyse, redirects bool

	keys    map[string]*edge // declared members by all their names, and those that pointers name
	names   []named          // the same as a list, where there are few
	members []*edge          // each of them once, in the order of the schema
	edges   []*edge          // those whose absence means something
	words   int              // 64-bit words that note which members of an object were seen
	judges  bool             // keys that are not in keys may be undeclared or ambiguous
	object  *shape           // whose keys an object of the wrong type has; nil: its own
	extra   *shape           // of members that are not in keys
	items   *shape           // of elements
	prefix  []*shape         // of the first elements
}

// named is an edge by one of its names.
type named struct {
	name string
	edge *edge
}

// fewNames is up to how many names are compared one by one.
const fewNames = 8

// edge is the edge of a key, nil if nothing is known of it.
func (s *shape) edge(key []byte) *edge {
	if len(s.names) > fewNames {
		return s.keys[string(key)]
	}
	for i := range s.names {
		if n := &s.names[i]; n.name == string(key) {
			return n.edge
		}
	}
	return nil
}

// edge leads from an object to a member.
type edge struct {
	to *shape
	// class numbers the declared members: two keys of one class are read as one
	// parameter by somebody. -1 for a key of a free-form map.
	class int32
	// bit notes that the member is there, -1 if nothing depends on it.
	bit int32
	// absent is what the member's absence does to the sites at and below it. defaulted
	// says that the schema gives the member a default.
	absent    []absence
	defaulted bool
}

// absence is the effect of a missing member on a site.
type absence struct {
	site int32
	kind absenceKind
	// found are the rules of a bundle that the default satisfies.
	found []int32
}

type absenceKind uint8

const (
	noValue    absenceKind = iota // a branch without a value
	byDefault                     // the schema's default is a leaf that matches (B9)
	notDefault                    // the default is a leaf that does not match
	notPresent                    // for present: surely not there
)

// test is one condition at one place.
type test struct {
	site int32
	cond int32
	fits typeSet
	// wrong are the scalars of a type that the schema does not declare here: a permissive
	// condition does not look at them (B1).
	wrong typeSet
	// many says that several values can stand at the site whatever the place: the
	// test looks at everything below a value of the wrong type.
	many    bool
	present bool // the condition asks whether a value is there, not which
	// first is the first rule of the condition that looks at strings or objects here, or none.
	first int32
	// texts judge strings: one matcher, or several readings of a place whose type
	// or annotation is not certain. The first one judges everything else.
	texts []*match.Matcher
	// index judges the rules of a bundle; texts is empty then.
	index *index.Index
}

// textNeed says which floors watch the strings at a place.
type textNeed uint8

const (
	watchControls textNeed = 1 << iota // no control character (A11)
	allowTabs                          // but tab and line feed, in commands
	watchTarget                        // protected files, as a path (K2)
	watchWords                         // the same for every word of a command
	watchFiles                         // the same for every file of a patch, which has to be readable (S40)
)

// typeSet is a set of kinds of JSON values.
type typeSet uint8

const (
	stringType typeSet = 1 << iota
	numberType
	booleanType
	objectType
	arrayType
	nullType
)

// typesOf reduces the types of a schema to kinds of values.
func typesOf(t schema.Type) typeSet {
	var set typeSet
	for _, m := range []struct {
		from schema.Type
		to   typeSet
	}{
		{schema.String, stringType}, {schema.Number | schema.Integer, numberType}, {schema.Boolean, booleanType},
		{schema.Object, objectType}, {schema.Array, arrayType}, {schema.Null, nullType},
	} {
		if t&m.from != 0 {
			set |= m.to
		}
	}
	return set
}

// scalarType is the type of a value that is one event, or begins a string.
func scalarType(k jsonstream.Kind) typeSet {
	switch k {
	case jsonstream.StringStart:
		return stringType
	case jsonstream.Number:
		return numberType
	case jsonstream.True, jsonstream.False:
		return booleanType
	}
	return nullType
}
