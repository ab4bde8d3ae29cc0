// Package patch lists the files that a patch changes: an apply_patch text of coding agents, or a
// unified diff.
//
//	patch.Files("*** Begin Patch\n*** Delete File: a.go\n*** End Patch\n") // [a.go], true
//
// It returns files only if every line of the text is one of the forms of its language, so that no
// file that another parser would find is missing. It does not access disks, and does not check
// whether a patch applies.
package patch

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxBytes is the length of the longest patch that is parsed.
const MaxBytes = 1 << 20

// Files returns the files of a patch in text order, as written, each once. ok is false if the text
// is not a patch or is ambiguous (S40).
func Files(text string) (files []string, ok bool) {
	if len(text) > MaxBytes || !utf8.ValidString(text) {
		return nil, false
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
		lines = lines[1:]
	}
	l := list{seen: map[string]bool{}}
	if len(lines) > 0 && strings.TrimSpace(lines[0]) == begin {
		ok = l.agents(lines)
	} else {
		ok = l.unified(lines)
	}
	if !ok || len(l.files) == 0 {
		return nil, false
	}
	return l.files, true
}

const (
	begin = "*** Begin Patch"
	end   = "*** End Patch"
)

// list collects files.
type list struct {
	files []string
	seen  map[string]bool
}

// add adds a file. It returns false for a name that other parsers may read differently.
func (l *list) add(name string) bool {
	if name == "" || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsGraphic(r) || r == utf8.RuneError }) || strings.TrimSpace(name) != name {
		return false
	}
	if !l.seen[name] {
		l.seen[name] = true
		l.files = append(l.files, name)
	}
	return true
}

// agents parses the lines between Begin Patch and End Patch.
func (l *list) agents(lines []string) bool {
	for strings.TrimSpace(lines[len(lines)-1]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) < 3 || strings.TrimSpace(lines[len(lines)-1]) != end {
		return false
	}
	for _, line := range lines[1 : len(lines)-1] {
		trimmed := strings.TrimSpace(line)
		if file, ok := header(trimmed); ok {
			if !l.add(file) {
				return false
			}
			continue
		}
		switch {
		case strings.HasPrefix(trimmed, "*** End of File"):
		case strings.HasPrefix(trimmed, "***"):
			return false
		case trimmed == "":
		case strings.HasPrefix(line, "@@"), strings.ContainsAny(line[:1], "+- "):
			if len(l.files) == 0 {
				return false
			}
		default:
			return false
		}
	}
	return true
}

func header(line string) (file string, ok bool) {
	for _, prefix := range []string{"*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"} {
		if rest, found := strings.CutPrefix(line, prefix); found {
			return strings.TrimSpace(rest), true
		}
	}
	return "", false
}

// unified parses a unified diff, with the lines that git adds. The numbers in the header of a hunk
// determine how many lines belong to it.
func (l *list) unified(lines []string) bool {
	var names []string
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		switch {
		case strings.HasPrefix(line, "--- "):
			if i+1 == len(lines) || !strings.HasPrefix(lines[i+1], "+++ ") {
				return false
			}
			names = append(names, stamped(line[4:]), stamped(lines[i+1][4:]))
			i++
		case strings.HasPrefix(line, "@@ "):
			n, ok := hunk(lines[i:])
			if !ok || len(names) == 0 {
				return false
			}
			i += n
		case strings.HasPrefix(line, "diff --git "):
			a, b, ok := pair(line[len("diff --git "):])
			if !ok {
				return false
			}
			names = append(names, a, b)
		case strings.HasPrefix(line, "rename from "), strings.HasPrefix(line, "rename to "), strings.HasPrefix(line, "copy from "), strings.HasPrefix(line, "copy to "):
			_, name, _ := strings.Cut(line, " ")
			_, name, _ = strings.Cut(name, " ")
			names = append(names, "a/"+name) // git writes no prefix here
		case extended(line):
		default:
			return false
		}
	}
	return l.stripped(names)
}

// extended reports whether a line is another line that git writes above hunks.
func extended(line string) bool {
	for _, prefix := range []string{"index ", "old mode ", "new mode ", "new file mode ", "deleted file mode ", "similarity index ", "dissimilarity index "} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return line == ""
}

// stamped returns a name without the timestamp that follows it.
func stamped(text string) string {
	name, _, _ := strings.Cut(text, "\t")
	return name
}

// pair splits "a/x b/y". With blanks in the names, only two equal names are unambiguous.
func pair(text string) (a, b string, ok bool) {
	if strings.Count(text, " ") == 1 {
		a, b, ok = strings.Cut(text, " ")
		return a, b, ok
	}
	half := len(text) / 2
	if len(text)%2 == 0 || text[half] != ' ' || text[1:half] != text[half+2:] {
		return "", "", false
	}
	return text[:half], text[half+1:], true
}

// hunk returns the number of lines of a hunk after its header.
func hunk(lines []string) (n int, ok bool) {
	ranges, _, found := strings.Cut(lines[0][3:], " @@")
	left, right, both := strings.Cut(ranges, " ")
	old, okOld := count(left, "-")
	now, okNow := count(right, "+")
	if !found || !both || !okOld || !okNow {
		return 0, false
	}
	for n = 1; old > 0 || now > 0; n++ {
		if n >= len(lines) {
			return 0, false
		}
		switch line := lines[n]; {
		case line == "", line[0] == ' ':
			old, now = old-1, now-1
		case line[0] == '-':
			old--
		case line[0] == '+':
			now--
		case line[0] == '\\':
		default:
			return 0, false
		}
		if old < 0 || now < 0 {
			return 0, false
		}
	}
	if n < len(lines) && strings.HasPrefix(lines[n], `\`) {
		n++
	}
	return n - 1, true
}

// count reads "-12,3" or "-12".
func count(text, sign string) (int, bool) {
	text, ok := strings.CutPrefix(text, sign)
	first, size, found := strings.Cut(text, ",")
	if !found {
		size = "1"
	}
	_, err := strconv.ParseUint(first, 10, 31)
	n, wrong := strconv.ParseUint(size, 10, 31)
	return int(n), ok && err == nil && wrong == nil
}

// stripped adds names without the prefixes a/ and b/ of diffs, if all have them. A diff in which
// only some have them is ambiguous.
func (l *list) stripped(names []string) bool {
	with, without := 0, 0
	for _, name := range names {
		switch {
		case name == "/dev/null":
		case strings.HasPrefix(name, "a/"), strings.HasPrefix(name, "b/"):
			with++
		default:
			without++
		}
	}
	if with > 0 && without > 0 {
		return false
	}
	for _, name := range names {
		if name == "/dev/null" {
			continue
		}
		if with > 0 {
			name = name[len("a/"):]
		}
		if !l.add(name) || name[0] == '"' {
			return false
		}
	}
	return true
}
