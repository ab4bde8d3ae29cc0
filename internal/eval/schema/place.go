package schema

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/regexp/regular"
	"github.com/stopgate/stopgate/jsonstream"
)

// Place is what a schema says about one place in the arguments: the union over
// all branches of `$ref`, allOf, anyOf and oneOf (K23). Places are immutable and
// comparable by pointer; recursion leads back to the same place.
type Place struct {
	types       Type
	annotations uint8 // a bit for each Annotation of a branch
	annotation  Annotation
	expands     bool
	unknown     bool
	tabled      bool // some branch is declared by a parameter table
	whole       bool // with all that is in it
	defaults    []jsonstream.Value

	declared  []Declared
	names     map[string]name // declared names and their aliases
	folds     map[string]int  // folded names -> declared, or several
	patterns  []*regular.Pattern
	otherKind MemberKind // what a key is that nothing declares
	other     *Place     // where its value goes

	items  *Place
	prefix []*Place // by index; the last is that of all elements behind
}

type name struct {
	index int
	alias bool
}

// several marks a fold that more than one declared name has.
const several = -1

// anything is the place about which no schema says anything. It contains itself.
var anything = func() *Place {
	p := &Place{types: AnyType, unknown: true, otherKind: FreeForm}
	p.other, p.items = p, p
	p.prefix = []*Place{p}
	return p
}()

// Types returns the types a value here may have, Null included.
func (p *Place) Types() Type { return p.types }

// Annotation returns the most cautious annotation of any branch.
func (p *Place) Annotation() Annotation { return p.annotation }

// Has reports whether any branch carries the annotation: what guards on a type
// look at (K0a).
func (p *Place) Has(a Annotation) bool { return p.annotations&(1<<a) != 0 }

// Vector reports whether an array here is an argument vector: one value, whose words are
// not looked at by themselves (S40).
func (p *Place) Vector() bool { return p.types&Array != 0 && p.Has(Argv) }

// Seen returns the types of what conditions see here: those of [Place.Types], but an
// argument vector is seen as the text of a command.
func (p *Place) Seen() Type {
	if p.Vector() {
		return p.types&^Array | String
	}
	return p.types
}

// Expands reports whether the tool expands wildcards in the value (C15).
func (p *Place) Expands() bool { return p.expands }

// Unknown reports that the schema does not say, or not fully, what is here and
// below (K23). Pointers then follow the value.
func (p *Place) Unknown() bool { return p.unknown }

// Tabled reports whether a parameter table declares the value here: one of a policy file,
// or that of a known tool. What only the schema of a request or server declares is not.
func (p *Place) Tabled() bool { return p.tabled }

// Whole reports whether a parameter table declares the value with all that is in it: the table
// of a known tool names values of which it does not say what they are made of.
func (p *Place) Whole() bool { return p.whole }

// Defaults returns the values that branches give for an absent value (B9).
func (p *Place) Defaults() []jsonstream.Value { return p.defaults }

// Properties returns the declared members of an object here, in source order.
// The caller must not change the list.
func (p *Place) Properties() []Declared { return p.declared }

// Declared is one declared member of the object at a place.
type Declared struct {
	Name string
	// Required: arguments without it do not fit the schema, whatever the branch.
	Required bool
	Place    *Place
	Aliases  []string
}

// MemberKind says what a key is to the schema (K24).
type MemberKind uint8

// The zero MemberKind is undeclared.
const (
	// Undeclared keys raise the floor unknown_parameter.
	Undeclared MemberKind = iota
	// Forbidden keys are undeclared and additionalProperties is false: the call
	// violates the schema (A26).
	Forbidden
	// Ambiguous keys can be read as a declared name by a tool that drops control
	// characters or stops at a NUL, or as several declared names: deny ambiguous_key (A6).
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

// Member is the answer to a key.
type Member struct {
	Kind MemberKind
	// Property is the index in [Place.Properties] of the declared member that the
	// key is, or that it folds to; -1 if none. Two keys of one object with the same
	// Property, not -1, are ambiguous (A4, A5, A25, B6).
	Property int
	// Place is where the value goes. It is never nil.
	Place *Place
}

// Member says what a key of the object at p is. Only keys that nothing declares
// allocate.
func (p *Place) Member(key []byte) Member {
	if n, ok := p.names[string(key)]; ok {
		kind := DeclaredName
		if n.alias {
			kind = Alias
		}
		return Member{Kind: kind, Property: n.index, Place: p.declared[n.index].Place}
	}
	m := p.Others()
	if len(p.declared) > 0 {
		p.disguised(key, &m)
	}
	if (m.Kind == Undeclared || m.Kind == Forbidden) && p.found(key) {
		m.Kind, m.Place = FreeForm, anything
	}
	return m
}

// Patterns of member names are tried for each undeclared key of a call. What is
// longer than these stays undeclared; the validator, which counts its steps, looks
// at all.
const (
	maxNamePatterns = 64  // size of all patterns of a place together
	maxFoundName    = 128 // bytes of a key
)

// found reports whether one of patternProperties' patterns finds a key.
func (p *Place) found(key []byte) bool {
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

// Others says what a key of the object at p is that nothing declares, and that no
// declared name or pattern resembles.
func (p *Place) Others() Member { return Member{Kind: p.otherKind, Property: -1, Place: p.other} }

// disguised finds the declared name that a key can be read as.
func (p *Place) disguised(key []byte, m *Member) {
	if bare, cut := withoutControls(key); cut {
		if n, ok := p.names[string(bare)]; ok {
			m.Kind, m.Property = Ambiguous, n.index
			return
		}
		if end := bytes.IndexByte(key, 0); end > 0 { // some readers stop there
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
func (p *Place) indexNames() {
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

// Items returns the place of the elements of an array here, whatever their
// index. It is never nil.
func (p *Place) Items() *Place { return p.items }

// Item returns the place of the element with an index counted from 0.
func (p *Place) Item(index int) *Place { return p.prefix[min(index, len(p.prefix)-1)] }
