package shell

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// A loop over words is unrolled: its list is read once for each word.
//
//	for f in a.go b.go; do head -3 "$f"; done    head -3 a.go; head -3 b.go
//	for f in src/*; do cat "$f"; done            echo src/*; cat src/*
//
// The list already shows the names that wildcards match. A command gets one of these names at a
// time; a program to which this makes no difference is read as if it got them all.

// bound is a loop variable with its value.
type bound struct {
	name  string
	value Word
	raw   []byte // of a value with wildcards, as written
	// unknown: the value is the output of a command, or a line of an input.
	unknown bool
}

const (
	maxItems    = 64       // words of one loop
	maxLoops    = 2        // nesting depth of loops
	maxUnrolled = 64 << 10 // bytes of unrolled lists and of the values in them
)

// loopNames are variables without a special meaning to any shell or program: zsh, for example, has
// its search path in "path".
var loopNames = programs.Words{
	"file", "dir", "name", "item", "pkg", "module", "crate", "line", "test", "src", "entry", "branch", "commit", "sha", "num", "lang", "ext", "word", "target", "tool", "cmd",
}

func loopName(name []byte) bool {
	return len(name) == 1 && name[0] >= 'a' && name[0] <= 'z' || len(name) > 1 && loopNames.Has(string(name))
}

// keyword reads a word of the grammar and reports whether it was there.
func (r *strictReader) keyword(word string) bool {
	rest, ok := bytes.CutPrefix(r.text[r.pos:], []byte(word))
	return ok && !r.inCommand() && !r.prefixed && (len(rest) == 0 || ends(rest[0]))
}

func (r *strictReader) skip(set string) {
	for r.pos < len(r.text) && bytes.IndexByte([]byte(set), r.text[r.pos]) >= 0 {
		r.pos++
	}
}

// loop reads "for NAME in WORD...; do LIST; done".
func (r *strictReader) loop() bool {
	l := r.line
	if r.loops >= maxLoops {
		return false
	}
	r.pos += len("for")
	r.skip(" ")
	start := r.pos
	for r.pos < len(r.text) && (IsLetter(r.text[r.pos]) || '0' <= r.text[r.pos] && r.text[r.pos] <= '9') {
		r.pos++
	}
	name := r.text[start:r.pos]
	r.skip(" ")
	if !loopName(name) || !r.keyword("in") || slices.ContainsFunc(r.vars, func(v bound) bool { return v.name == string(name) }) {
		return false
	}
	r.pos += len("in")
	items, ok := r.items()
	if !ok {
		return false
	}
	r.skip(" \n")
	if !r.keyword("do") {
		return false
	}
	r.pos += len("do")
	start, printing := r.pos, r.printing
	for _, item := range items {
		item.name = string(name)
		if !item.value.Literal && !item.unknown { // the names are shown by the list
			r.names(item)
		}
		r.pos = start
		in := r.nested("done")
		in.vars, in.inner, in.loops = append(r.vars[:len(r.vars):len(r.vars)], item), r.inner, r.loops+1
		if !item.value.Literal || item.unknown {
			in.repeats, in.restored = true, false
		}
		if _, ok := r.body(in); !ok || r.printing != printing {
			return false
		}
		if l.unrolled += r.pos - start; l.unrolled > maxUnrolled {
			return false
		}
	}
	return true
}

// items reads the words of a loop up to their end.
func (r *strictReader) items() (list []bound, ok bool) {
	for {
		r.skip(" ")
		if r.pos == len(r.text) || len(list) > maxItems {
			return nil, false
		}
		if c := r.text[r.pos]; c == ';' || c == '\n' {
			r.pos++
			return list, len(list) > 0
		}
		start := r.pos
		if end, ok := r.lists(); ok {
			list = append(list, bound{unknown: true})
			r.pos = end
			continue
		}
		w, ok := r.word()
		if !ok || len(w.Text) == 0 || !w.Literal && (w.Quoted || !pattern(r.text[start:r.pos])) {
			return nil, false
		}
		list = append(list, bound{value: w, raw: r.text[start:r.pos]})
	}
}

// lists reads an item of a loop that becomes any number of words: the output of commands, or {1..9}.
func (r *strictReader) lists() (end int, ok bool) {
	rest := r.text[r.pos:]
	if range_, braces := bytes.CutPrefix(rest, []byte("{")); braces {
		from, after, dots := bytes.Cut(range_, []byte(".."))
		to, after, closed := bytes.Cut(after, []byte("}"))
		end = len(r.text) - len(after)
		return end, dots && closed && len(from) < 4 && len(to) < 4 && IsNumber(from) && IsNumber(to) && len(after) > 0 && ends(after[0])
	}
	if len(rest) < 2 || rest[0] != '$' || rest[1] != '(' {
		return 0, false
	}
	end, ok = r.substitution(r.pos)
	return end, ok && end < len(r.text) && ends(r.text[end]) && r.substituted(false)
}

// names adds the command that shows the names that the wildcards of an item match.
func (r *strictReader) names(item bound) {
	l := r.line
	at := len(l.words)
	l.words = append(l.words, Word{Text: []byte("echo"), Literal: true}, item.value)
	l.add(l.words[at:len(l.words):len(l.words)], nil, r.from, true)
}

// variable returns the loop variable after a $, and the offset after it.
func (r *strictReader) variable(at int) (v *bound, next int) {
	rest := r.text[at+1:]
	brace := len(rest) > 0 && rest[0] == '{'
	if brace {
		rest = rest[1:]
	}
	n := 0
	for n < len(rest) && (IsLetter(rest[n]) || n > 0 && '0' <= rest[n] && rest[n] <= '9') {
		n++
	}
	next = at + 1 + n
	if brace {
		if n == len(rest) || rest[n] != '}' {
			return nil, 0
		}
		next += 2
	} else if n < len(rest) && bytes.IndexByte([]byte("[:"), rest[n]) >= 0 { // zsh treats these as part of the expansion
		return nil, 0
	}
	for i := len(r.vars) - 1; i >= 0; i-- {
		if r.vars[i].name == string(rest[:n]) {
			return &r.vars[i], next
		}
	}
	return nil, 0
}

// inserts appends the value of a loop variable to the current word. The names that wildcards match
// may only be printed, by a program that prints its words.
func (r *strictReader) inserts(v *bound, text []byte, quoted bool) bool {
	l := r.line
	switch {
	case v.value.Literal && (quoted || PlainText(v.value.Text)):
		l.text = append(l.text, v.value.Text...)
		l.unrolled += len(v.value.Text)
		return l.unrolled <= maxUnrolled
	case !v.value.Literal && (quoted || wordwise.Has(string(l.words[r.words].Text))) && texts.Has(string(l.words[r.words].Text)):
		l.text = append(l.text, text...)
		r.computed, r.unknown = true, true
		return true
	}
	return false
}

// texts are programs that print or compare words, and wordwise those of them for which a variable
// without quotes is one word.
var texts, wordwise = programs.Words{"echo", "printf", "test", "[", "[[", "case"}, programs.Words{"[[", "case"}

func PlainText(text []byte) bool {
	for _, c := range text {
		if !PlainBytes[c] {
			return false
		}
	}
	return len(text) > 0
}

// file reads a quoted word that is one of the names matched by the wildcards of a loop.
func (r *strictReader) file() (w Word, ok bool) {
	l, rest := r.line, r.text[r.pos:]
	if len(r.vars) == 0 || len(rest) < 4 || rest[0] != '"' || rest[1] != '$' || len(l.words) == r.words || l.words[r.words].Quoted {
		return w, false
	}
	v, next := r.variable(r.pos + 1)
	if v == nil || v.value.Literal || v.unknown || next >= len(r.text) || r.text[next] != '"' || next+1 < len(r.text) && !ends(r.text[next+1]) {
		return w, false
	}
	w = v.value
	program, before := string(l.words[r.words].Text), l.words[len(l.words)-1]
	switch {
	case r.expands(&w, v.raw):
	case programs.Single.Has(program) && inDirectory(v.raw):
	case (program == "test" || program == "[") && asksFile(before):
	default:
		return w, false
	}
	r.pos = next + 1
	return w, true
}

// pattern reports whether only wildcards, or a path below the home directory, are expanded.
func pattern(raw []byte) bool {
	for i, c := range raw {
		if c != '*' && c != '?' && !PlainBytes[c] && (c != '~' || i > 0) || c == '=' {
			return false
		}
	}
	return raw[0] != '-'
}

// inDirectory reports whether the first directory of a path is literal: then no name that it
// matches is an option.
func inDirectory(raw []byte) bool {
	return raw[0] != '*' && raw[0] != '?' && bytes.IndexByte(raw, '/') > 0
}

// asksFile reports whether a word is an operator of test on the file that follows.
func asksFile(w Word) bool {
	return w.Literal && !w.Quoted && len(w.Text) == 2 && w.Text[0] == '-' && bytes.IndexByte([]byte("efdsrwxLhnz"), w.Text[1]) >= 0
}
