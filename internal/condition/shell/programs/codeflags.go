package programs

import (
	"bytes"
	"strings"
)

// CodeFlag is one option that runs code.
type CodeFlag string

// Match reports whether a word is the option, or may be read as it, and returns its value if that
// is in the same word.
func (f CodeFlag) Match(word []byte) (value []byte, attached, ok bool) {
	name := string(f)
	switch {
	case strings.HasPrefix(name, "--"):
		option, value, attached := bytes.Cut(word, []byte("="))
		return value, attached, len(option) > 2 && strings.HasPrefix(name, string(option))
	case strings.HasSuffix(name, "="):
		value, ok := bytes.CutPrefix(word, []byte(name))
		return value, true, ok
	case len(name) == 2 && name[0] == '-':
		if len(word) < 2 || word[0] != '-' || word[1] == '-' {
			return nil, false, false
		}
		at := bytes.IndexByte(word[1:], name[1])
		if at < 0 {
			return nil, false, false
		}
		value := word[at+2:]
		return value, len(value) > 0, true
	case name == "+":
		return bytes.TrimPrefix(word, []byte("+")), true, len(word) > 1 && word[0] == '+'
	}
	option, value, attached := bytes.Cut(word, []byte("="))
	return value, attached, string(option) == name || string(option) == "-"+name
}
