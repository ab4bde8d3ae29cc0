package shell

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

// strictReader reads lists of simple commands and nothing else. Whatever some shell
// might read in another way makes it give up.
type strictReader struct {
	line *Line
	text []byte
	pos  int
	from parent

	words, redirects int      // where those of the command under way begin
	needs            bool     // a command has to follow
	piped            bool     // the command under way stands behind a pipe
	apart            bool     // something other than && and | stands before it
	prints           bool     // a word of the command under way is printed by a cat
	printing         bool     // so is one of some command
	prefixed         bool     // ! or NAME=VALUE stands before the command under way
	computed         bool     // the word under way has a number in it, or what a command prints
	within           bool     // the text stands in $(...)
	inner            [][]byte // texts in $(...) of the command under way
	document         []byte   // what ends the text that follows the line, as input of a command
	reads            bool     // of the command under way
}

// strict adds the commands of a plain text. If the text is not plain it adds nothing.
func (l *Line) strict(text []byte, from parent) bool {
	r := strictReader{line: l, text: text, from: from, words: len(l.words), redirects: len(l.redirects)}
	commands := len(l.Commands)
	if r.list() && len(l.Commands) > commands && !(r.printing && renames(l.Commands[commands:])) {
		return true
	}
	l.Commands, l.words, l.redirects = l.Commands[:commands], l.words[:r.words], l.redirects[:r.redirects]
	return false
}

// list reads commands and the operators between them.
func (r *strictReader) list() bool {
	for r.pos < len(r.text) {
		switch c := r.text[r.pos]; c {
		case ' ', '\t':
			r.pos++
		case '\n':
			if r.prefixed && !r.inCommand() {
				return false
			}
			r.pos++
			if r.document != nil && !r.skipDocument() {
				return false
			}
			if r.inCommand() {
				if !r.end() {
					return false
				}
				r.apart = true
			}
		case '\\':
			if r.pos+1 < len(r.text) && r.text[r.pos+1] == '\n' && r.document == nil {
				r.pos += 2 // the line goes on in the next one
				continue
			}
			if !r.next() {
				return false
			}
		case '#':
			if !r.remark() {
				return false
			}
		case '!':
			if r.inCommand() || r.prefixed || r.piped || r.pos+1 == len(r.text) || r.text[r.pos+1] != ' ' {
				if !r.next() {
					return false
				}
				continue
			}
			r.pos++
			r.prefixed, r.needs, r.apart = true, true, true
		case ';', '&', '|':
			if !r.inCommand() {
				return false
			}
			if !r.end() {
				return false
			}
			r.pos++
			double := r.pos < len(r.text) && r.text[r.pos] == c
			if double {
				if c == ';' {
					return false
				}
				r.pos++
			}
			if r.pos < len(r.text) && (r.text[r.pos] == '&' || r.text[r.pos] == '>' && c == '&') {
				return false // |& and &> are not POSIX
			}
			r.needs, r.piped = double || c == '|', c == '|' && !double
			r.apart = r.apart || c == ';' || (c == '&') != double
		case '<', '>':
			if !r.redirect() {
				return false
			}
		default:
			if c >= '0' && c <= '9' && r.pos+1 < len(r.text) && (r.text[r.pos+1] == '<' || r.text[r.pos+1] == '>') {
				r.pos++
				continue
			}
			if !r.next() {
				return false
			}
		}
	}
	if r.inCommand() && !r.end() {
		return false
	}
	return !r.needs && r.document == nil
}

// next reads the next word of a command.
func (r *strictReader) next() bool {
	start := r.pos
	w, ok := r.word()
	if !ok {
		return false
	}
	if !r.inCommand() && harmlessAssignment(w) {
		r.prefixed, r.needs = true, true
		return true
	}
	if len(r.line.words) == r.words && !commandWord(w) || r.misnamed(w) {
		return false
	}
	if !w.Literal && !r.expands(&w, r.text[start:r.pos]) {
		return false
	}
	if next := r.pos; next < len(r.text) && (r.text[next] == '<' || r.text[next] == '>') && isNumber(w.Text) {
		return false // a descriptor of several digits
	}
	r.line.words = append(r.line.words, w)
	return true
}

// misnamed reports NAME=VALUE behind a builtin that sets variables where NAME cannot be one:
// some shells stop there, others go on.
func (r *strictReader) misnamed(w Word) bool {
	l := r.line
	if len(l.words) == r.words || w.Text == nil || bytes.IndexByte(w.Text, '=') < 0 || IsAssignment(w.Text) {
		return false
	}
	return declaring.has(string(l.words[r.words].Text)) && w.Text[0] != '-'
}

var declaring = words{"export", "declare", "typeset", "local", "readonly", "nameref"}

// inCommand reports whether a command is under way.
func (r *strictReader) inCommand() bool {
	return len(r.line.words) > r.words || len(r.line.redirects) > r.redirects
}

// end ends the command under way. It reports false if it is not certain what that runs.
func (r *strictReader) end() bool {
	l := r.line
	words, redirects := l.words[r.words:len(l.words):len(l.words)], l.redirects[r.redirects:len(l.redirects):len(l.redirects)]
	c := l.add(words, redirects, r.from, true)
	c.Piped, c.Prints, c.joined = r.piped, r.prints, !r.apart && r.from.index < 0
	r.words, r.redirects, r.needs = len(l.words), len(l.redirects), false
	if r.reads && (len(words) == 0 || c.stdin() || !documented.has(string(words[0].Text))) {
		return false // two inputs, or a program for which the text may be more than a text
	}
	c.Fed = r.reads
	piped := c.Piped || c.stdin()
	r.piped, r.prints, r.prefixed, r.reads = false, false, false, false
	return r.substituted(piped)
}

// redirect reads < > >> >| with a word, and >&1 and the like, which open nothing.
func (r *strictReader) redirect() bool {
	write := r.text[r.pos] == '>'
	r.pos++
	if r.pos == len(r.text) {
		return false
	}
	switch c := r.text[r.pos]; {
	case c == '&':
		r.pos++
		if r.pos == len(r.text) {
			return false
		}
		c = r.text[r.pos]
		r.pos++
		if c != '-' && (c < '0' || c > '9') || r.pos < len(r.text) && !ends(r.text[r.pos]) {
			return false
		}
		// The command may consist of this alone; it opens nothing.
		if !r.inCommand() {
			return false
		}
		return true
	case write && (c == '>' || c == '|'):
		r.pos++
	case !write && c == '<':
		r.pos++
		return r.opensDocument()
	case c == '<' || c == '>' || c == '(':
		return false
	}
	for r.pos < len(r.text) && (r.text[r.pos] == ' ' || r.text[r.pos] == '\t') {
		r.pos++
	}
	if r.pos == len(r.text) || ends(r.text[r.pos]) {
		return false
	}
	w, ok := r.word()
	if !ok || !w.Literal || len(w.Text) == 0 || r.pos < len(r.text) && (r.text[r.pos] == '<' || r.text[r.pos] == '>') {
		return false
	}
	r.line.redirects = append(r.line.redirects, Redirect{Target: w, Write: write})
	return true
}

// ends reports a byte that ends a word.
func ends(c byte) bool {
	switch c {
	case ' ', '\t', '\n', ';', '&', '|', '<', '>':
		return true
	}
	return false
}

// word reads one word. Its text is part of the line unless quotes are removed.
func (r *strictReader) word() (w Word, ok bool) {
	start := r.pos
	for r.pos < len(r.text) && plainBytes[r.text[r.pos]] {
		r.pos++
	}
	if r.pos == len(r.text) || ends(r.text[r.pos]) {
		return Word{Text: r.text[start:r.pos], Literal: true}, r.pos > start && r.text[start] != '='
	}
	first := r.text[start]
	if first == '=' {
		return w, false
	}
	l := r.line
	at := len(l.text)
	l.text = append(l.text, r.text[start:r.pos]...)
	w.Literal = true
	for r.pos < len(r.text) && !ends(r.text[r.pos]) {
		c := r.text[r.pos]
		switch {
		case plainBytes[c]:
			l.text = append(l.text, c)
			r.pos++
		case c == '\'':
			w.Quoted = true
			ok = r.single()
		case c == '"':
			w.Quoted = true
			ok = r.double()
		case c == '\\':
			w.Quoted = true
			ok = r.escaped()
		case c == '*' || c == '?' || c == '~' && r.pos == start:
			w.Literal, w.Glob, ok = false, w.Glob || c != '~', true
			if c == '~' && r.pos+1 < len(r.text) && r.text[r.pos+1] != '/' && !ends(r.text[r.pos+1]) {
				return w, false
			}
			l.text = append(l.text, c)
			r.pos++
		case c == '$':
			var next int
			if next, ok = r.parameter(r.pos); ok {
				r.pos = next
			}
		default:
			ok = r.odd(start)
		}
		if !plainBytes[c] && !ok {
			return w, false
		}
	}
	w.Text = l.text[at:len(l.text):len(l.text)]
	if r.computed {
		w.Literal, w.Quoted = false, true
	}
	return w, true
}

// single reads '...'. Shells of another family take a backslash at its end for an
// escape.
func (r *strictReader) single() bool {
	for i := r.pos + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '\'':
			if r.text[i-1] == '\\' {
				return false
			}
			r.line.text = append(r.line.text, r.text[r.pos+1:i]...)
			r.pos = i + 1
			return true
		case c < ' ' && c != '\n' || c == 0x7f:
			return false
		case c >= utf8.RuneSelf:
			size := visible(r.text[i:])
			if size == 0 {
				return false
			}
			i += size - 1
		}
	}
	return false
}

// double reads "..." without expansions, but for a text that cat prints.
func (r *strictReader) double() bool {
	l := r.line
	for i := r.pos + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.pos = i + 1
			return true
		case c == '$':
			next, ok := r.printed(i)
			if !ok {
				next, ok = r.parameter(i)
			}
			if !ok {
				return false
			}
			i = next - 1
		case c == '`' || c == '!' || c < ' ' && c != '\n' || c == 0x7f:
			return false
		case c == '\\':
			if i++; i == len(r.text) {
				return false
			}
			switch e := r.text[i]; {
			case e == '"' || e == '\\' || e == '$' || e == '`':
				l.text = append(l.text, e)
			case e < ' ' || e >= 0x7f || e == '!':
				return false
			default:
				l.text = append(l.text, '\\', e)
			}
		case c >= utf8.RuneSelf:
			size := visible(r.text[i:])
			if size == 0 {
				return false
			}
			l.text = append(l.text, r.text[i:i+size]...)
			i += size - 1
		default:
			l.text = append(l.text, c)
		}
	}
	return false
}

// escaped reads a backslash and what it quotes.
func (r *strictReader) escaped() bool {
	if r.pos+1 == len(r.text) {
		return false
	}
	c := r.text[r.pos+1]
	if c <= ' ' && c != ' ' || c >= 0x7f {
		return false
	}
	r.line.text = append(r.line.text, c)
	r.pos += 2
	return true
}

// odd reads a character that means itself only in some places: ~ and ^ inside a
// word, ! and {} as a word, @{...} as git writes it, letters beyond ASCII.
func (r *strictReader) odd(start int) bool {
	l, c := r.line, r.text[r.pos]
	size := 1
	switch {
	case c == '~' || c == '^':
		if r.pos == start || r.text[r.pos-1] == '=' || r.text[r.pos-1] == ':' {
			return false
		}
	case c == '#':
		if r.pos == start {
			return false
		}
	case c == '!':
		if r.pos != start || r.pos+1 < len(r.text) && !ends(r.text[r.pos+1]) {
			return false
		}
	case c == '[' || c == ']': // the program, and what ends its words
		if r.pos != start || r.pos+1 < len(r.text) && !ends(r.text[r.pos+1]) || c == '[' && len(l.words) > r.words || c == ']' && len(l.words) == r.words {
			return false
		}
	case c == '{':
		rest := r.text[r.pos+1:]
		n := 0
		for r.pos > start && r.text[r.pos-1] == '@' && n < len(rest) && (isLetter(rest[n]) || rest[n] >= '0' && rest[n] <= '9') {
			n++
		}
		if n == len(rest) || rest[n] != '}' || n == 0 && r.pos != start {
			return false
		}
		if size = n + 2; n == 0 && r.pos+size < len(r.text) && !ends(r.text[r.pos+size]) {
			return false
		}
	case c >= utf8.RuneSelf:
		if size = visible(r.text[r.pos:]); size == 0 {
			return false
		}
	default:
		return false
	}
	l.text = append(l.text, r.text[r.pos:r.pos+size]...)
	r.pos += size
	return true
}

// visible returns the length of a character beyond ASCII that is printed as itself,
// 0 for any other.
func visible(text []byte) int {
	c, size := utf8.DecodeRune(text)
	if size > 1 && unicode.In(c, unicode.L, unicode.N, unicode.P, unicode.S) {
		return size
	}
	return 0
}

// plainBytes mean themselves wherever they stand, but for = at the start of a word.
var plainBytes = func() (t [256]bool) {
	for _, b := range []byte("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:=+@%") {
		t[b] = true
	}
	return t
}()
