package usage

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/glob"
)

// parse reads a usage.
func parse(text string) (*usage, *Error) {
	u := &usage{elements: make([]element, 0, 4)}
	for rest := text; ; {
		rest = strings.TrimLeft(rest, " ")
		at := len(text) - len(rest)
		if rest == "" {
			break
		}
		if len(u.elements) == maxElements {
			return nil, faultAt(at, "has too many elements", "write several usages under [lists]")
		}
		if rest[0] == '[' && len(rest) > 1 && strings.IndexByte("-+!", rest[1]) >= 0 {
			end := groupEnd(rest)
			if end < 0 {
				return nil, faultAt(at, "has a bracket without its end", "`]`")
			}
			if err := u.group(rest[1:end], at+1); err != nil {
				return nil, err
			}
			rest = rest[end+1:]
			continue
		}
		word, _, _ := strings.Cut(rest, " ")
		rest = rest[len(word):]
		e := element{kind: oneWord}
		switch word {
		case "**":
			e.kind = anyWords
		case "<command>":
			e.kind = runsCommand
		case "<root>", "<below>", "<local>":
			e.kind, e.placeholder, u.placeholder = aPlaceholder, word, word
		case "<system>":
			e.kind, u.vital = theSystem, true
		case "<script>":
			e.kind, u.scripted = aScript, true
		default:
			g, err := parseWordGlob(word)
			if err != nil {
				return nil, inGlob(err, at)
			}
			e.glob = g
		}
		u.elements = append(u.elements, e)
	}
	if len(u.elements) == 0 || u.elements[0].kind != oneWord {
		return nil, faultAt(0, "does not begin with a program", "`git {log,show} **`")
	}
	if name, ok := u.otherScript(); ok {
		return nil, faultAt(max(0, strings.Index(text, name)), "has <script> beside an option that may give another script, or write", "name the options that only say how it is run: `sed [-n|-E] <script> **`")
	}
	return u, nil
}

// scriptOptions are options that read a script from elsewhere or make the program write. With them
// <script> gives no guarantee.
var scriptOptions = []string{"-f", "-i", "-l", "-L", "--file", "--from-file", "--expression", "--in-place", "--source", "--include", "--load", "--library-path"}

// otherScript returns such an option of a usage that has a <script>. -e takes a script, except in
// jq, where it has no value.
func (u *usage) otherScript() (name string, ok bool) {
	for i := range u.elements {
		for j := range u.elements[i].options {
			o := &u.elements[i].options[j]
			if u.scripted && (o.wild || slices.Contains(scriptOptions, o.name) || o.name == "-e" && o.value != nil) {
				return o.name, true
			}
		}
	}
	return "", false
}

func faultAt(at int, message, hint string) *Error {
	return &Error{Offset: at, Message: message, Hint: hint}
}

// inGlob returns the error of a glob that begins at a byte of the usage.
func inGlob(err *glob.Error, at int) *Error { return faultAt(at+err.Offset, err.Message, err.Hint) }

// groupEnd returns the offset of the bracket that closes a group, which may contain classes of
// globs.
func groupEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++ // the escaped byte is no bracket
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// group reads the inside of [...].
func (u *usage) group(text string, at int) *Error {
	excluding := strings.HasPrefix(text, "!")
	if excluding {
		text, at = text[1:], at+1
	}
	e := element{kind: options}
	if !excluding {
		e.options = make([]option, 0, 1+strings.Count(text, "|"))
	}
	for part := range strings.SplitSeq(text, "|") {
		words := strings.Fields(part)
		switch {
		case len(words) == 0:
			return faultAt(at, "has an empty option", "")
		case len(words[0]) < 2 || words[0][0] != '-' && words[0][0] != '+':
			return faultAt(at, "has an option that does not begin with a dash", "a value stands behind its option: `[--max *]`")
		case len(words) > 2 || excluding && len(words) > 1:
			return faultAt(at, "has an option with more than one value", "`|` separates options")
		case excluding:
			u.excluded = append(u.excluded, words[0])
		default:
			o := option{name: words[0]}
			if o.wild = strings.ContainsAny(o.name, "*?[{\\"); o.wild {
				g, err := parseWordGlob(o.name)
				if err != nil {
					return inGlob(err, at)
				}
				o.glob = g
			}
			switch {
			case len(words) == 2 && words[1] == "<command>":
				o.runs = true
			case len(words) == 2 && words[1] == "<root>":
				o.root, u.placeholder = true, words[1]
			case len(words) == 2:
				g, err := parseWordGlob(words[1])
				if err != nil {
					return inGlob(err, at+strings.Index(part, words[1]))
				}
				o.value = &g
			}
			e.options = append(e.options, o)
		}
		at += len(part) + 1
	}
	if !excluding {
		u.elements = append(u.elements, e)
	}
	return nil
}
