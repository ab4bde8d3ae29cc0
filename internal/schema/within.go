package schema

// Within returns a location and, if it may be an array, the locations of its elements: those that a
// pointer that ends here applies to (K22).
func (p *Location) Within() []*Location {
	all := []*Location{p}
	for p.Types() != AnyType && p.Types()&Array != 0 && !p.Vector() {
		next := p.Items()
		for _, q := range all {
			if q == next {
				return all
			}
		}
		p = next
		all = append(all, p)
	}
	return all
}

// HasWithin reports whether a location or its elements have an annotation.
func (p *Location) HasWithin(a Annotation) bool {
	for _, q := range p.Within() {
		if q.Has(a) {
			return true
		}
	}
	return false
}

// Runs reports whether the values at a location are run: command lines, or argument vectors, which
// conditions evaluate as command lines of one command.
func (p *Location) Runs() bool { return p.HasWithin(Command) || p.HasWithin(Argv) }

// Guarded reports whether the strings at a location are of the type that a guard names; plain
// strings are those of no other type, and those of an unknown one. A guard on paths also evaluates
// those that a command reads or writes (K0a), and those of a patch (S40).
func (p *Location) Guarded(on string) bool {
	switch on {
	case "string":
	case "command":
		return p.Runs()
	case "path":
		return p.HasWithin(Path) || p.Runs() || p.HasWithin(Patch)
	default:
		a, _ := ParseAnnotation(on)
		return p.HasWithin(a)
	}
	for _, q := range p.Within() {
		if q.Types()&String != 0 && q.Annotation() == None {
			return true
		}
	}
	return false
}
