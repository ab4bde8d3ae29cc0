package effect

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Arguments that find and xargs add to a command: names in place of words, and words after those
// that are written.

// onlyNames reports whether no word that xargs adds to a command can be an option: they follow
// "--", or are paths printed by find and separated by zeros only.
func onlyNames(l *shell.Line, i int) bool {
	if Fills(l, i, nil) {
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
	for _, w := range from.Words { // prints something else, or begins elsewhere
		for _, other := range []string{"-printf", "-fprint", "-ls", "-fls", "-exec", "-ok", "-files0"} {
			if bytes.HasPrefix(w.Text, []byte(other)) {
				return false
			}
		}
	}
	return true
}

// Given returns the directories of the files whose names xargs gives to command i, nil if that is
// not certain: the output of find or "git ls-files", less what filters drop. The program gets
// exactly these names only if xargs takes each name for one word and none is an option; a look at
// the disk has to check that.
func Given(l *shell.Line, i int) (list []Sweep) { return given(l, i, keepsFiles(l)) }

func given(l *shell.Line, i int, disk bool) (list []Sweep) {
	c := &l.Commands[i]
	x := c.Parent
	if !l.Plain || !c.Open || !programs.Fed.Has(string(c.Words[0].Text)) || x < 1 || l.Commands[x].Parent >= 0 || !l.Commands[x].Piped || !passes(l.Commands[x].Words[:c.From]) {
		return nil
	}
	before := printer(l, x)
	for before > 0 && l.Commands[before].Piped && drops(&l.Commands[before]) {
		before = printer(l, before)
	}
	from := &l.Commands[before]
	s := sweeper{command: from, yield: func(w *Sweep) bool {
		w.Into, w.Sure = from.Into, from.Sure
		if from.Located && from.Moved && !from.Sure {
			w.Into, w.Sure = from.Dir, true
		}
		w.Given, w.Disk, w.Counts = true, disk, programs.Listing.Has(string(c.Words[0].Text))
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

// printer returns the command whose output another one reads.
func printer(l *shell.Line, i int) int {
	for i--; l.Commands[i].Parent >= 0; {
		i = l.Commands[i].Parent
	}
	return i
}

// passes reports whether xargs gives all of its input to one program, as words after the written
// ones.
func passes(words []shell.Word) bool {
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

// drops reports whether a command is a filter that passes lines on or drops them.
func drops(c *shell.Command) bool {
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
		return operands <= 1 && len(c.Words) <= 3 && !slices.ContainsFunc(c.Words[1:], func(w shell.Word) bool { return bytes.ContainsAny(w.Text, "cfz") })
	case "sort":
		return len(c.Words) == 1
	}
	return false
}

// printsNames reports whether find only prints the paths it finds, from directories that are
// written plainly.
func (s *sweeper) printsNames() bool {
	words := s.command.Words[1:]
	for i, w := range words {
		switch text := string(w.Text); text {
		case "-name", "-iname", "-path", "-not", "!", "-type", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-newer", "-print":
		default:
			if len(text) == 0 || text[0] == '-' || !w.Literal || (i == 0 || !isFindTest(words[i-1].Text)) && (!shell.PlainText(w.Text) || text[0] == '@') {
				return false
			}
		}
	}
	return true
}

func isFindTest(word []byte) bool {
	return len(word) > 1 && word[0] == '-' && string(word) != "-not" && string(word) != "-print"
}

// listsIndex reports whether a command is a "git ls-files" of files below its directory.
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

// Fills reports whether a command may get another text in place of one in its words: find replaces
// {} by file names, xargs the string of its option -I by its input.
func Fills(l *shell.Line, i int, text []byte) bool {
	for ; l.Commands[i].Parent >= 0; i = l.Commands[i].Parent {
		by := &l.Commands[l.Commands[i].Parent]
		switch string(programs.Familiar(by.Program())) {
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
