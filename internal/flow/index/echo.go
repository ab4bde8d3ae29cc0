package index

// echo finds the occurrences of a phrase that the call of a text has in its own arguments: a
// result does not have the words that it repeats of them.
type echo struct {
	volume *volume
	phrase *phrase
	steps  *int
	run    *run // the last one that was compared, and the answer
	found  bool
}

// has reports whether the arguments of a text's call have the phrase.
func (e *echo) has(text int) bool {
	if len(e.volume.echo) == 0 {
		return false
	}
	r := e.volume.runOf(text)
	if r != e.run {
		e.run = r
		e.found = e.within(e.volume.echo[r.echo[0]:r.echo[1]]) || !e.phrase.marks && e.within(e.volume.echo[r.echo[1]:r.echo[2]])
	}
	return e.found
}

// within reports whether the phrase is a part of a sequence.
func (e *echo) within(codes []code) bool {
	for at, c := range codes {
		if *e.steps--; *e.steps < 0 {
			return false
		}
		if c.number() == e.phrase.codes[0].number() && (!e.phrase.alone || c&alone != 0) && e.follows(codes[at+1:]) {
			return true
		}
	}
	return false
}

// follows reports whether the tokens of the phrase after its first are next.
func (e *echo) follows(rest []code) bool {
	for _, c := range e.phrase.codes[1:] {
		for !e.phrase.marks && len(rest) > 0 && e.volume.mark(rest[0]) {
			rest = rest[1:]
			*e.steps--
		}
		if *e.steps--; len(rest) == 0 || rest[0].number() != c.number() {
			return false
		}
		rest = rest[1:]
	}
	return true
}
