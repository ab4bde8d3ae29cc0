package effect

import (
	"bytes"
	"iter"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// Computes reports whether a script of sed, awk or jq only turns text into text: it runs no
// commands, opens only files that the command names, and does not read the environment. It may
// return false for such scripts.
func Computes(program, script []byte) bool {
	for _, c := range script {
		if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f {
			return false
		}
	}
	switch string(program) {
	case "sed", "gsed":
		s := sedScript{script}
		return len(script) > 0 && s.commands()
	case "awk", "gawk", "mawk", "nawk":
		return awkComputes(script)
	case "jq":
		return len(script) > 0 && !containsAny(script, "env", "ENV", "import", "include", "module", "input_line", "get_search_list", "$__", "halt", "debug", "stderr")
	}
	return false
}

func containsAny(text []byte, parts ...string) bool {
	for _, p := range parts {
		if bytes.Contains(text, []byte(p)) {
			return true
		}
	}
	return false
}

// awkComputes searches for the letters of everything that would do more: awk cannot build names at
// run time. ">" is a comparison before the first brace and a redirection after it.
func awkComputes(script []byte) bool {
	if len(script) == 0 || script[0] == '-' || containsAny(script, "system", "getline", "ENVIRON", "ARGV", "ARGC", "ARGIND", "SYMTAB", "PROCINFO", "@", "\\\n", "close", "fflush", "inet", "extension") {
		return false
	}
	braces := false
	for i, c := range script {
		next := byte(0)
		if i+1 < len(script) {
			next = script[i+1]
		}
		switch c {
		case '{':
			braces = true
		case '|':
			if next != '|' && (i == 0 || script[i-1] != '|') {
				return false
			}
		case '>':
			if braces && next != '=' || next == '>' {
				return false
			}
		case '#', '`':
			return false
		}
	}
	return !bytes.Contains(script, []byte("|||"))
}

// sedScript parses a script of sed. left is the unread part.
type sedScript struct{ left []byte }

// commands reads commands up to the end of the script: those that print, delete, continue and
// replace, for lines and ranges of lines.
func (s *sedScript) commands() bool {
	for {
		s.left = bytes.TrimLeft(s.left, " ;\n")
		if len(s.left) == 0 {
			return true
		}
		if s.address() && s.skip(',') {
			if s.skip('+') || s.skip('~') { // GNU: so many lines, or up to a multiple
				if !s.number() {
					return false
				}
			} else if !s.address() {
				return false
			}
		}
		s.blanks()
		if s.skip('!') {
			s.blanks()
		}
		if len(s.left) == 0 {
			return false
		}
		c := s.left[0]
		s.left = s.left[1:]
		switch c {
		case 'p', 'd', 'q', '=', 'n', 'N', 'D', 'P', 'g', 'G', 'h', 'H', 'x':
		case 's':
			if !s.replaces() {
				return false
			}
		default:
			return false
		}
		s.blanks()
		if len(s.left) > 0 && s.left[0] != ';' && s.left[0] != '\n' {
			return false
		}
	}
}

func (s *sedScript) blanks() { s.left = bytes.TrimLeft(s.left, " ") }

func (s *sedScript) skip(c byte) bool {
	if len(s.left) == 0 || s.left[0] != c {
		return false
	}
	s.left = s.left[1:]
	return true
}

func (s *sedScript) number() bool {
	n := 0
	for n < len(s.left) && '0' <= s.left[n] && s.left[n] <= '9' {
		n++
	}
	s.left = s.left[n:]
	return n > 0
}

// address reads the number of a line, $ or /pattern/. It returns false if there is none.
func (s *sedScript) address() bool {
	switch {
	case s.number():
		if s.skip('~') {
			return s.number()
		}
		return true
	case s.skip('$'):
		return true
	}
	rest := *s
	if !rest.skip('/') || !rest.until('/') {
		return false
	}
	rest.skip('I')
	*s = rest
	return true
}

// until reads up to a delimiter without a backslash. Implementations disagree on whether a
// delimiter in brackets ends the pattern, so it is rejected.
func (s *sedScript) until(end byte) bool {
	for i := 0; i < len(s.left); i++ {
		switch s.left[i] {
		case end:
			s.left = s.left[i+1:]
			return true
		case '\\':
			if i++; i == len(s.left) || s.left[i] == '\n' {
				return false
			}
		case '\n':
			return false
		case '[':
			if i = bracketed(s.left, i+1, end); i < 0 {
				return false
			}
		}
	}
	return false
}

// bracketed returns the offset of the ] that ends brackets, -1 if there is none or if
// implementations read the content differently.
func bracketed(text []byte, at int, end byte) int {
	for first := true; at < len(text); at++ {
		switch c := text[at]; {
		case c == '^' && first:
			continue
		case c == ']' && !first:
			return at
		case c == end || c == '\n' || c == '\\' && (at+1 == len(text) || text[at+1] == ']' || text[at+1] == end || text[at+1] == '\\'):
			return -1
		case c == '[' && at+1 < len(text) && bytes.IndexByte([]byte(":.="), text[at+1]) >= 0:
			class := bytes.Index(text[at+2:], []byte{text[at+1], ']'})
			if class < 0 || bytes.IndexByte(text[at:at+2+class], end) >= 0 {
				return -1
			}
			at += class + 3
		}
		first = false
	}
	return -1
}

// replaces reads the rest of s/pattern/text/ with flags that only select matches, or print the
// result.
func (s *sedScript) replaces() bool {
	if len(s.left) == 0 || bytes.IndexByte([]byte("/|,#:@%_"), s.left[0]) < 0 {
		return false
	}
	end := s.left[0]
	s.left = s.left[1:]
	if !s.until(end) || !s.until(end) {
		return false
	}
	s.left = bytes.TrimLeft(s.left, "gpiI0123456789")
	return true
}

// scriptPaths yields the files that the script of sed, awk or jq may name: after the commands r and
// w, and in double quotes, where jq adds an extension. Some of them may be no files.
func scriptPaths(program string, w *shell.Word, yield func(path *shell.Word, use Use, redirected bool) bool) bool {
	switch program {
	case "sed", "gsed":
		seen := 0
		for at, c := range w.Text {
			if bytes.IndexByte([]byte("rRwW"), c) < 0 || at > 0 && shell.IsLetter(w.Text[at-1]) {
				continue
			}
			name, _, _ := bytes.Cut(w.Text[at+1:min(len(w.Text), at+1+maxName)], []byte("\n"))
			name = bytes.TrimSpace(name)
			word, _, blank := bytes.Cut(name, []byte(" "))
			if seen++; !blank || seen > maxNames {
				name = nil // only the word itself
			}
			for _, text := range [][]byte{word, bytes.TrimRight(word, ";}"), name, bytes.TrimRight(name, " ;}")} {
				if len(text) > 0 && !yield(&shell.Word{Text: text, Literal: w.Literal, Quoted: true}, Reads|Writes, false) {
					return false
				}
			}
		}
	case "awk", "gawk", "mawk", "nawk", "jq", "yq":
		for quoted := range odd(bytes.Split(w.Text, []byte{'"'})) {
			if json := append(bytes.Clone(quoted), ".json"...); program == "jq" && len(bytes.Trim(quoted, "/")) > 0 && !yield(&shell.Word{Text: json, Literal: w.Literal, Quoted: true}, Reads, false) {
				return false
			}
			if len(bytes.Trim(quoted, "/")) > 0 && !yield(&shell.Word{Text: quoted, Literal: w.Literal, Quoted: true}, Reads|Writes, false) {
				return false
			}
		}
	}
	return true
}

// odd returns every second element, beginning with the second one.
func odd(parts [][]byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 1; i < len(parts); i += 2 {
			if !yield(parts[i]) {
				return
			}
		}
	}
}

const (
	maxName  = 4096 // bytes; a longer text names no file
	maxNames = 256  // names with blanks that are checked in one script
)
