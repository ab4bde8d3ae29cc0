package match

import (
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/eval/schema"
)

// maxPath is the length in bytes of the longest path that a file system accepts.
const maxPath = 32 << 10

// Exceeds reports whether the length of a string decided the condition instead of its content: the
// command line or the patch is longer than [Budget], or the path has readings that are too long to
// list, and none of the others satisfies the restrictive condition. The verdict's code is then
// matcher_budget.
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
		return v.lacksReadings(&t.pathContext) && !t.leads(v)
	case *pathPattern:
		return t.restrictive && v.lacksReadings(&t.pathContext) && !t.test.holds(v.text) && !t.readsAny(v.list)
	}
	return false
}

// exceeds reports whether a string is of a kind that is parsed, and too long for it.
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

// exceeds reports whether a test matches a value only because it is long.
func (t *pathTest) exceeds(v *Value) bool {
	if !t.restrictive || !v.lacksReadings(&t.pathContext) {
		return false
	}
	list, _ := v.readings(&t.pathContext)
	return !t.suspects(list, Known)
}

// lacksReadings reports whether readings of the value as a path are not listed because it is long.
func (v *Value) lacksReadings(p *pathContext) bool {
	if _, certain := v.certain(p); certain {
		return false
	}
	_, unknown := v.readings(p)
	return unknown&tooLong != 0
}

// short shortens the absolute path of a file to the limit of file systems: no system call accepts a
// longer one, so a tool that uses it cleans it first. It returns "" if the cleaned path is also too
// long, and so names no file.
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
