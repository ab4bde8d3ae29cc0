package shell

import "bytes"

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
