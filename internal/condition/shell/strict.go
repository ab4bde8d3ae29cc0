package shell

import (
	"bytes"
	"slices"

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
	negated          bool     // nothing but ! precedes it
	computed         bool     // the current word contains a number, or the output of a command
	within           bool     // the text is in $(...)
	commands         [][]byte // texts in $(...) of the current command
	document         []byte   // delimiter of the here-document that follows the line
	reads            bool     // the current command has a here-document
	vars             []bound  // of the enclosing loops
	looped           bool     // a compound command has just ended
	follows          bool     // the pipe before the current command follows a compound one
	unknown          bool     // a word of the current command contains a text that is not known
	foreign          bool     // such a text is the value of a variable that the line does not set

	start    int      // first command of the list
	opened   int      // first command of the last compound one
	enders   []string // words that end the list; none: the end of the text
	ender    string   // the one that did
	depth    int      // of compound commands around the list
	loops    int      // of unrolled loops around the list
	inner    bool     // the list is in a compound command
	repeats  bool     // the list is in a loop that is not unrolled
	restored bool     // the list is in parentheses in that loop
	endless  bool     // the list has such a loop
}

// strict adds the commands of a plain text. It returns false, without adding commands, if the text
// is not plain.
func (l *Line) strict(text []byte, from parent) bool {
	r := strictReader{line: l, text: text, from: from, words: len(l.words), redirects: len(l.redirects), start: len(l.Commands)}
	commands := len(l.Commands)
	if r.list() && len(l.Commands) > commands && !(r.printing && renames(l.Commands[commands:])) {
		return true
	}
	l.Commands, l.words, l.redirects = l.Commands[:commands], l.words[:r.words], l.redirects[:r.redirects]
	return false
}

// list reads commands and the operators between them.
func (r *strictReader) list() bool {
	for r.pos < len(r.text) && r.ender == "" {
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
			if r.looped {
				return false
			}
			if r.inCommand() || r.prefixed || r.piped || r.pos+1 == len(r.text) || r.text[r.pos+1] != ' ' {
				if !r.next() {
					return false
				}
				continue
			}
			r.pos++
			r.prefixed, r.negated, r.needs, r.apart = true, true, true, true
		case ')':
			if (r.needs || r.prefixed) && !r.inCommand() || r.inCommand() && !r.end() || !slices.Contains(r.enders, ")") {
				return false
			}
			r.pos++
			r.ender = ")"
		case ';', '&', '|':
			if !r.operator(c) {
				return false
			}
		case '<', '>':
			if !r.redirect() {
				return false
			}
			if r.looped {
				r.share()
			}
		default:
			if c >= '0' && c <= '9' && r.pos+1 < len(r.text) && (r.text[r.pos+1] == '<' || r.text[r.pos+1] == '>') {
				r.pos++
				continue
			}
			if r.looped {
				return false
			}
			if r.endsHere() {
				continue
			}
			if found, ok := r.compound(); found && ok {
				continue
			} else if !ok {
				return false
			}
			if !r.next() {
				return false
			}
		}
	}
	if r.inCommand() && !r.end() {
		return false
	}
	return !r.needs && r.document == nil && (r.ender != "") == (r.enders != nil)
}

// next reads the next word of a command.
func (r *strictReader) next() bool {
	if w, ok := r.file(); ok {
		r.line.words = append(r.line.words, w)
		return true
	}
	switch {
	case r.looped, r.inBrackets():
		return false
	case r.opensTest():
		return r.test()
	case r.compared():
		return true
	}
	start := r.pos
	w, ok := r.word()
	if !ok {
		return false
	}
	if !r.inCommand() && (harmlessAssignment(w) || r.separates(w)) {
		r.prefixed, r.negated, r.needs = true, false, true
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
	c.Piped, c.Fed, c.Prints, c.Joined = r.piped && !r.follows, r.piped && r.follows, r.prints, !r.apart && r.from.index < 0
	c.inner, c.Repeats, c.restored = r.inner, r.repeats, r.restored
	r.words, r.redirects, r.needs = len(l.words), len(l.redirects), false
	if r.reads && (len(words) == 0 || c.Stdin() || !programs.Documented.Has(string(words[0].Text))) {
		return false // two inputs, or a program for which the text may be more than data
	}
	if len(r.vars) > 0 && r.assigns(words) || r.unknown && !r.keepsTexts(words) {
		return false
	}
	c.Fed = c.Fed || r.reads
	fed := c.Stdin()
	r.piped, r.follows, r.prints, r.prefixed, r.negated, r.reads, r.unknown, r.foreign = false, false, false, false, false, false, false, false
	return r.substituted(fed)
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
		return r.inCommand() || r.looped
	case write && (c == '>' || c == '|'):
		r.pos++
	case !write && c == '<':
		r.pos++
		return !r.looped && r.opensDocument()
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
	case ' ', '\t', '\n', ';', '&', '|', '<', '>', ')':
		return true
	}
	return false
}
