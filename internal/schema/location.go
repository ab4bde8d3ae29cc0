package schema

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// Location is one location in the arguments according to a schema: the union over all branches of
// `$ref`, allOf, anyOf and oneOf (K23). Locations are immutable and comparable by pointer;
// recursion leads back to the same location.
type Location struct {
	types       Type
	annotations uint8 // a bit for each Annotation of a branch
	annotation  Annotation
	as          As
	expands     bool
	unknown     bool
	tabled      bool // some branch is declared by a parameter table
	complete    bool // including everything in it
	defaults    []jsonstream.Value

	declared  []Declared
	names     map[string]name // declared names and their aliases
	folds     map[string]int  // folded names -> index of the declared name, or several
	patterns  []*regular.Pattern
	otherKind MemberKind // kind of an undeclared key
	other     *Location  // the location of its value

	items  *Location
	prefix []*Location // by index; the last is that of all further elements
}

type name struct {
	index int
	alias bool
}

// several marks the folded form of more than one declared name.
const several = -1

// anything is the location without a schema. It contains itself.
var anything = func() *Location {
	p := &Location{types: AnyType, unknown: true, otherKind: FreeForm}
	p.other, p.items = p, p
	p.prefix = []*Location{p}
	return p
}()

// Types returns the types that a value here may have, including Null.
func (p *Location) Types() Type { return p.types }

// Nullable reports whether null is among the types.
func (p *Location) Nullable() bool { return p.types&Null != 0 }

// Annotation returns the most cautious annotation of any branch.
func (p *Location) Annotation() Annotation { return p.annotation }

// Has reports whether any branch has the annotation, for guards on a type (K0a).
func (p *Location) Has(a Annotation) bool { return p.annotations&(1<<a) != 0 }

// Vector reports whether an array here is an argument vector: one value, whose words are not
// evaluated separately (S40).
func (p *Location) Vector() bool { return p.types&Array != 0 && p.Has(Argv) }

// Seen returns the types for conditions here: those of [Location.Types], but an argument vector has
// the type of its command text.
func (p *Location) Seen() Type {
	if p.Vector() {
		return p.types&^Array | String
	}
	return p.types
}

// Expands reports whether the tool expands wildcards in the value (C15).
func (p *Location) Expands() bool { return p.expands }

// Unknown reports whether the schema does not, or not completely, describe this location and those
// below (K23). Pointers then follow the value.
func (p *Location) Unknown() bool { return p.unknown }

// Tabled reports whether a parameter table declares the value here: one of a policy file, or that
// of a known tool, and not only the schema of a request or server.
func (p *Location) Tabled() bool { return p.tabled }

// Complete reports whether a parameter table declares the value with everything in it: the table of
// a known tool has values whose structure it does not describe.
func (p *Location) Complete() bool { return p.complete }

// Defaults returns the defaults of all branches (B9).
func (p *Location) Defaults() []jsonstream.Value { return p.defaults }

// Properties returns the declared members of an object here, in source order. The caller must not
// modify the list.
func (p *Location) Properties() []Declared { return p.declared }

// Declared is one declared member of the object at a location.
type Declared struct {
	Name string
	// Required: arguments without it do not fit the schema in any branch.
	Required bool
	Location *Location
	Aliases  []string
}

// MemberKind is the kind of a key according to the schema (K24).
type MemberKind uint8

// The zero MemberKind is undeclared.
const (
	// Undeclared keys raise the floor unknown_parameter.
	Undeclared MemberKind = iota
	// Forbidden keys are undeclared and additionalProperties is false: the call
	// violates the schema (A26).
	Forbidden
	// Ambiguous keys can be read as a declared name by a tool that drops control characters or
	// stops at a NUL, or as several declared names: deny ambiguous_key (A6).
	Ambiguous
	// FreeForm keys are data: the key of a map.
	FreeForm
	// Alias is another exact name of a declared member (B6).
	Alias
	// DeclaredName is the exact name of a declared member.
	DeclaredName
)

var memberKindNames = [...]string{
	Undeclared: "undeclared", Forbidden: "forbidden", Ambiguous: "ambiguous", FreeForm: "free-form", Alias: "alias", DeclaredName: "declared",
}

// String names the kind in lower case.
func (k MemberKind) String() string {
	if int(k) < len(memberKindNames) {
		return memberKindNames[k]
	}
	return memberKindNames[Undeclared]
}

// Member is the result of a key lookup.
type Member struct {
	Kind MemberKind
	// Property is the index in [Location.Properties] of the declared member with the key, or with
	// its folded form; -1 if none. Two keys of one object with the same Property, not -1, are
	// ambiguous (A4, A5, A25, B6).
	Property int
	// Location is that of the value. It is never nil.
	Location *Location
}

// Member looks up a key of the object at p. Only undeclared keys allocate.
func (p *Location) Member(key []byte) Member {
	if n, ok := p.names[string(key)]; ok {
		kind := DeclaredName
		if n.alias {
			kind = Alias
		}
		return Member{Kind: kind, Property: n.index, Location: p.declared[n.index].Location}
	}
	m := p.Others()
	if len(p.declared) > 0 {
		p.disguised(key, &m)
	}
	if (m.Kind == Undeclared || m.Kind == Forbidden) && p.found(key) {
		m.Kind, m.Location = FreeForm, anything
	}
	return m
}

// Limits of matching member names against patterns for each undeclared key of a call. A key that
// exceeds them stays undeclared; the validator, which counts its steps, evaluates all patterns.
const (
	maxNamePatterns = 64  // size of all patterns of a location together
	maxFoundName    = 128 // bytes of a key
)

// found reports whether a pattern of patternProperties matches a key.
func (p *Location) found(key []byte) bool {
	size := 0
	for _, pattern := range p.patterns {
		if size += pattern.Size(); size > maxNamePatterns || len(key) > maxFoundName {
			return false
		}
		if pattern.Match(key) {
			return true
		}
	}
	return false
}

// Others returns the result for a key of the object at p that is undeclared, and that resembles no
// declared name or pattern.
func (p *Location) Others() Member { return Member{Kind: p.otherKind, Property: -1, Location: p.other} }

// disguised finds the declared name that some tool may read a key as.
func (p *Location) disguised(key []byte, m *Member) {
	if bare, cut := withoutControls(key); cut {
		if n, ok := p.names[string(bare)]; ok {
			m.Kind, m.Property = Ambiguous, n.index
			return
		}
		if end := bytes.IndexByte(key, 0); end > 0 { // some parsers stop there
			if n, ok := p.names[string(key[:end])]; ok {
				m.Kind, m.Property = Ambiguous, n.index
				return
			}
		}
	}
	i, ok := p.folds[fold(key)]
	switch {
	case !ok:
	case i == several:
		m.Kind = Ambiguous
	default:
		m.Property = i
	}
}

// indexNames prepares the lookup of keys.
func (p *Location) indexNames() {
	p.names = make(map[string]name, len(p.declared))
	p.folds = make(map[string]int, len(p.declared))
	add := func(text string, n name) {
		if _, taken := p.names[text]; !taken {
			p.names[text] = n
		}
		folded := fold([]byte(text))
		if i, taken := p.folds[folded]; taken && i != n.index {
			p.folds[folded] = several
			return
		}
		p.folds[folded] = n.index
	}
	for i, d := range p.declared {
		add(d.Name, name{index: i})
	}
	for i, d := range p.declared {
		for _, alias := range d.Aliases {
			add(alias, name{index: i, alias: true})
		}
	}
}

// Items returns the location of the elements of an array here, for any index. It is never nil.
func (p *Location) Items() *Location { return p.items }

// Item returns the location of the element with an index counted from 0.
func (p *Location) Item(index int) *Location { return p.prefix[min(index, len(p.prefix)-1)] }
