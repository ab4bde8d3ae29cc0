package match

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/eval/schema"
)

// maxPath is the length in bytes of the longest path that a file system takes.
const maxPath = 32 << 10

// Exceeds reports that the length of a string decided the condition in place of what is in
// it: the command line or the patch is longer than [Budget], or the path has
// readings that are too long to list and satisfies a restrictive condition in none of the
// others. The verdict's code is then matcher_budget.
func (m *Matcher) Exceeds(v *Value) bool {
	if !v.valid {
		return false
	}
	if m.exceeds(v.text) {
		return true
	}
	switch t := m.text.(type) {
	case *pathTest:
		return t.exceeds(v)
	case eitherPath:
		return t[0].exceeds(v) || t[1].exceeds(v)
	case *outsideTest:
		return v.lacksReadings(&t.place) && !t.leads(v)
	case *pathPattern:
		return t.restrictive && v.lacksReadings(&t.place) && !t.test.holds(v.text) && !t.readsAny(v.list)
	}
	return false
}

// exceeds reports a string of a kind that is taken apart, and is too long for it.
func (m *Matcher) exceeds(text []byte) bool {
	if len(text) <= Budget {
		return false
	}
	switch m.annotation {
	case schema.Command, schema.Patch:
		return true
	}
	return false
}

// exceeds reports that a test suspects a value only because it is long.
func (t *pathTest) exceeds(v *Value) bool {
	if !t.restrictive || !v.lacksReadings(&t.place) {
		return false
	}
	list, _ := v.readings(&t.place)
	return !t.suspects(list, Known)
}

// lacksReadings reports that readings of the value as a path are not listed because it is long.
func (v *Value) lacksReadings(p *place) bool {
	if _, certain := v.certain(p); certain {
		return false
	}
	_, unknown := v.readings(p)
	return unknown&tooLong != 0
}

// short shortens the absolute path of a file to what a file system takes: no system call
// accepts the long spelling, so a tool that uses it cleans it first. It is "" where the
// clean path is too long as well, and names no file.
func short(name string) string {
	if len(name) <= maxPath || !utf8.ValidString(name) {
		return name
	}
	canonical, _ := appendCanonical(nil, []byte(name))
	if len(canonical) > maxPath {
		return ""
	}
	return string(canonical)
}
