package schema

// Within lists a place and, where it may be an array, the places of its elements: what a
// pointer that ends here may look at (K22).
func (p *Place) Within() []*Place {
	all := []*Place{p}
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

// HasWithin reports whether a place or the elements it may hold carry an annotation.
func (p *Place) HasWithin(a Annotation) bool {
	for _, q := range p.Within() {
		if q.Has(a) {
			return true
		}
	}
	return false
}

// Runs reports whether the values at a place are run: command lines, or argument vectors,
// which conditions see as command lines of one command.
func (p *Place) Runs() bool { return p.HasWithin(Command) || p.HasWithin(Argv) }

// Guarded reports whether the strings at a place are of the type that a guard names; plain
// strings are those of no other type, and those of an unknown one. A guard on paths also
// sees those that a command reads or writes (K0a), and those of a patch (S40).
func (p *Place) Guarded(on string) bool {
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
