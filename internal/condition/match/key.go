package match

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/usage"
	"github.com/stopgate/stopgate/internal/condition/weburl"
	"github.com/stopgate/stopgate/internal/eval/schema"
)

// Keys returns the programs or hosts of a condition on commands or URLs, by which an index selects
// conditions. A value with a key ([Value.Key]) satisfies the condition only if its key is one of
// these. Keys returns nil if they are unknown.
func (m *Matcher) Keys() []string {
	switch test := m.text.(type) {
	case *commandTest:
		return test.keys(m.written)
	case *urlTest:
		return test.keys()
	}
	return nil
}

func (t *commandTest) keys(written []string) (keys []string) {
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

func (t *urlTest) keys() (keys []string) {
	if t.kind == condition.Scheme {
		return nil
	}
	for i := range t.literals {
		l := &t.literals[i]
		if l.under || l.host == "" {
			return nil
		}
		keys = append(keys, l.host)
	}
	return keys
}

// Key returns the key of the value: the program of a line that is one plain command, the host of a
// URL that is plainly written.
func (v *Value) Key(a schema.Annotation) (key string, ok bool) {
	switch a {
	case schema.Command:
		return v.program()
	case schema.URL:
		u, certain := v.url()
		return strings.ToLower(string(u.Host)), certain && u.HasHost && weburl.IsPlainURLPath(u.Path)
	}
	return "", false
}

func (v *Value) program() (key string, ok bool) {
	if len(v.text) > usage.MaxProgram || strings.ContainsFunc(string(v.text), func(r rune) bool { return r != ' ' && !inPlainWord(r) }) {
		return "", false
	}
	l := v.line()
	if !l.Plain || l.Excess || len(l.Commands) != 1 || len(l.Commands[0].Words) == 0 {
		return "", false
	}
	words := l.Commands[0].Words
	name := shell.Base(words[0].Text)
	if shell.Wrapper(name) || shell.Reserved(name) || slices.ContainsFunc(words[1:], func(w shell.Word) bool { return shell.RunsAfter(name, w.Text) }) {
		return "", false // another word may name a program too
	}
	return programKey(string(words[0].Text)), true
}

// programKey is equal for all spellings of the name of a program.
func programKey(name string) string {
	return strings.TrimSuffix(strings.ToLower(string(shell.Base([]byte(name)))), ".exe")
}

// inPlainWord reports whether a character is literal in words of commands and of usages.
func inPlainWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/-", r)
}
