package pathform

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/spelling"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
)

// expand adds the results of a tool that expands braces and wildcards for each spelling (C15).
// Braces are expanded; a path with wildcards stays a pattern, and is compared by whether it can
// match a path of the rule.
func (l *lister) expand() {
	for _, t := range l.texts[:len(l.texts):len(l.texts)] {
		if len(t.text) > MaxPath {
			l.unknown |= condition.TooLong
			continue
		}
		words, ok := braceWords(t.text, MaxReadings)
		if !ok {
			l.unknown |= condition.UnknownReading
		}
		for _, w := range words {
			glob := IsPattern(w)
			if w == t.text && !glob {
				continue
			}
			if len(l.texts) == maxTexts || glob && mayClimb(w) {
				l.unknown |= condition.UnknownReading
				return
			}
			l.texts = append(l.texts, spelt{text: w, glob: glob, steps: t.steps | StepBraces})
		}
	}
}

// IsPattern reports whether a text has a wildcard of a common shell, including extended ones.
func IsPattern(s string) bool {
	for i := range len(s) {
		switch s[i] {
		case '*', '?', '[':
			return true
		case '(':
			if i > 0 && strings.IndexByte("@+!", s[i-1]) >= 0 {
				return true
			}
		}
	}
	return false
}

// Aims reports whether a path with wildcards states its target: a component starts with a literal
// dot, which wildcards do not match in a shell, or every wildcard follows some text.
func Aims(path string) bool {
	all := true
	for c := range strings.SplitSeq(path, "/") {
		if len(c) > 1 && c[0] == '.' {
			return true
		}
		all = all && (c == "" || !IsPattern(c[:1]))
	}
	return all
}

// AimsAtDot reports whether a component starts with a literal dot, as hidden files and directories
// do.
func AimsAtDot(path string) bool {
	for c := range strings.SplitSeq(path, "/") {
		if len(c) > 1 && c[0] == '.' && c != ".." {
			return true
		}
	}
	return false
}

// mayClimb reports whether a component with wildcards may match "." or "..", which cleaning cannot
// detect. The first dot has to be literal.
func mayClimb(path string) bool {
	for _, c := range strings.Split(path, "/") {
		if strings.HasPrefix(c, ".") && IsPattern(c) {
			if n := ValuePattern(c, true); n.Matches(".") || n.Matches("..") {
				return true
			}
		}
	}
	return false
}

// braceWords expands the braces of a word as a shell does. A range {1..9} becomes "*". ok is false
// if there are more than limit words, or more groups than [maxGroups].
func braceWords(s string, limit int) (words []string, ok bool) {
	return expandGroups(s, limit, maxGroups)
}

// maxGroups is the maximum number of groups of braces that are expanded in one word.
const maxGroups = 64

func expandGroups(s string, limit, groups int) (words []string, ok bool) {
	open, end, commas := firstBraces(s)
	switch {
	case open < 0:
		return []string{s}, true
	case groups == 0:
		return nil, false
	}
	var parts []string
	if len(commas) == 0 {
		parts = []string{"*"} // a range
	} else {
		from := open + 1
		for _, c := range append(commas, end) {
			parts = append(parts, s[from:c])
			from = c + 1
		}
	}
	for _, part := range parts {
		inner, fits := expandGroups(s[:open]+part+s[end+1:], limit-len(words), groups-1)
		words = append(words, inner...)
		if !fits || len(words) > limit {
			return words[:min(limit, len(words))], false
		}
	}
	return words, true
}

// firstBraces finds the first group that a shell would expand: it contains a comma or a range. open
// is -1 if there is none.
func firstBraces(s string) (open, end int, commas []int) {
	var groups []braces // that are open, each in the one before
	open, dots := -1, -1
	for i := range len(s) {
		switch s[i] {
		case '.':
			if i > 0 && s[i-1] == '.' {
				dots = i - 1
			}
		case '{':
			groups = append(groups, braces{open: i})
		case ',':
			if n := len(groups); n > 0 {
				groups[n-1].commas = append(groups[n-1].commas, i)
			}
		case '}':
			n := len(groups)
			if n == 0 {
				continue
			}
			g := groups[n-1]
			groups = groups[:n-1]
			if (len(g.commas) > 0 || dots >= g.open) && (open < 0 || g.open < open) {
				open, end, commas = g.open, i, g.commas
			}
		}
	}
	return open, end, commas
}

// braces is a group of braces: where it opens, and its commas that are in no group inside it.
type braces struct {
	open   int
	commas []int
}

// maxPattern is the length in bytes from which on a value with wildcards is any path to the conditions: whether all its
// names are in a directory takes time with the square of its length.
const maxPattern = 1 << 10

// ValuePattern builds the set of paths that a value with wildcards may match, folded; too large if
// its syntax is unknown or it is longer than maxPattern. dots is set if a wildcard also matches the dot at the start of a name.
func ValuePattern(path string, dots bool) *automaton.NFA {
	n := automaton.New()
	n.Accept(AddValuePattern(n, path, dots))
	return n.Direct()
}

// AddValuePattern adds that set and returns its end state.
func AddValuePattern(n *automaton.NFA, path string, dots bool) int {
	if len(path) > maxPattern {
		return n.Loop(0, automaton.Any)
	}
	at, components := 0, strings.Split(spelling.Fold(path), "/")
	for i, c := range components {
		if c == "**" { // precedes its separator: "a/**" also matches "a"
			at = n.Loop(at, automaton.Any)
			continue
		}
		if i > 0 {
			next := n.State()
			n.Edge(at, automaton.Single('/'), next)
			if components[0] == "**" && i == 1 {
				n.Free(0, next)
			}
			at = next
		}
		if dots {
			at = AddComponentPattern(n, at, c)
		} else {
			at = AddVisiblePattern(n, at, c)
		}
	}
	return at
}

// AddVisiblePattern is addComponentPattern for a shell whose "*" and "?" do not
// match a leading dot.
func AddVisiblePattern(n *automaton.NFA, at int, c string) int {
	if c == "" || c[0] != '*' && c[0] != '?' {
		return AddComponentPattern(n, at, c)
	}
	inside, end := n.State(), n.State()
	n.Edge(at, glob.Component.Minus(automaton.Single('.')), inside)
	if c[0] == '*' {
		n.Free(AddVisiblePattern(n, at, c[1:]), end)
		n.Edge(inside, glob.Component, inside)
	}
	n.Free(AddComponentPattern(n, inside, c[1:]), end)
	return end
}

// AddComponentPattern adds one component of a value with wildcards.
func AddComponentPattern(n *automaton.NFA, at int, c string) int {
	if !strings.ContainsAny(c, "(){}") {
		if lists, err := glob.Parse(strings.ReplaceAll(c, "[^", "[!"), true); err == nil {
			return glob.Add(n, at, lists[0], glob.Component, spelling.Fold)
		}
	}
	const special = "*?[]()@+!\\{}"
	at = n.Loop(n.Text(at, c[:strings.IndexAny(c, special)]), glob.Component)
	return n.Text(at, c[strings.LastIndexAny(c, special)+1:])
}
