package pathform

import "unicode/utf8"

// MaxPath is the length in bytes of the longest path that a file system accepts.
const MaxPath = 32 << 10

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
