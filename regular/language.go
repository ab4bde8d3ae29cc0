package regular

import (
	"github.com/stopgate/stopgate/internal/automaton"
)

// Language is a set of strings of Unicode code points. Languages are built from
// patterns and literals, combined, and asked questions that hold for all strings;
// [Join] runs several over one text. A Language is immutable; the zero value is
// the empty set.
type Language struct {
	root *node // nil: no string. A string is in the set if a beginning of it matches.
}

// Answer is the answer to a question about all strings of a language. The zero
// value is NotProven: the question was larger than its budget, and nothing is
// known. Yes and No are never wrong.
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
func (l *Language) Witness(budget int) (string, Answer) { return "", NotProven }

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

// Contains reports whether a string is in the language.
func (l *Language) Contains(text string) bool { return false }

// Language returns the strings in which the pattern is found, as Match finds it.
func (p *Pattern) Language() *Language { return &Language{} }

// Everything is the set of all strings.
func Everything() *Language { return &Language{} }

// OneOf is the set of the given strings. Thousands share their beginnings.
func OneOf(texts ...string) *Language { return &Language{} }

// Prefix is the set of all strings that begin with one of the given strings.
func Prefix(texts ...string) *Language { return &Language{} }

// Suffix is the set of all strings that end with one of the given strings.
func Suffix(texts ...string) *Language { return &Language{} }

// Glob is the set of strings that a glob without separators matches as a whole
// (K18 on type string): "*" any run, "?" one code point, "[a-z]" and "[!a-z]"
// classes, "{a,b}" choices, "\x" the character. The error is a *SyntaxError.
func Glob(glob string) (*Language, error) { return &Language{}, nil }

// Length is the set of all strings of least to most code points; most below 0 is
// no limit.
func Length(least, most int) *Language { return &Language{} }

// FromNFA is the set of strings that an NFA accepts; it is how other packages
// bring languages of their own, as those of paths.
func FromNFA(n *automaton.NFA) *Language { return &Language{} }

// Union is the set of strings that are in any of the languages.
func Union(languages ...*Language) *Language { return &Language{} }

// Intersect is the set of strings that are in all of the languages; without
// languages it is Everything.
func Intersect(languages ...*Language) *Language { return &Language{} }

// Complement is the set of all strings that are not in l.
func (l *Language) Complement() *Language { return &Language{} }

// Minus is the set of strings of l that are not in other.
func (l *Language) Minus(other *Language) *Language { return Intersect(l, other.Complement()) }

// Without is the set of strings that are in l once the code points of ignored
// are left out of them (the second form of K21).
func (l *Language) Without(ignored automaton.Set) *Language { return &Language{} }

// Trimmed is the set of strings that are in l once leading and trailing code
// points of blank are left out (the third form of K21).
func (l *Language) Trimmed(blank automaton.Set) *Language { return &Language{} }
