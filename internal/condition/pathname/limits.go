package pathname

import "unicode/utf8"

// MaxPath is the length in bytes of the longest path that a file system accepts.
const MaxPath = 32 << 10

// BoundedPath is a test of paths that a value may satisfy only because it is long.
type BoundedPath interface {
	// ExceedsBy reports whether the length of a value decided the test instead of its readings.
	ExceedsBy(v *Value) bool
}

// exceeds reports whether a test matches a value only because it is long.
func (t *Test) ExceedsBy(v *Value) bool {
	if !t.restrictive || !v.lacksReadings(&t.Context) {
		return false
	}
	list, _ := v.Readings(&t.Context)
	return !t.suspects(list, Known)
}

func (t Either) ExceedsBy(v *Value) bool { return t[0].ExceedsBy(v) || t[1].ExceedsBy(v) }

func (t *OutsideTest) ExceedsBy(v *Value) bool {
	return v.lacksReadings(&t.Context) && !t.leads(v)
}

func (t *Pattern) ExceedsBy(v *Value) bool {
	return t.restrictive && v.lacksReadings(&t.Context) && !t.Test.Holds(v.text) && !t.readsAny(v.list)
}

// short shortens the absolute path of a file to the limit of file systems: no system call accepts a
// longer one, so a tool that uses it cleans it first. It returns "" if the cleaned path is also too
// long, and so names no file.
func short(name string) string {
	if len(name) <= MaxPath || !utf8.ValidString(name) {
		return name
	}
	canonical, _ := AppendCanonical(nil, []byte(name))
	if len(canonical) > MaxPath {
		return ""
	}
	return string(canonical)
}
