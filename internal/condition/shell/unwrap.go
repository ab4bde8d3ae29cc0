package shell

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// unwrapAll adds, after each command of the text that begins at Commands[first], those that are
// unwrapped from it.
func (l *Line) unwrapAll(first, depth int) {
	wraps := false
	for i := first; i < len(l.Commands) && !wraps; i++ {
		c := &l.Commands[i]
		wraps = c.script != nil || c.braces != nil || programs.Known(string(c.Program())) || programs.OddName(c.Program())
	}
	if !wraps {
		for i := first; i < len(l.Commands); i++ {
			l.Commands[i].End = i + 1
		}
		return
	}
	from := len(l.flat)
	l.flat = append(l.flat, l.Commands[first:]...)
	to := len(l.flat)
	l.Commands = l.Commands[:first]
	for k := from; k < to; k++ {
		i := len(l.Commands)
		l.Commands = append(l.Commands, l.flat[k])
		l.unwrap(i, depth+1)
		l.Commands[i].End = len(l.Commands)
	}
	l.flat = l.flat[:from]
}

// stops reports whether options of set only make a shell stop at errors, or print commands, and do
// not change how it reads them.
func stops(words []Word) bool {
	for i := range words {
		w := &words[i]
		if i > 0 && string(w.Text) == "pipefail" && !w.Quoted && words[i-1].Text[len(words[i-1].Text)-1] == 'o' {
			continue
		}
		letters, ok := bytes.CutPrefix(w.Text, []byte("-"))
		if !ok || w.Quoted || len(letters) == 0 || len(bytes.Trim(letters, "euxo")) > 0 || bytes.IndexByte(letters[:len(letters)-1], 'o') >= 0 ||
			letters[len(letters)-1] == 'o' && i+1 == len(words) {
			return false
		}
	}
	return len(words) > 0
}

// unwrap adds the commands that a command runs.
func (l *Line) unwrap(i, depth int) {
	c := l.Commands[i]
	if c.script != nil {
		l.read(c.script, parent{i, 0, 0}, depth)
	}
	if c.braces != nil {
		l.cut(c.braces, parent{i, 0, 0})
	}
	if len(c.Words) == 0 {
		return
	}
	name := string(programs.Familiar(c.Program()))
	if deep := depth > maxDepth+1; deep && programs.Known(name) {
		l.Plain, l.Complete = false, false
		return
	}
	l.flags(i, 0, name, depth)
	if programs.Evaluating.Has(name) {
		l.subscripts(i)
	}
	switch {
	case programs.Shells.Has(name):
		l.shell(i, depth)
	case name == "eval":
		l.joined(i, 1, depth)
	case name == "find":
		l.find(i, depth)
	case name == "git":
		l.git(i, depth)
	case name == "awk" || name == "gawk":
		for _, w := range c.Words[1:] { // gawk reads it as a connection
			l.Commands[i].Runs = l.Commands[i].Runs || bytes.HasPrefix(w.Text, []byte("/inet"))
		}
	case programs.Environment.Has(name):
		l.Commands[i].Plain = c.Plain && name == "set" && stops(c.Words[1:])
	case programs.Of(name).Letters != "":
		l.interpreter(i, programs.Of(name).Letters)
	case name == "deno":
		if len(c.Words) > 1 && string(c.Words[1].Text) == "eval" {
			l.unclear(i)
		}
	case programs.Loose.Has(name):
		l.loosely(i, depth)
	default:
		if w := programs.Of(name).Wrapper; w != nil {
			l.wrapper(i, *w, depth)
		} else if after := programs.Of(name).After; after != "" {
			l.runner(i, after, depth)
		}
	}
}

// tail adds the words from at on as a command of their own; nil if the budget is exhausted.
func (l *Line) tail(i, at, end, to int, depth int) *Command {
	c := &l.Commands[i]
	words := c.Words[at:end:end]
	if !l.spend(len(words)) {
		return nil
	}
	plain := c.Plain
	if first := words[0]; !first.Literal || !commandWord(first) {
		plain = false // a shell's own time, or env, reads it differently
	}
	child := l.add(words, nil, parent{i, at, to}, plain)
	index := len(l.Commands) - 1
	l.unwrap(index, depth+1)
	l.Commands[index].End = len(l.Commands)
	return child
}

// unclear marks a wrapper whose command cannot be found with certainty. Every word of it may begin
// one, so restrictive conditions have to consider all of them.
func (l *Line) unclear(i int) { l.Commands[i].Plain = false }

// wrapper adds the command after the options of a wrapper.
func (l *Line) wrapper(i int, w programs.Wrapper, depth int) {
	c := l.Commands[i]
	at, ok := skip(w, c.Words)
	switch {
	case !ok:
		l.unclear(i)
		l.loosely(i, depth)
	case w.LineFlag && line(w, c.Words[:at]) > 0:
		l.split(i, line(w, c.Words[:at]), depth) // env -S
	case at < len(c.Words):
		index := len(l.Commands)
		child := l.tail(i, at, len(c.Words), len(c.Words), depth)
		if child != nil && w.Open {
			l.Commands[index].Open = true
			if replaces(w, c.Words[:at], l.Commands[index].Words[0].Text) {
				l.unclear(index)
			}
		}
		if child != nil {
			l.Commands[i].Own = at
		}
	}
}

// subscripts marks a builtin that takes a word for a number or a variable's name: it sets that
// variable (PATH, for example), or expands the content of a subscript although the word is quoted,
// as in a[$(x)].
func (l *Line) subscripts(i int) {
	for k, w := range l.Commands[i].Words[1:] {
		named := bytes.HasPrefix(w.Text, []byte("-v")) || string(w.Text) == "-R"
		subscript := bytes.IndexByte(w.Text, '[') >= 0 && bytes.ContainsAny(w.Text, "$`")
		if named || subscript {
			l.Commands[i].Runs = true
		}
		if subscript {
			l.suspect(i, k+1, w.Text[bytes.IndexAny(w.Text, "$`"):])
		}
	}
}

// written adds the command line in a word.
func (l *Line) written(i, at, depth int) {
	c := l.Commands[i]
	word := c.Words[at]
	if !word.Literal {
		l.unclear(i)
	}
	before := len(l.Commands)
	l.read(word.Text, parent{i, at, at + 1}, depth)
	for j := before; j < len(l.Commands); j++ {
		l.Commands[j].Plain = l.Commands[j].Plain && c.Plain
	}
	if before == len(l.Commands) {
		l.unclear(i)
	}
}

// split adds the command line of env -S in the word at, with or without the option. \_ is a blank
// there.
func (l *Line) split(i, at, depth int) {
	c := l.Commands[i]
	text := c.Words[at].Text
	if bytes.HasPrefix(text, []byte("--")) {
		_, text, _ = bytes.Cut(text, []byte("="))
	} else if len(text) > 0 && text[0] == '-' {
		text = text[bytes.IndexByte(text, 'S')+1:]
	}
	text = bytes.ReplaceAll(text, []byte(`\_`), []byte(" ")) // a copy
	for _, w := range c.Words[at+1:] {
		text = append(append(text, ' '), w.Text...)
	}
	l.read(text, parent{i, at, len(c.Words)}, depth)
	l.unclear(i)
}

// joined reads the words from at on as one command line, as eval does.
func (l *Line) joined(i, at, depth int) {
	c := l.Commands[i]
	if at >= len(c.Words) {
		return
	}
	var text []byte
	for k, w := range c.Words[at:] {
		if k > 0 {
			text = append(text, ' ')
		}
		if !w.Literal {
			l.unclear(i)
		}
		text = append(text, w.Text...)
	}
	l.read(text, parent{i, at, len(c.Words)}, depth)
}
