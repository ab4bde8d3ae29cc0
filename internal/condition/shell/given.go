package shell

import (
	"bytes"
	"slices"
)

// What find and xargs give to a command: names in place of words, and words behind those that
// are written.

// listing are programs that say no more of files than quiet ones do, but take the names of
// files from a file if an option says so, and show a line of it that names none.
var listing = words{"wc", "du", "file"}

// onlyNames reports that no word that xargs gives to a command can be an option: they stand
// behind "--", or are paths that find prints, with nothing but zeros between them.
func (l *Line) onlyNames(i int) bool {
	if l.Fills(i, nil) {
		return false
	}
	for _, w := range l.Commands[i].Words {
		if string(w.Text) == "--" {
			return true
		}
	}
	x := l.Commands[i].Parent
	if x < 1 || l.Commands[x].Parent >= 0 || !l.Commands[x].Piped || string(l.Commands[x].Words[0].Text) != "xargs" {
		return false
	}
	before := x - 1
	for l.Commands[before].Parent >= 0 {
		before = l.Commands[before].Parent
	}
	from := &l.Commands[before]
	if len(from.Words) == 0 || string(from.Words[0].Text) != "find" {
		return false
	}
	find, xargs := sweeper{command: from}, sweeper{command: &l.Commands[x]}
	if !find.has("-print0") || !xargs.has("-0", "--null") {
		return false
	}
	for _, w := range from.Words { // what else prints, or begins elsewhere
		for _, other := range []string{"-printf", "-fprint", "-ls", "-fls", "-exec", "-ok", "-files0"} {
			if bytes.HasPrefix(w.Text, []byte(other)) {
				return false
			}
		}
	}
	return true
}

// fed are programs that only read the files they are given: names behind their words that are
// no options make them do nothing else.
var fed = words{
	"cat", "head", "tail", "wc", "nl", "grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "mawk", "jq", "sort", "ls", "stat", "file", "du", "md5sum", "sha1sum", "sha256sum", "cut",
}

// Given returns the directories of whose files xargs gives the names to command i, nil where
// that is not certain: what find or "git ls-files" prints, less what filters drop. They are
// what the program gets only as far as xargs takes each name for one word, and none is an
// option: a look at the disk has to say so.
func (l *Line) Given(i int) (list []Sweep) {
	c := &l.Commands[i]
	x := c.Parent
	if !l.Plain || !c.Open || !fed.has(string(c.Words[0].Text)) || x < 1 || l.Commands[x].Parent >= 0 || !l.Commands[x].Piped || !passes(l.Commands[x].Words[:c.From]) {
		return nil
	}
	before := l.printer(x)
	for before > 0 && l.Commands[before].Piped && l.Commands[before].drops() {
		before = l.printer(before)
	}
	from := &l.Commands[before]
	s := sweeper{command: from, yield: func(w *Sweep) bool {
		w.Into, w.Sure = from.Into, from.Sure
		if from.Located && from.Moved && !from.Sure {
			w.Into, w.Sure = from.Place, true
		}
		w.Given, w.Disk, w.Counts = true, l.keepsFiles(), listing.has(string(c.Words[0].Text))
		list = append(list, *w)
		return true
	}}
	if from.Piped || len(from.Redirects) > 0 {
		return nil
	}
	switch {
	case string(from.Words[0].Text) == "find" && s.printsNames():
		s.roots(s.found())
	case s.listsIndex():
		s.yield(&Sweep{Hidden: true, Moved: from.Moved, Stored: true})
	}
	return list
}

// printer is the command of the line before another one.
func (l *Line) printer(i int) int {
	for i--; l.Commands[i].Parent >= 0; {
		i = l.Commands[i].Parent
	}
	return i
}

// passes reports an xargs that gives all that it reads to one program, as words behind its own.
func passes(words []Word) bool {
	if len(words) == 0 || string(words[0].Text) != "xargs" {
		return false
	}
	for i := 1; i < len(words); i++ {
		switch string(words[i].Text) {
		case "-r", "-t", "--no-run-if-empty":
		case "-n", "-P", "-L":
			i++
		default:
			return false
		}
	}
	return true
}

// drops reports a filter that passes lines on or does not.
func (c *Command) drops() bool {
	if len(c.Words) == 0 || len(c.Redirects) > 0 {
		return false
	}
	operands := 0
	for _, w := range c.Words[1:] {
		if len(w.Text) == 0 || w.Text[0] != '-' {
			operands++
		} else if string(c.Words[0].Text) != "head" && string(c.Words[0].Text) != "tail" && len(bytes.Trim(w.Text[1:], "viEFwx")) > 0 {
			return false
		}
	}
	switch string(c.Words[0].Text) {
	case "grep":
		return operands == 1
	case "head", "tail": // -n 5
		return operands <= 1 && len(c.Words) <= 3 && !slices.ContainsFunc(c.Words[1:], func(w Word) bool { return bytes.ContainsAny(w.Text, "cfz") })
	case "sort":
		return len(c.Words) == 1
	}
	return false
}

// printsNames reports a find that prints the paths it finds, and nothing else, from directories
// that are written plainly.
func (s *sweeper) printsNames() bool {
	words := s.command.Words[1:]
	for i, w := range words {
		switch text := string(w.Text); text {
		case "-name", "-iname", "-path", "-not", "!", "-type", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-newer", "-print":
		default:
			if len(text) == 0 || text[0] == '-' || !w.Literal || (i == 0 || !isFindTest(words[i-1].Text)) && (!plainText(w.Text) || text[0] == '@') {
				return false
			}
		}
	}
	return true
}

func isFindTest(word []byte) bool {
	return len(word) > 1 && word[0] == '-' && string(word) != "-not" && string(word) != "-print"
}

// listsIndex reports a "git ls-files" of files below the directory in which it works.
func (s *sweeper) listsIndex() bool {
	words := s.command.Words
	if len(words) < 2 || string(words[0].Text) != "git" || string(words[1].Text) != "ls-files" {
		return false
	}
	for _, w := range words[2:] {
		text := string(w.Text)
		if option := text != "" && text[0] == '-'; !w.Literal || text == "" || option && text != "--" && text != "-c" && text != "--cached" && text != "-m" && text != "--modified" ||
			!option && (text[0] == '/' || text[0] == ':' || text[0] == '~' || bytes.Contains(w.Text, []byte(".."))) {
			return false
		}
	}
	return true
}

// Fills reports that a command may get another text in place of one that is written in its
// words: find writes the names of files where {} stands, xargs what it reads where its -I says.
func (l *Line) Fills(i int, text []byte) bool {
	for ; l.Commands[i].Parent >= 0; i = l.Commands[i].Parent {
		by := &l.Commands[l.Commands[i].Parent]
		switch string(familiar(by.Program())) {
		case "find":
			if bytes.Contains(text, []byte("{}")) {
				return true
			}
		case "xargs":
			for _, w := range by.Words[1:min(len(by.Words), l.Commands[i].From)] {
				if bytes.HasPrefix(w.Text, []byte("--r")) || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && bytes.ContainsAny(w.Text, "IJi") {
					return true
				}
			}
		}
	}
	return false
}
