package shell

import (
	"bytes"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// printed reads a text that is printed into "..." as written, and returns the offset after it:
//
//	$(cat <<'END'
//	text
//	END
//	)
//
// It accepts only texts in which old shells cannot find another end. Some shells search for the
// closing parenthesis as if the text were commands: Bash before 4.0, which is the sh of macOS,
// counts parentheses and skips quoted text and comments. Therefore no closing parenthesis of the
// text closes more than one that the text opens, whatever is skipped; and if something may be
// skipped, no parenthesis follows on the line, so that such a shell finds this end or rejects the
// line.
func (r *strictReader) printed(at int) (next int, ok bool) {
	if r.from.index >= 0 { // a shell in which the line may have redefined cat
		return 0, false
	}
	opened, ok := bytes.CutPrefix(r.text[at:], []byte("$("))
	if !ok {
		return 0, false
	}
	rest, ok := bytes.CutPrefix(skipBlanks(opened), []byte("cat"))
	if !ok || len(rest) == 0 || rest[0] != ' ' && rest[0] != '<' {
		return 0, false
	}
	if rest, ok = bytes.CutPrefix(skipBlanks(rest), []byte("<<")); !ok {
		return 0, false
	}
	end, rest, ok := delimiter(skipBlanks(rest))
	if !ok {
		return 0, false
	}
	text, rest, ok := document(rest, end)
	if !ok {
		return 0, false
	}
	if rest = bytes.TrimLeft(rest, " \n"); len(rest) == 0 || rest[0] != ')' {
		return 0, false
	}
	rest = rest[1:]
	if skipped, sure := counted(text); !sure || skipped && bytes.IndexByte(rest, ')') >= 0 {
		return 0, false
	}
	r.line.text = append(r.line.text, bytes.TrimRight(text, "\n")...)
	r.prints, r.printing = true, true
	return len(r.text) - len(rest), true
}

func skipBlanks(text []byte) []byte { return bytes.TrimLeft(text, " ") }

// delimiter reads the quoted delimiter of a document and the rest of its line.
func delimiter(text []byte) (end, rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '\'' && text[0] != '"' {
		return nil, nil, false
	}
	end, rest, ok = bytes.Cut(text[1:], text[:1])
	for i, c := range end {
		ok = ok && (IsLetter(c) || i > 0 && '0' <= c && c <= '9')
	}
	rest, line := bytes.CutPrefix(skipBlanks(rest), []byte("\n"))
	return end, rest, ok && line && len(end) > 0
}

// document reads the lines up to the delimiter. No earlier line may be mistaken for it, no line is
// joined with the next one, and the text has no invisible characters and none that an interactive
// shell replaces.
func document(from, end []byte) (text, rest []byte, ok bool) {
	for rest = from; ; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		if !ended {
			return nil, nil, false
		}
		if bytes.Equal(line, end) {
			return from[:len(from)-len(rest)], after, true
		}
		if bytes.HasPrefix(skipBlanks(line), end) || mixed(line, end) || bytes.HasSuffix(line, []byte(`\`)) || !shownLine(line) {
			return nil, nil, false
		}
		rest = after
	}
}

// mixed reports whether a line begins with the delimiter and continues beyond ASCII: dash loses the
// first byte of that.
func mixed(line, end []byte) bool {
	n := 0
	for n < len(line) && n < len(end) && line[n] == end[n] {
		n++
	}
	return n > 0 && n < len(line) && line[n] >= utf8.RuneSelf
}

// shownLine reports whether all characters are printed as themselves, with ! only before a blank or
// at the end.
func shownLine(line []byte) bool {
	for i := 0; i < len(line); {
		switch c := line[i]; {
		case c >= utf8.RuneSelf:
			size := visible(line[i:])
			if size == 0 {
				return false
			}
			i += size
		case c < ' ' || c == 0x7f || c == '!' && i+1 < len(line) && line[i+1] != ' ':
			return false
		default:
			i++
		}
	}
	return true
}

// counted reports whether a parser that counts parentheses, and skips text that it takes for quoted
// or for a comment, finds no end within a text. If it may skip an opening parenthesis, it also
// skips the closing one: it counts both or neither. skipped is set if it may skip text, so that it
// may also go beyond the end.
func counted(text []byte) (skipped, sure bool) {
	if bytes.IndexByte(text, '(') < 0 && bytes.IndexByte(text, ')') < 0 {
		return bytes.ContainsAny(text, "'\"`\\#$"), true
	}
	if bytes.Contains(text, []byte("${")) || bytes.Contains(text, []byte("$[")) {
		return true, false
	}
	depth, skippable := 0, 0 // number of open parentheses, and from which of them on they may be skipped
	comment := false
	for i, c := range text {
		switch c {
		case '\'', '"', '`':
			if skippable > 0 {
				return true, false
			}
			skipped = true
		case '\n':
			if skippable > 0 && comment {
				return true, false
			}
		case '\\', '#':
			skipped, comment = true, comment || c == '#'
		case '(':
			if i > 0 && text[i-1] == '\\' {
				return true, false
			}
			if depth++; skipped && skippable == 0 {
				skippable = depth
			}
		case ')':
			if depth--; depth < 0 {
				return true, false
			}
			if depth < skippable {
				skippable = 0
			}
		}
	}
	return skipped, depth == 0
}

// renames reports whether a command may redefine cat for later ones.
func renames(commands []Command) bool {
	for i := range commands {
		if words := commands[i].Words; len(words) > 0 && programs.Naming.Has(string(programs.Base(words[0].Text))) {
			return true
		}
	}
	return false
}
