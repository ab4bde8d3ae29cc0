package shell

import "bytes"

// unwrapAll puts behind each command of the text that begins at Commands[first] those
// that are unwrapped from it.
func (l *Line) unwrapAll(first, depth int) {
	wraps := false
	for i := first; i < len(l.Commands) && !wraps; i++ {
		c := &l.Commands[i]
		wraps = c.script != nil || c.braces != nil || known()[string(c.Program())] || oddName(c.Program())
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

// hasUpper: file systems without case find rm as RM.
func hasUpper(name []byte) bool {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			return true
		}
	}
	return false
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
	name := string(familiar(c.Program()))
	if deep := depth > maxDepth+1; deep && known()[name] {
		l.Plain, l.Complete = false, false
		return
	}
	l.flags(i, 0, name, depth)
	if evaluating()[name] {
		l.subscripts(i)
	}
	switch {
	case shells()[name]:
		l.shell(i, depth)
	case name == "eval":
		l.joined(i, 1, depth)
	case name == "find":
		l.find(i, depth)
	case name == "git":
		l.git(i, depth)
	case environment()[name]:
		l.Commands[i].Plain = false
	case interpreters[name] != "":
		l.interpreter(i, interpreters[name])
	case name == "deno":
		if len(c.Words) > 1 && string(c.Words[1].Text) == "eval" {
			l.unclear(i)
		}
	case loose()[name]:
		l.loosely(i, depth)
	default:
		if w, ok := wrappers()[name]; ok {
			l.wrapper(i, w, depth)
		} else if behind := runners()[name]; behind != nil {
			l.runner(i, behind, depth)
		}
	}
}

// tail adds the words from at on as a command of their own; nil if that is too much.
func (l *Line) tail(i, at, end, to int, depth int) *Command {
	c := &l.Commands[i]
	words := c.Words[at:end:end]
	if !l.spend(len(words)) {
		return nil
	}
	plain := c.Plain
	if first := words[0]; first.Literal && !commandWord(first) {
		plain = false // a shell's own time, or env, reads it in another way
	}
	child := l.add(words, nil, parent{i, at, to}, plain)
	index := len(l.Commands) - 1
	l.unwrap(index, depth+1)
	l.Commands[index].End = len(l.Commands)
	return child
}

// unclear marks a wrapper whose command cannot be found with certainty. Every word
// of it may begin one; who suspects has to look at all of them.
func (l *Line) unclear(i int) { l.Commands[i].Plain = false }

// wrapper finds the command behind the options of a wrapper.
func (l *Line) wrapper(i int, w *wrapper, depth int) {
	c := l.Commands[i]
	at, ok := w.skip(c.Words)
	switch {
	case !ok:
		l.unclear(i)
		l.loosely(i, depth)
	case w.lineFlag && w.line(c.Words[:at]) > 0:
		l.split(i, w.line(c.Words[:at]), depth) // env -S
	case at < len(c.Words):
		index := len(l.Commands)
		child := l.tail(i, at, len(c.Words), len(c.Words), depth)
		if child != nil && w.open {
			l.Commands[index].Open = true
			if w.replaces(c.Words[:at], l.Commands[index].Words[0].Text) {
				l.unclear(index)
			}
		}
	}
}

// subscripts marks a builtin that takes a word for a number or a variable's name: it
// sets that variable (PATH, say), or expands what stands in a subscript although the
// word is quoted, as in a[$(x)].
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

// written adds the command line that is written in a word.
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

// split adds the command line of env -S: at is the word that has it, alone or behind the
// option. \_ is a blank there.
func (l *Line) split(i, at, depth int) {
	c := l.Commands[i]
	text := c.Words[at].Text
	if bytes.HasPrefix(text, []byte("--")) {
		_, text, _ = bytes.Cut(text, []byte("="))
	} else if len(text) > 0 && text[0] == '-' {
		text = text[bytes.IndexByte(text, 'S')+1:]
	}
	text = bytes.ReplaceAll(text, []byte(`\_`), []byte(" ")) // a text of our own
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

// shell finds the command line of sh -c.
func (l *Line) shell(i, depth int) {
	c := l.Commands[i]
	line, input := false, false
	for at := 1; at < len(c.Words); at++ {
		w := c.Words[at]
		switch {
		case !w.Literal:
			l.unclear(i)
			if line {
				l.written(i, at, depth)
			}
			return
		case string(w.Text) == "--" || string(w.Text) == "-":
		case bytes.HasPrefix(w.Text, []byte("--")):
			if !bytes.Contains([]byte(" --login --norc --noprofile --posix --verbose --noediting "), append([]byte(" "), w.Text...)) {
				l.unclear(i)
				l.loosely(i, depth)
				return
			}
		case len(w.Text) > 1 && (w.Text[0] == '-' || w.Text[0] == '+'):
			for _, f := range w.Text[1:] {
				switch {
				case f == 'c':
					line = true
				case f == 'C' && string(familiar(c.Program())) == "fish":
					l.unclear(i)
					l.loosely(i, depth)
					return
				case f == 's':
					input = true
				case f == 'o' || f == 'O':
					at++
				case bytes.IndexByte([]byte("abefhiklmnprtuvxBCEHPT"), f) < 0:
					l.unclear(i)
					l.loosely(i, depth)
					return
				}
			}
		default:
			if line {
				l.written(i, at, depth)
			} else if input {
				l.unclear(i)
			}
			return
		}
	}
	if !line {
		l.unclear(i) // it runs what it is given as input
	}
}

// find adds the commands of -exec and its like.
func (l *Line) find(i, depth int) {
	c := l.Commands[i]
	for at := 1; at < len(c.Words); at++ {
		switch string(c.Words[at].Text) {
		case "-exec", "-execdir", "-ok", "-okdir":
			end := at + 1
			for end < len(c.Words) && string(c.Words[end].Text) != ";" && !(string(c.Words[end].Text) == "+" && string(c.Words[end-1].Text) == "{}") {
				end++
			}
			if end == at+1 || end == len(c.Words) {
				l.unclear(i)
				if end > at+1 {
					l.tail(i, at+1, end, end, depth)
				}
				return
			}
			index := len(l.Commands)
			l.tail(i, at+1, end, end+1, depth)
			for j := index; j < len(l.Commands); j++ {
				if shells()[string(bytes.ToLower(l.Commands[j].Program()))] && holdsFileName(l.Commands[j].Words) {
					l.unclear(j) // the name of a file becomes a part of a command line
				}
			}
			at = end
		}
	}
}

// holdsFileName reports words in which find writes the names of files.
func holdsFileName(words []Word) bool {
	for _, w := range words {
		if bytes.Contains(w.Text, []byte("{}")) {
			return true
		}
	}
	return false
}

// git finds the programs that git's own options name.
func (l *Line) git(i, depth int) {
	c := l.Commands[i]
	for at := 1; at < len(c.Words); at++ {
		w := c.Words[at].Text
		switch {
		case len(w) == 0 || w[0] != '-':
			l.subcommand(i, at, depth)
			return
		case string(w) == "-c" || string(w) == "--config-env":
			l.Commands[i].Runs = true
			if at++; at < len(c.Words) {
				if _, value, ok := bytes.Cut(c.Words[at].Text, []byte("=")); ok && len(value) > 0 {
					l.suspect(i, at, value)
				}
			}
		case bytes.HasPrefix(w, []byte("--exec-path=")), bytes.HasPrefix(w, []byte("--config-env=")):
			l.Commands[i].Runs = true
		case string(w) == "-C" || string(w) == "--git-dir" || string(w) == "--work-tree" || string(w) == "--namespace":
			at++
		}
	}
}

// subcommand finds what git runs for one of its subcommands: the values of options, and
// the words behind "bisect run" and "submodule foreach".
func (l *Line) subcommand(i, at, depth int) {
	words := l.Commands[i].Words
	name := "git-" + string(words[at].Text)
	l.flags(i, at, name, depth)
	for k := at + 1; k < len(words) && (name == "git-bisect" || name == "git-submodule"); k++ {
		switch text := string(words[k].Text); {
		case (text == "run" || text == "foreach") && k+1 < len(words):
			l.Commands[i].Runs = true
			for k++; k+1 < len(words) && len(words[k].Text) > 0 && words[k].Text[0] == '-'; k++ {
			}
			l.suspect(i, k, words[k].Text)
			l.tail(i, k, len(words), len(words), depth)
			return
		case len(text) > 0 && text[0] != '-':
			return
		}
	}
}

// input reports a command that reads what another one prints, or a file.
func (l *Line) input(i int) bool {
	for ; i >= 0; i = l.Commands[i].Parent {
		if l.Commands[i].stdin() {
			return true
		}
	}
	return false
}

// interpreter marks code in another language, which nobody can judge here: in an option,
// or in the input.
func (l *Line) interpreter(i int, flags string) {
	words := l.Commands[i].Words[1:]
	for k, w := range words {
		if string(w.Text) == "-" {
			l.unclear(i)
			return
		}
		if len(w.Text) == 0 || w.Text[0] != '-' {
			return
		}
		if k == len(words)-1 && l.input(i) {
			l.unclear(i)
		}
		if len(w.Text) > 1 && w.Text[1] != '-' && bytes.ContainsAny(w.Text[1:], flags) || bytes.HasPrefix(w.Text, []byte("--e")) || bytes.HasPrefix(w.Text, []byte("--p")) {
			l.Commands[i].Plain = false
			return
		}
	}
	if len(words) == 0 {
		l.unclear(i)
	}
}

// loosely reads every word of a wrapper that may be a command line.
func (l *Line) loosely(i, depth int) {
	c := l.Commands[i]
	if len(c.Words) == 1 {
		return
	}
	for at := 1; at < len(c.Words); at++ {
		if bytes.ContainsAny(c.Words[at].Text, " \t\n;&|<>") {
			before := len(l.Commands)
			l.read(c.Words[at].Text, parent{i, at, at + 1}, depth)
			for j := before; j < len(l.Commands); j++ {
				l.Commands[j].Plain = false
			}
		}
	}
	l.unclear(i)
}

// flags looks for options that run code, behind the word that names the program, and
// reads their values as command lines.
func (l *Line) flags(i, from int, name string, depth int) {
	list := codeFlags()[name]
	if list == nil {
		return
	}
	c := l.Commands[i]
	if archivers()[name] && len(c.Words) > 1 && bundle(c.Words[1].Text) {
		l.Commands[i].Runs = true // tar xfI: the values follow in other words
		for at := 2; at < len(c.Words); at++ {
			l.suspect(i, at, c.Words[at].Text)
		}
	}
	for at := from + 1; at < len(c.Words); at++ {
		for _, f := range list {
			value, attached, ok := f.match(c.Words[at].Text)
			if !ok {
				continue
			}
			l.Commands[i].Runs = true
			if !attached && tails()[name] && at+1 < len(c.Words) {
				l.tail(i, at+1, len(c.Words), len(c.Words), depth)
				return
			}
			if !attached && at+1 < len(c.Words) {
				value = c.Words[at+1].Text
			}
			if len(value) > 0 {
				l.suspect(i, at, value)
			}
			break
		}
	}
}

var archivers = set("tar bsdtar gtar")

// bundle reports letters of tar without a dash among which is one that names a program.
func bundle(word []byte) bool {
	return len(word) > 0 && word[0] != '-' && bytes.IndexAny(word, "IF") > 0 && bytes.IndexAny(word, "/._") < 0
}
