package shell

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// skip returns the index of the first word of the command, len(words) if there is none. ok is false
// if an option is unknown.
func skip(w programs.Wrapper, words []Word) (at int, ok bool) {
	for at = 1; at < len(words); at++ {
		if !words[at].Literal {
			return at, false
		}
		text := string(words[at].Text)
		if text == "--" {
			at++
			break
		}
		if len(text) < 2 || text[0] != '-' {
			break
		}
		if strings.HasPrefix(text, "--") {
			name, _, attached := strings.Cut(text, "=")
			value, _, ok := w.Option(name)
			if !ok {
				return at, false
			}
			if value && !attached {
				at++
			}
			continue
		}
		if w.Number && IsNumber([]byte(strings.TrimLeft(text, "-+"))) {
			continue
		}
		for i := 1; i < len(text); i++ {
			value, query, ok := w.Option("-" + text[i:i+1])
			if !ok {
				return at, false
			}
			if query {
				return len(words), true
			}
			if value {
				if i+1 == len(text) {
					at++
				}
				break
			}
		}
	}
	for w.Assigns && at < len(words) && IsAssignment(words[at].Text) {
		at++
	}
	return min(at+w.Operands, len(words)), true
}

// replaces reports whether an option of xargs replaces the program's name by its input, as -I cat
// does with cat.
func replaces(w programs.Wrapper, options []Word, program []byte) bool {
	for i, o := range options[1:] {
		text := o.Text
		var mark []byte
		switch at := bytes.IndexAny(text, "IJ"); {
		case bytes.HasPrefix(text, []byte("--replace=")):
			mark = text[len("--replace="):]
		case len(text) < 2 || text[0] != '-' || text[1] == '-' || at < 0:
			continue
		case at+1 < len(text):
			mark = text[at+1:]
		case i+2 < len(options):
			mark = options[i+2].Text
		}
		if len(mark) > 0 && bytes.Contains(program, mark) {
			return true
		}
	}
	return false
}

// line returns the index of the word with the command line of env -S, in the option or after it; 0
// if there is none.
func line(w programs.Wrapper, words []Word) int {
	for i := 1; i < len(words); i++ {
		text := words[i].Text
		switch {
		case bytes.HasPrefix(text, []byte("--split-string=")):
			return i
		case string(text) == "--split-string" && i+1 < len(words):
			return i + 1
		case len(text) > 1 && text[0] == '-' && text[1] != '-':
			at := bytes.IndexAny(text, "SuCP")
			switch {
			case at < 0:
			case text[at] != 'S': // the rest is a value, or the next word
				if at+1 == len(text) {
					i++
				}
			case at+1 < len(text):
				return i
			case i+1 < len(words):
				return i + 1
			}
		}
	}
	return 0
}
