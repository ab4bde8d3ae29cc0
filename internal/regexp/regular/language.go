package regular

// Language is a set of strings of Unicode code points. Languages are built from
// patterns and literals, combined, and asked questions that hold for all strings;
// [Join] runs several over one text. A Language is immutable; the zero value is
// the empty set.
type Language struct {
	root *node // nil: no string. A string is in the set if a beginning of it matches.
}

// Answer is the answer to a question about all strings of a language. The zero
// value is NotProven: the question was larger than its budget, and the
// answer is not known. Yes and No are never wrong.
type Answer uint8

// The answers.
const (
	NotProven Answer = iota
	Yes
	No
)

// String returns "yes", "no" or "not proven".
func (a Answer) String() string {
	switch a {
	case Yes:
		return "yes"
	case No:
		return "no"
	}
	return "not proven"
}

// DefaultBudget is a number of states within which practically every question
// about the patterns of one policy is answered, in milliseconds.
const DefaultBudget = 20_000

// Witness finds a shortest string of the language, in code points, and among
// those one that is easy to read. Yes: the string is in the language. No: the
// language is empty. At most budget states are looked at.
func (l *Language) Witness(budget int) (string, Answer) {
	text, found, proven := program([]*Language{l}).Witness(budget)
	switch {
	case !proven:
		return "", NotProven
	case found:
		return text, Yes
	}
	return "", No
}

// Empty reports whether no string is in the language.
func (l *Language) Empty(budget int) Answer {
	_, found := l.Witness(budget)
	switch found {
	case Yes:
		return No
	case No:
		return Yes
	}
	return NotProven
}

// Includes reports whether every string of other is in l too. The string is the
// shortest one of other that is not, if the answer is No.
func (l *Language) Includes(other *Language, budget int) (Answer, string) {
	counter, found := Intersect(other, l.Complement()).Witness(budget)
	switch found {
	case Yes:
		return No, counter
	case No:
		return Yes, ""
	}
	return NotProven, ""
}

// Equal reports whether both languages have the same strings. The string is a
// shortest one that only one of them has, if the answer is No.
func (l *Language) Equal(other *Language, budget int) (Answer, string) {
	difference, found := Union(l.Minus(other), other.Minus(l)).Witness(budget)
	switch found {
	case Yes:
		return No, difference
	case No:
		return Yes, ""
	}
	return NotProven, ""
}

// Contains reports whether a string is in the language. To ask about many strings,
// Join it.
func (l *Language) Contains(text string) bool {
	a := Join(l)
	s := a.Start()
	a.Feed(&s, []byte(text))
	return a.Accepts(&s, 0)
}

// tree returns the root.
func (l *Language) tree() *node {
	if l.root == nil {
		return never()
	}
	return l.root
}
