package commandline

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Keys returns the programs that a condition with some literals is about, nil if they are unknown.
func (t *Test) Keys(written []string) (keys []string) {
	switch {
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

// programKey is equal for all spellings of the name of a program.
func programKey(name string) string {
	return strings.TrimSuffix(strings.ToLower(string(programs.Base([]byte(name)))), ".exe")
}

// inPlainWord reports whether a character is literal in words of commands and of usages.
func inPlainWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/-", r)
}
