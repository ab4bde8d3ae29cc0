package shell

import "bytes"

// Words that a shell expands are certain enough where all that they can become is known:
// files below a directory that is written, and numbers.
//
//	ls src/*.go       names that begin with src/, so that none is an option
//	cat ~/notes.txt   one name below the home directory
//	echo "exit: $?"   a number
//
// They are not [Word.Literal]: a rule that spells a word never means one of them, one that
// permits any operands does.

// spreading are programs that take any number of files, only read them, and find no other
// meaning in an operand.
var spreading = words{
	"ls", "cat", "head", "tail", "wc", "nl", "tac", "stat", "du", "echo", "file", "od", "hexdump", "strings", "md5sum", "sha1sum", "sha256sum", "sha512sum",
	"cksum", "basename", "dirname", "realpath", "readlink", "grep", "egrep", "fgrep", "rg",
}

// ShowsNames reports a program that says no more of the files that wildcards in its words
// name than their names, sizes, dates or sums.
func ShowsNames(program []byte) bool {
	return spreading.has(string(program)) && quiet.has(string(program))
}

// careless are those of them that no option makes do more than read the files they are
// given: the name of a file may be taken for one.
var careless = words{"ls", "cat", "head", "tail", "wc", "nl", "tac", "stat", "du", "echo"}

// searching are programs with options that say by a wildcard which files are searched.
var searching = words{"grep", "egrep", "fgrep"}

// expands completes a word of the command under way in which the shell expands something.
// It reports false if what becomes of it is not certain.
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
	if w.Quoted || !spreading.has(program) || bytes.IndexByte(raw, '\\') >= 0 {
		return false
	}
	for i, c := range raw {
		if c != '*' && c != '?' && !plainBytes[c] && (c != '~' || i > 0) {
			return false
		}
	}
	if raw[0] == '-' { // files of such a name say no more than the wildcard does
		for _, option := range []string{"--include=", "--exclude=", "--exclude-dir="} {
			if searching.has(program) && bytes.HasPrefix(raw, []byte(option)) && bytes.IndexByte(raw[len(option):], '=') < 0 {
				w.Literal, w.Glob = true, false
				return true
			}
		}
		return false
	}
	if raw[0] == '*' || raw[0] == '?' { // for those that list, an option names what they show
		last := raw[len(raw)-1]
		if !careless.has(program) || listing.has(program) && (last == '*' || last == '?') {
			return false
		}
	}
	return bytes.IndexByte(raw, '=') < 0
}

// computes reports that a program does nothing with its operand number n but show or
// compare it.
func computes(program string, n int) bool {
	switch program {
	case "echo", "test", "[":
		return true
	}
	return program == "printf" && n > 1
}

// parameter reads what stands behind a $ in a word: $?, the variables of loops, and for echo the variables that
// everybody knows and what commands print. It returns the place behind it.
func (r *strictReader) parameter(at int, quoted bool) (next int, ok bool) {
	l, rest := r.line, r.text[at+1:]
	if len(l.words) == r.words || len(rest) == 0 || r.from.index >= 0 && rest[0] == '(' {
		return 0, false
	}
	program := string(l.words[r.words].Text)
	if v, behind := r.variable(at); v != nil {
		return behind, r.inserts(v, r.text[at:behind], quoted)
	}
	switch {
	case rest[0] == '?':
		next = at + 2
	case program != "echo":
		return 0, false
	case rest[0] == '(':
		end := bytes.IndexByte(rest, ')')
		if end < 0 || bytes.ContainsAny(rest[1:end], "($`#\\!{}<>\n") || len(bytes.TrimSpace(rest[1:end])) == 0 {
			return 0, false
		}
		next = at + 2 + end
		r.inner = append(r.inner, rest[1:end])
	default:
		n := 0
		for n < len(rest) && (isLetter(rest[n]) || n > 0 && rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		next = at + 1 + n
		if !shownVariables.has(string(rest[:n])) || next < len(r.text) && bytes.IndexByte([]byte("[:"), r.text[next]) >= 0 {
			return 0, false
		}
	}
	l.text = append(l.text, r.text[at:next]...)
	r.computed = true
	return next, true
}

// shownVariables say where somebody works, and with what; none holds a secret.
var shownVariables = words{
	"HOME", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "TERM", "HOSTNAME", "GOPATH", "GOROOT", "JAVA_HOME", "VIRTUAL_ENV", "CI", "NODE_ENV", "TMPDIR",
}

// substituted reads the commands of which the words of the command that has just ended
// hold what they print.
func (r *strictReader) substituted(piped bool) bool {
	texts := r.inner
	r.inner = nil
	for _, text := range texts {
		l := r.line
		inner := strictReader{line: l, text: text, from: r.from, words: len(l.words), redirects: len(l.redirects), apart: true, within: true}
		first := len(l.Commands)
		if !inner.list() || len(l.Commands) == first || inner.printing {
			return false
		}
		for i := first; i < len(l.Commands); i++ {
			l.Commands[i].Piped = l.Commands[i].Piped || piped
		}
		r.words, r.redirects = len(l.words), len(l.redirects)
	}
	return true
}

// harmlessVariables say how a program talks, and not what it does; with plain values they
// may stand before a command.
var harmlessVariables = words{
	"CI", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES", "TERM", "TZ", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "RUST_BACKTRACE",
	"GIT_TERMINAL_PROMPT", "GIT_OPTIONAL_LOCKS", "DO_NOT_TRACK",
}

// locales may be set to one whose characters are those that the line is read with: to a
// shell in a locale of another charset, as GBK, the last byte of a letter and the backslash
// behind it are one character, and the quote behind that is none.
var locales = words{"LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME"}

// sameCharset reports a locale that has the charset of the line, or none beyond ASCII.
func sameCharset(locale []byte) bool {
	_, charset, _ := bytes.Cut(locale, []byte("."))
	switch string(charset) {
	case "UTF-8", "utf-8", "utf8", "UTF8":
		return true
	}
	return string(locale) == "C" || string(locale) == "POSIX"
}

// pagers may be set to cat.
var pagers = words{"PAGER", "GIT_PAGER", "MANPAGER", "GH_PAGER"}

// harmlessAssignment reports NAME=VALUE that changes nothing but how a program talks.
func harmlessAssignment(w Word) bool {
	name, value, ok := bytes.Cut(w.Text, []byte("="))
	if !ok || w.Quoted || !w.Literal || bytes.Contains(value, []byte("..")) {
		return false
	}
	for _, c := range value {
		if !isLetter(c) && (c < '0' || c > '9') && bytes.IndexByte([]byte("-.,@"), c) < 0 {
			return false
		}
	}
	return harmlessVariables.has(string(name)) || pagers.has(string(name)) && string(value) == "cat" || locales.has(string(name)) && sameCharset(value)
}

// remark reads a line that is a comment, or to some shells a command without a meaning: one
// named #, which nobody has, with words of nothing but letters.
func (r *strictReader) remark() bool {
	if r.inCommand() || r.needs || r.within {
		return false
	}
	for r.pos++; r.pos < len(r.text) && r.text[r.pos] != '\n'; r.pos++ {
		if c := r.text[r.pos]; !plainBytes[c] && c != ' ' && c != '#' || c == '=' {
			return false
		}
	}
	return true
}
