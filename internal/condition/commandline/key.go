package commandline

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Keys returns the programs that a condition with some literals is about, nil if they are unknown.
func (t *Test) Keys(written []string) (keys []string) {
	switch {
	case t.kind == condition.Glob:
		for _, text := range written {
			begin, _ := glob.Beginning(text)
			name, _, complete := strings.Cut(begin, " ")
			if !complete || name == "" {
				return nil
			}
			keys = append(keys, name)
		}
	case t.text != nil:
		return nil
	case t.usages != nil:
		for _, text := range written {
			name, _, _ := strings.Cut(strings.TrimLeft(text, " "), " ")
			keys = append(keys, name)
		}
	default:
		for _, lit := range t.literals {
			if lit.raw != "" {
				return nil
			}
			keys = append(keys, lit.words[0])
		}
	}
	for i, name := range keys {
		if strings.ContainsFunc(name, func(r rune) bool { return !inPlainWord(r) }) {
			return nil // several programs
		}
		keys[i] = programKey(name)
	}
	return keys
}

// Part returns a literal that every line which [Value.Program] reads and the condition holds for
// contains, "" if none is known: words other than that of the program are compared as they are
// written.
func (t *Test) Part(written []string) (part string) {
	if len(written) != 1 {
		return ""
	}
	text := written[0]
	switch {
	case t.kind == condition.Glob && !glob.Plain(text), t.kind != condition.Glob && t.text != nil:
		return ""
	case t.kind == condition.Glob: // no word of a line is divided where a literal of the glob is not
		text = strings.NewReplacer("*", " ", "?", " ").Replace(text)
	default:
		_, text, _ = strings.Cut(strings.TrimLeft(text, " "), " ")
	}
	for word := range strings.FieldsSeq(text) {
		if strings.HasPrefix(word, "[") {
			break // the options that follow may be absent
		}
		if len(word) > len(part) && !strings.ContainsFunc(word, func(r rune) bool { return !inPlainWord(r) }) {
			part = word
		}
	}
	return part
}

// programKey is equal for all spellings of the name of a program.
func programKey(name string) string {
	return strings.TrimSuffix(strings.ToLower(string(programs.Base([]byte(name)))), ".exe")
}

// inPlainWord reports whether a character is literal in words of commands and of usages.
func inPlainWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/-", r)
}
