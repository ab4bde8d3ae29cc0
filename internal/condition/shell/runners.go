package shell

import "bytes"

// anywhere means every position after the program's name.
const anywhere = "*"

// RunsAfter reports whether the program may run the words that follow one of its words.
func RunsAfter(program, word []byte) bool {
	return listed(programOf(string(familiar(Base(program)))).after, string(word))
}

// runner reads the words of a runner that can only be command lines: those with blanks.
func (l *Line) runner(i int, after string, depth int) {
	c := l.Commands[i]
	running := after == anywhere
	for at := 1; at < len(c.Words); at++ {
		text := c.Words[at].Text
		if running && bytes.ContainsAny(text, " \t\n;&|<>") {
			l.Commands[i].Runs = true
			l.suspect(i, at, text)
		}
		running = running || listed(after, string(text))
	}
}

// suspect reads a text at one word of a command as a command line that may run. The line stays
// plain: a permissive rule has to check [Command.Runs].
func (l *Line) suspect(i, at int, text []byte) {
	plain, before := l.Commands[i].Plain, len(l.Commands)
	l.cut(text, parent{i, at, at + 1})
	for k := before; k < len(l.Commands); k++ {
		l.Commands[k].End, l.Commands[k].Plain = k+1, plain
	}
}

// familiar returns the name of a program in the tables: in lower case, without .exe, and without
// the version or the prefix g that some systems add.
func familiar(program []byte) []byte {
	if hasUpper(program) {
		program = bytes.ToLower(program)
	}
	if !oddName(program) {
		return program
	}
	program = bytes.TrimSuffix(program, exe)
	stem := bytes.TrimRight(program, "0123456789.-")
	switch {
	case known(string(program)):
	case known(string(stem)):
		return stem
	case len(program) > 1 && program[0] == 'g' && gnu.has(string(program[1:])):
		return program[1:]
	}
	return program
}

var exe = []byte(".exe")

// oddName reports whether a name may be known without its suffix or prefix.
func oddName(name []byte) bool {
	if len(name) < 2 {
		return false
	}
	last := name[len(name)-1]
	return last >= '0' && last <= '9' || last|0x20 == 'e' && len(name) > len(exe) && bytes.EqualFold(name[len(name)-len(exe):], exe) ||
		name[0] == 'g' && gnu.has(string(name[1:])) || hasUpper(name)
}
