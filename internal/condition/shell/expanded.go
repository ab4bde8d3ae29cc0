package shell

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Words that a shell expands are certain enough if everything that they can become is known: files
// below a written directory, and numbers.
//
//	ls src/*.go       names that begin with src/, so that none is an option
//	cat ~/notes.txt   one name below the home directory
//	echo "exit: $?"   a number
//
// They are not [Word.Literal]: a rule that spells a word never matches them, one that permits any
// operand does.

// ShowsNames reports whether a program shows only names, sizes, dates or checksums of the files
// that wildcards in its words match.
func ShowsNames(program []byte) bool {
	return programs.Spreading.Has(string(program)) && programs.MetadataOnly.Has(string(program))
}

// expands completes a word of the current command in which the shell expands something. It returns
// false if the result is not certain.
func (r *strictReader) expands(w *Word, raw []byte) bool {
	l := r.line
	if len(l.words) == r.words || l.words[r.words].Quoted || len(w.Text) == 0 {
		return false
	}
	program := string(l.words[r.words].Text)
	if r.computed {
		r.computed = false
		return computes(program, len(l.words)-r.words) && w.Text[0] != '-' && w.Text[0] != '~' && !w.Glob
	}
	if w.Quoted || !programs.Spreading.Has(program) || bytes.IndexByte(raw, '\\') >= 0 {
		return false
	}
	for i, c := range raw {
		if c != '*' && c != '?' && !PlainBytes[c] && (c != '~' || i > 0) {
			return false
		}
	}
	if raw[0] == '-' { // files with such a name reveal no more than the wildcard
		for _, option := range []string{"--include=", "--exclude=", "--exclude-dir="} {
			if programs.Searching.Has(program) && bytes.HasPrefix(raw, []byte(option)) && bytes.IndexByte(raw[len(option):], '=') < 0 {
				w.Literal, w.Glob = true, false
				return true
			}
		}
		return false
	}
	if raw[0] == '*' || raw[0] == '?' { // for programs that list files, an option changes what they show
		last := raw[len(raw)-1]
		if !programs.Careless.Has(program) || programs.Listing.Has(program) && (last == '*' || last == '?') {
			return false
		}
	}
	return bytes.IndexByte(raw, '=') < 0
}

// computes reports whether a program only shows or compares its operand number n.
func computes(program string, n int) bool {
	switch program {
	case "echo", "test", "[", "[[", "case":
		return true
	}
	return program == "printf" && n > 1
}

// parameter reads a parameter after a $ in a word: $?, loop variables, and for echo well-known
// variables and command substitutions. It returns the offset after it.
func (r *strictReader) parameter(at int, quoted bool) (next int, ok bool) {
	l, rest := r.line, r.text[at+1:]
	if len(l.words) == r.words || len(rest) == 0 || r.from.index >= 0 && rest[0] == '(' {
		return 0, false
	}
	program := string(l.words[r.words].Text)
	if v, after := r.variable(at); v != nil {
		return after, r.inserts(v, r.text[at:after], quoted)
	}
	compares := program != "echo" && program != "printf" && texts.Has(program)
	switch {
	case rest[0] == '?':
		next = at + 2
	case program != "echo" && !(compares && (quoted || wordwise.Has(program))):
		return 0, false
	case rest[0] == '(':
		if next, ok = r.substitution(at); !ok {
			return 0, false
		}
		r.unknown = r.unknown || compares
	default:
		n := 0
		for n < len(rest) && (IsLetter(rest[n]) || n > 0 && rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		next = at + 1 + n
		shown := shownVariables.Has(string(rest[:n]))
		if !shown && (!compares || program == "case") || n == 0 || next < len(r.text) && bytes.IndexByte([]byte("[:"), r.text[next]) >= 0 {
			return 0, false
		}
		r.unknown, r.foreign = r.unknown || compares, r.foreign || !shown
	}
	l.text = append(l.text, r.text[at:next]...)
	r.computed = true
	return next, true
}

// substitution reads $(...) and returns the offset after it. Its commands are read later, by
// [strictReader.substituted].
func (r *strictReader) substitution(at int) (next int, ok bool) {
	rest := r.text[at+1:]
	end := bytes.IndexByte(rest, ')')
	if end < 0 || r.from.index >= 0 || r.within || bytes.ContainsAny(rest[1:end], "($`#\\!{}<>\n") || len(bytes.TrimSpace(rest[1:end])) == 0 {
		return 0, false
	}
	r.commands = append(r.commands, rest[1:end])
	return at + 2 + end, true
}

// shownVariables describe the user's environment; none holds a secret.
var shownVariables = programs.Words{
	"HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "TERM", "HOSTNAME", "GOPATH", "GOROOT", "JAVA_HOME", "VIRTUAL_ENV", "CI", "NODE_ENV", "TMPDIR",
}

// substituted reads the commands whose output the words of the previous command contain.
func (r *strictReader) substituted(fed bool) bool {
	list := r.commands
	r.commands = nil
	for _, text := range list {
		l := r.line
		first := len(l.Commands)
		in := strictReader{
			line: l, text: text, from: r.from, words: len(l.words), redirects: len(l.redirects), start: first, apart: true, within: true,
			inner: true, repeats: r.repeats, restored: true,
		}
		if !in.list() || len(l.Commands) == first || in.printing {
			return false
		}
		for i := first; i < len(l.Commands); i++ {
			l.Commands[i].Fed = l.Commands[i].Fed || fed
		}
		r.words, r.redirects = len(l.words), len(l.redirects)
	}
	return true
}

// harmlessVariables change how a program prints, not what it does; with plain values they may
// precede a command.
var harmlessVariables = programs.Words{
	"CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TERM", "TZ", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "RUST_BACKTRACE",
	"GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "DO_NOT_TRACK",
}

// locales may be set to a locale with the charset that the line is parsed with. In a locale of
// another charset, such as GBK, the last byte of a letter and the backslash after it are one
// character, and the next quote is then no quote.
var locales = programs.Words{"LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME"}

// sameCharset reports whether a locale has the charset of the line, or none beyond ASCII.
func sameCharset(locale []byte) bool {
	_, charset, _ := bytes.Cut(locale, []byte("."))
	switch string(charset) {
	case "UTF-8", "utf-8", "utf8", "UTF8":
		return true
	}
	return string(locale) == "C" || string(locale) == "POSIX"
}

// pagers may be set to cat.
var pagers = programs.Words{"PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER"}

// harmlessAssignment reports whether NAME=VALUE only changes how a program prints.
func harmlessAssignment(w Word) bool {
	name, value, ok := bytes.Cut(w.Text, []byte("="))
	if !ok || w.Quoted || !w.Literal || bytes.Contains(value, []byte("..")) {
		return false
	}
	for _, c := range value {
		if !IsLetter(c) && (c < '0' || c > '9') && bytes.IndexByte([]byte("-.,@"), c) < 0 {
			return false
		}
	}
	return harmlessVariables.Has(string(name)) || pagers.Has(string(name)) && string(value) == "cat" || locales.Has(string(name)) && sameCharset(value)
}

// remark reads a line that is a comment. Some shells run it as a command named #, which does not
// exist, so its words must consist of letters.
func (r *strictReader) remark() bool {
	if r.inCommand() || r.needs || r.within {
		return false
	}
	for r.pos++; r.pos < len(r.text) && r.text[r.pos] != '\n'; r.pos++ {
		if c := r.text[r.pos]; !PlainBytes[c] && c != ' ' && c != '#' || c == '=' {
			return false
		}
	}
	return true
}

// maxWild is the maximum length of the words with wildcards of a line in bytes: each condition on paths builds the set of
// names that such a word may become. A line with more sets Excess.
const maxWild = 8 << 10

// limitWildcards keeps the words with wildcards of the line up to [maxWild], and replaces the others by words of unknown text.
// It reports whether it kept all.
func (l *Line) limitWildcards() bool {
	total := 0
	within := func(w *Word) {
		if !w.Glob {
			return
		}
		if total += len(w.Text); total > maxWild {
			*w = Word{}
		}
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		for k := range c.Words {
			within(&c.Words[k])
		}
		for k := range c.Redirects {
			within(&c.Redirects[k].Target)
		}
	}
	return total <= maxWild
}
