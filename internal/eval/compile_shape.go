package eval

import (
	"github.com/stopgate/stopgate/internal/condition/index"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// shape describes the values at one location of the arguments in a view: the schema and the
// conditions there. Shapes form a graph that is walked along the events of a document; an
// evaluation only stores the shape of every open container. A nil shape has no conditions.
type shape struct {
	location *schema.Location

	// wrongObject, wrongArray and wrongScalar: the schema declares another type for this location
	// (B1, B2).
	wrongObject, wrongArray bool
	wrongScalar             typeSet

	vector bool     // an array here is one value: an argument vector
	tests  []test   // conditions on the values here
	counts []test   // min_items and max_items on an array here
	under  []int32  // sites here and below, which end with the value
	deeper []int32  // only the sites below: a scalar here has no such branch
	within []int32  // those of them that only elements of an array can reach ("*")
	needs  textNeed // floors for strings here
	// suspects are the guards that read undeclared strings here.
	suspects []suspect
	// leaf is when a value here may lack cover; simple: no pointer leads into it.
	leaf             leafTime
	simple           bool
	complete, partly looks // coverage of a value here, and of a list or object that contains others
	// analyse: a condition applies to a command here, which has to be analysable (E1 to E27);
	// redirects: one of them evaluates the files that commands read or write.
	analyse, redirects bool

	keys    map[string]*edge // declared members by all their names, and those that pointers name
	names   []named          // the same as a list, if there are few
	members []*edge          // each of them once, in schema order
	edges   []*edge          // those whose absence has an effect
	words   int              // 64-bit words for the set of present members of an object
	judges  bool             // keys that are not in keys may be undeclared or ambiguous
	object  *shape           // the shape whose keys apply to an object of the wrong type; nil: this one
	extra   *shape           // of members that are not in keys
	others  []test           // conditions on the origin of keys that are not in keys
	items   *shape           // of elements
	prefix  []*shape         // of the first elements
}

// named is an edge by one of its names.
type named struct {
	name string
	edge *edge
}

// fewNames is the maximum number of names that are compared one by one.
const fewNames = 8

// edge returns the edge of a key, nil if it has none.
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
	// class numbers the declared members: some parsers read two keys of one class as the same
	// parameter. -1 for a key of a free-form map.
	class int32
	// bit is set when the member is present, -1 if it is not needed.
	bit int32
	// absent is the effect of the member's absence on the sites at and below it. defaulted is set
	// if the schema has a default.
	absent    []absence
	defaulted bool
	// optional is set if the schema declares the member and does not require it.
	optional bool
}

// absence is the effect of a missing member on a site.
type absence struct {
	site int32
	kind absenceKind
	// found are the rules of a bundle that the default satisfies.
	found []int32
	// fixed: the schema has a default that is a value, so that the member is never without one.
	fixed bool
}

type absenceKind uint8

const (
	noValue    absenceKind = iota // a branch without a value
	byDefault                     // the schema's default is a leaf that matches (B9)
	notDefault                    // the default is a leaf that does not match
	notPresent                    // for present: certainly absent
	notGiven                      // an optional member without a value, which has no origin
)

// test is one condition at one location.
type test struct {
	site int32
	cond int32
	fits typeSet
	// wrong are the scalar types that the schema does not declare here: a permissive condition
	// ignores them (B1).
	wrong typeSet
	// many is set if several values can be at the site in any location: the test applies to
	// everything below a value of the wrong type.
	many    bool
	present bool // the condition tests the presence of a value
	origin  bool // it looks at the origin of the value
	// first is the first rule of the condition that applies to strings or objects here, or none.
	first int32
	// texts evaluate strings: one matcher, or several readings of a location whose type or
	// annotation is not certain. The first one evaluates everything else.
	texts []*match.Matcher
	// index evaluates the rules of a bundle; texts is empty then.
	index *index.Index
	// lines does for those of a bundle on command lines.
	lines *index.Lines
}

// textNeed is the set of floors for the strings at a location.
type textNeed uint8

const (
	watchControls textNeed = 1 << iota // no control character (A11)
	allowTabs                          // except tab and line feed, in commands
	watchTarget                        // protected files, as a path (K2)
	watchWords                         // the same for every word of a command
	watchFiles                         // the same for every file of a patch, which must be parsable (S40)
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

// scalarType returns the type of a value that is one event, or begins a string.
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
