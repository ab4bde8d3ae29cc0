package schema

import "github.com/stopgate/stopgate/flow"

// As is how the origins of a value are compared: the kind that a schema states for it. The zero As
// is none.
type As struct {
	Kind flow.Kind
	from asFrom
}

// asFrom is where a kind is stated.
type asFrom uint8

const (
	asNone     asFrom = iota
	asFormat          // guessed by `format`
	asDeclared        // `as` of a parameter, or x-stopgate-as
)

// with combines the kinds of two schemas for one value: a declared one comes first. Two different
// ones of the same rank are none of both, but text.
func (a As) with(b As) As {
	switch {
	case b.from > a.from:
		return b
	case b.from == a.from && b.Kind != a.Kind:
		a.Kind = flow.Text
	}
	return a
}

// formatAs returns the kind of the values of a format.
func formatAs(format string) As {
	kinds := map[string]flow.Kind{
		"email": flow.Email, "idn-email": flow.Email, "uri": flow.URL, "url": flow.URL, "iri": flow.URL, "hostname": flow.Host, "idn-hostname": flow.Host,
		"path": flow.Path, "file-path": flow.Path, "directory-path": flow.Path, "date": flow.Date, "uuid": flow.ID, "phone": flow.Phone, "tel": flow.Phone, "iban": flow.IBAN,
	}
	if kind, ok := kinds[format]; ok {
		return As{kind, asFormat}
	}
	return As{}
}

// declaredAs returns the kind with a name.
func declaredAs(name string) (As, bool) {
	kind, err := flow.ParseKind(name)
	if err != nil {
		return As{}, false
	}
	return As{kind, asDeclared}, true
}

// As returns how the origins of a value here are compared: the kind that some branch states, else
// that of its annotation and its types, else text.
func (p *Location) As() flow.Kind { return p.statedAs().Kind }

// StatesAs reports whether some branch states how the origins of a value here are compared.
func (p *Location) StatesAs() bool { return p.as.from != asNone }

func (p *Location) statedAs() As {
	switch {
	case p.as.from != asNone:
		return p.as
	case p.annotation == Path:
		return As{Kind: flow.Path}
	case p.annotation == URL:
		return As{Kind: flow.URL}
	case p.types&^Null != 0 && p.types&^(Null|Number|Integer) == 0:
		return As{Kind: flow.Number}
	}
	return As{}
}

// asOf combines the kinds of the locations that a pointer reaches. An array is no value.
func asOf(locations []*Location) flow.Kind {
	var all As
	first := true
	for _, p := range locations {
		if len(locations) > 1 && p.types&^Null == Array {
			continue
		}
		if stated := p.statedAs(); first {
			all, first = stated, false
		} else {
			all = all.with(stated)
		}
	}
	return all.Kind
}
