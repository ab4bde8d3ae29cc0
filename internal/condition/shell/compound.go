package shell

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// A compound command is read as the simple commands in it, in text order. Each of them may run, in
// every branch, so a rule must permit all of them.
//
//	if [ -f go.mod ]; then go list; else ls; fi    [ -f go.mod ]; go list; ls
//	(cd src && ls) > names.txt                     cd src; ls, both with > names.txt
//	while read -r line; do echo "$line"; done      read -r line; echo "$line"
//
// The commands of a loop that is not unrolled are read once and marked as [Command.Repeats].

// maxCompound is the maximum nesting depth of compound commands.
const maxCompound = 8

// compound reads the compound command that begins here. found is false if none does.
func (r *strictReader) compound() (found, ok bool) {
	kind := r.opening()
	if kind == 0 {
		return false, true
	}
	l := r.line
	if r.within || r.document != nil || r.looped || r.inCommand() || r.prefixed || r.depth == maxCompound {
		return true, false
	}
	r.opened = len(l.Commands)
	switch kind {
	case '(':
		ok = r.group("(", ")")
	case '{':
		ok = r.group("{", "}")
	case 'f':
		ok = r.loop()
	case 'i':
		ok = r.branches()
	case 'w':
		ok = r.repetition()
	case 'c':
		ok = r.choice()
	}
	if !ok {
		return true, false
	}
	for i := r.opened; i < len(l.Commands); i++ {
		c := &l.Commands[i]
		c.Fed, c.inner = c.Fed || r.piped, c.inner || r.piped
		r.endless = r.endless || c.Repeats
	}
	r.words, r.redirects = len(l.words), len(l.redirects)
	r.looped, r.apart, r.needs, r.piped, r.follows = true, true, false, false, false
	return true, true
}

// opening returns the kind of the compound command whose first word is here, by a letter of it, 0 if
// there is none.
func (r *strictReader) opening() byte {
	switch c := r.text[r.pos]; {
	case c == '(', c == '{' && r.keyword("{"), c == 'f' && r.keyword("for"), c == 'i' && r.keyword("if"), c == 'w' && r.keyword("while"), c == 'c' && r.keyword("case"):
		return c
	case c == 'u' && r.keyword("until"):
		return 'w'
	}
	return 0
}

// nested returns a reader of a list of commands within the current compound command, which ends
// with one of some words.
func (r *strictReader) nested(enders ...string) strictReader {
	l := r.line
	return strictReader{
		line: l, text: r.text, pos: r.pos, from: r.from, words: len(l.words), redirects: len(l.redirects), start: len(l.Commands),
		apart: true, vars: r.vars, loops: r.loops, enders: enders, depth: r.depth + 1, inner: true, repeats: r.repeats, restored: r.restored,
	}
}

// body reads a list of commands with a nested reader, up to the word that ends it.
func (r *strictReader) body(in strictReader) (ender string, ok bool) {
	l := r.line
	if !in.list() {
		return "", false
	}
	r.pos, r.printing = in.pos, r.printing || in.printing
	r.words, r.redirects = len(l.words), len(l.redirects)
	return in.ender, len(l.Commands) > in.start || in.ender == ";;" || in.ender == "esac"
}

// endsHere reads the word that ends the list, if it is here.
func (r *strictReader) endsHere() bool {
	for _, word := range r.enders {
		if !r.needs && r.keyword(word) {
			r.pos += len(word)
			r.ender = word
			return true
		}
	}
	return false
}

// group reads "(LIST)" or "{ LIST; }".
func (r *strictReader) group(open, end string) bool {
	if r.pos++; open == "(" && (r.pos == len(r.text) || r.text[r.pos] == '(') {
		return false // arithmetic
	}
	in := r.nested(end)
	in.restored = in.restored || open == "("
	_, ok := r.body(in)
	return ok
}

// branches reads "if LIST; then LIST; elif LIST; then LIST; else LIST; fi".
func (r *strictReader) branches() bool {
	r.pos += len("if")
	for {
		if _, ok := r.body(r.nested("then")); !ok {
			return false
		}
		ender, ok := r.body(r.nested("elif", "else", "fi"))
		if ok && ender == "else" {
			ender, ok = r.body(r.nested("fi"))
		}
		if !ok || ender == "fi" {
			return ok
		}
	}
}

// repetition reads "while LIST; do LIST; done". The variables that read sets in the condition have
// unknown values in both lists.
func (r *strictReader) repetition() bool {
	if r.from.index >= 0 {
		return false // of a shell that may outlive the line
	}
	r.pos += len("while")
	l, first := r.line, len(r.line.Commands)
	condition := r.nested("do")
	condition.repeats, condition.restored = true, false
	if _, ok := r.body(condition); !ok {
		return false
	}
	list := r.nested("done")
	list.repeats, list.restored, list.vars = true, false, r.vars[:len(r.vars):len(r.vars)]
	for i := first; i < len(l.Commands); i++ {
		if words := l.Commands[i].Words; len(words) > 0 && string(words[0].Text) == "read" {
			for _, w := range words[1:] {
				if loopName(w.Text) {
					list.vars = append(list.vars, bound{name: string(w.Text), unknown: true})
				}
			}
		}
	}
	_, ok := r.body(list)
	return ok
}

// choice reads "case WORD in PATTERN|PATTERN) LIST;; ... esac".
func (r *strictReader) choice() bool {
	l := r.line
	r.pos += len("case")
	r.skip(" ")
	if r.pos == len(r.text) {
		return false
	}
	l.words = append(l.words, Word{Text: []byte("case"), Literal: true}) // as a program that compares its word
	w, ok := r.word()
	l.words = l.words[:r.words]
	r.computed, r.unknown, r.foreign = false, false, false
	if !ok || r.prints || len(w.Text) == 0 || !w.Literal && w.Glob || w.Tilde || !r.substituted(false) {
		return false
	}
	r.skip(" ")
	if !r.keyword("in") {
		return false
	}
	r.pos += len("in")
	for {
		r.skip(" \t\n")
		if r.keyword("esac") {
			r.pos += len("esac")
			return len(l.Commands) > r.opened
		}
		if !r.pattern() {
			return false
		}
		ender, ok := r.body(r.nested(";;", "esac"))
		if !ok || ender == "esac" {
			return ok && len(l.Commands) > r.opened
		}
	}
}

// pattern reads the patterns of one branch of case, with the parenthesis after them.
func (r *strictReader) pattern() bool {
	length := bytes.IndexByte(r.text[r.pos:], ')')
	if length <= 0 {
		return false
	}
	for _, c := range r.text[r.pos : r.pos+length] {
		if !PlainBytes[c] && c != '*' && c != '?' && c != '|' && c != ' ' {
			return false
		}
	}
	for p := range bytes.SplitSeq(r.text[r.pos:r.pos+length], []byte("|")) {
		if p = bytes.Trim(p, " "); len(p) == 0 || bytes.IndexByte(p, ' ') >= 0 || string(p) == "esac" {
			return false
		}
	}
	r.pos += length + 1
	return true
}

// share adds the redirections after a compound command to the commands in it.
func (r *strictReader) share() {
	l := r.line
	list := l.redirects[r.redirects:len(l.redirects):len(l.redirects)]
	for i := r.opened; i < len(l.Commands); i++ {
		c := &l.Commands[i]
		c.Redirects = slices.Concat(c.Redirects, list)
	}
	r.redirects = len(l.redirects)
}

// assigns reports whether a command may change the value of a variable whose value is inserted.
func (r *strictReader) assigns(words []Word) bool {
	setter := false
	for i := range words {
		if setter {
			name := bytes.TrimPrefix(words[i].Text, []byte("-v"))
			if at := bytes.IndexAny(name, "=[+"); at >= 0 {
				name = name[:at]
			}
			if slices.ContainsFunc(r.vars, func(v bound) bool { return v.name == string(name) && !v.unknown }) {
				return true
			}
		}
		setter = setter || (programs.Naming | programs.Evaluating).Has(string(programs.Base(words[i].Text)))
	}
	return false
}
