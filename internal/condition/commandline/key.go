package commandline

import (
	"bytes"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Keys returns the programs that a condition with some literals is about, nil if they are unknown.
func (t *Test) Keys(written []string) (keys []string) {
	for _, text := range written {
		program, _, ok := keyOf(t.kind, text)
		if !ok {
			return nil
		}
		keys = append(keys, programKey(program))
	}
	return keys
}

// KeysOf returns the commands that a condition on command lines may hold for, nil if they are not
// known: a line for which it holds has one of the programs at one of the positions of
// [Value.EachProgram], followed by all words of the key.
func KeysOf(s *condition.Spec) (keys []condition.CommandKey) {
	for i := range s.Values {
		program, words, ok := keyOf(s.Kind, s.Values[i].Text)
		if !ok || s.Values[i].Kind != condition.LiteralString {
			return nil
		}
		keys = append(keys, condition.CommandKey{Program: programKey(program), Words: words})
	}
	return keys
}

// keyOf returns the program of a literal, and words that follow it in every command for which the
// literal holds: they are compared as they are written. ok is false if the program is not known.
func keyOf(kind condition.Kind, text string) (program string, words []string, ok bool) {
	switch kind {
	case condition.Glob:
		begin, _ := glob.Beginning(text)
		if program, _, ok = strings.Cut(begin, " "); ok && glob.Plain(text) { // a wildcard may contain blanks
			words = slices.DeleteFunc(strings.Split(text, " ")[1:], func(w string) bool { return w == "" || strings.ContainsAny(w, "*?") })
		}
	case condition.Usage:
		program, text, _ = strings.Cut(strings.TrimLeft(text, " "), " ")
		all := strings.Split(text, " ")
		if options := slices.IndexFunc(all, func(w string) bool { return strings.Contains(w, "[") }); options >= 0 {
			all = all[:options] // further words may be values of options
		}
		ok, words = true, slices.DeleteFunc(all, func(w string) bool { return !isPlainWord(w) })
	case condition.Const, condition.Enum, condition.Prefix:
		if ok = shell.Simple([]byte(text)); ok { // others are also compared as texts
			words = strings.Fields(text)
			program, words = words[0], words[1:]
		}
	}
	return program, words, ok && isPlainWord(program)
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
		if len(word) > len(part) && isPlainWord(word) {
			part = word
		}
	}
	return part
}

// programKey is equal for all spellings of the name of a program.
func programKey(name string) string {
	return string(appendProgramKey(nil, []byte(name)))
}

// appendProgramKey appends the key of a program. A suffix that may be omitted is removed as often as it
// is there: a name with it may be spelled with one more.
func appendProgramKey(dst, name []byte) []byte {
	first := len(dst)
	for _, c := range programs.Base(name) {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	key := dst[first:]
	for bytes.HasSuffix(key, exe) {
		key = key[:len(key)-len(exe)]
	}
	return dst[:first+len(key)]
}

// exe is the suffix of programs that may be omitted.
var exe = []byte(".exe")

// isPlainWord reports whether a word consists of characters that are literal in words of commands and
// of usages.
func isPlainWord(word string) bool {
	return word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !inPlainWord(r) })
}

// inPlainWord reports whether a character is literal in words of commands and of usages.
func inPlainWord(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("._/-", r)
}
