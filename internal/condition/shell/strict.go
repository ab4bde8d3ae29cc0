package shell

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// strictReader parses lists of simple commands only. It gives up on everything that some shell
// might read differently.
type strictReader struct {
	line *Line
	text []byte
	pos  int
	from parent

	words, redirects int      // start of those of the current command
	needs            bool     // a command has to follow
	piped            bool     // the current command follows a pipe
	apart            bool     // something other than && and | precedes it
	prints           bool     // cat prints a word of the current command
	printing         bool     // cat prints a word of some command
	prefixed         bool     // ! or NAME=VALUE precedes the current command
	computed         bool     // the current word contains a number, or the output of a command
	within           bool     // the text is in $(...)
	inner            [][]byte // texts in $(...) of the current command
	document         []byte   // delimiter of the here-document that follows the line
	reads            bool     // the current command has a here-document
	vars             []bound  // of the enclosing loops
	body             bool     // the text is the list of a loop, up to "done"
	closed           bool     // "done" has been read
	looped           bool     // a loop has just ended
}

// strict adds the commands of a plain text. It returns false, without adding commands, if the text
// is not plain.
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
	for r.pos < len(r.text) && !r.closed {
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
			if r.looped || r.inCommand() {
				if r.inCommand() && !r.end() {
					return false
				}
				r.apart, r.looped = true, false
			}
		case '\\':
			if r.pos+1 < len(r.text) && r.text[r.pos+1] == '\n' && r.document == nil {
				r.pos += 2 // the line continues on the next one
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
			if !r.inCommand() && !r.looped || r.inCommand() && !r.end() {
				return false
			}
			r.looped = false
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
			if r.looped || !r.redirect() {
				return false
			}
		default:
			switch {
			case r.looped:
				return false
			case c == 'f' && r.keyword("for"):
				if !r.loop() {
					return false
				}
				continue
			case c == 'd' && r.body && !r.needs && r.keyword("done"):
				r.pos += len("done")
				r.closed = true
				continue
			}
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
	return !r.needs && r.document == nil && r.closed == r.body
}

// next reads the next word of a command.
func (r *strictReader) next() bool {
	if w, ok := r.file(); ok {
		r.line.words = append(r.line.words, w)
		return true
	}
	start := r.pos
	w, ok := r.word()
	if !ok || r.looped {
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
	if next := r.pos; next < len(r.text) && (r.text[next] == '<' || r.text[next] == '>') && IsNumber(w.Text) {
		return false // a descriptor of several digits
	}
	r.line.words = append(r.line.words, w)
	return true
}

// misnamed reports whether a word is NAME=VALUE after a builtin that sets variables, with an
// invalid NAME: some shells stop there, others continue.
func (r *strictReader) misnamed(w Word) bool {
	l := r.line
	if len(l.words) == r.words || w.Text == nil || bytes.IndexByte(w.Text, '=') < 0 || IsAssignment(w.Text) {
		return false
	}
	return programs.Declaring.Has(string(l.words[r.words].Text)) && w.Text[0] != '-'
}

// inCommand reports whether a command has begun.
func (r *strictReader) inCommand() bool {
	return len(r.line.words) > r.words || len(r.line.redirects) > r.redirects
}

// end ends the current command. It returns false if the program that it runs is not certain.
func (r *strictReader) end() bool {
	l := r.line
	words, redirects := l.words[r.words:len(l.words):len(l.words)], l.redirects[r.redirects:len(l.redirects):len(l.redirects)]
	c := l.add(words, redirects, r.from, true)
	c.Piped, c.Prints, c.Joined = r.piped, r.prints, !r.apart && r.from.index < 0
	r.words, r.redirects, r.needs = len(l.words), len(l.redirects), false
	if r.reads && (len(words) == 0 || c.Stdin() || !programs.Documented.Has(string(words[0].Text))) {
		return false // two inputs, or a program for which the text may be more than data
	}
	c.Fed = r.reads
	piped := c.Piped || c.Stdin()
	r.piped, r.prints, r.prefixed, r.reads = false, false, false, false
	return r.substituted(piped)
}

// redirect reads < > >> >| with a word, and >&1 and similar ones, which open no file.
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
		// The command may consist of this alone; it opens no file.
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

// ends reports whether a byte ends a word.
func ends(c byte) bool {
	switch c {
	case ' ', '\t', '\n', ';', '&', '|', '<', '>':
		return true
	}
	return false
}
