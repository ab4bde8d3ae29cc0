package shell

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// maxDirs bounds the directories that are combined from several changes, each of which may or may
// not happen. maxEntered bounds all directories that are followed; a line that names more sets
// Excess.
const (
	maxDirs    = 16
	maxEntered = 64
)

// moved marks the commands that follow a change of directory, with the directories in which they
// may run.
func (l *Line) moved() {
	moved, lost, pushed, here := false, false, false, false // here: certainly in the shell of the line
	var dirs []string
	into, sure := "", l.Plain && l.beginsElsewhere()
	dir, located := "", l.Plain
	for i := range l.Commands {
		c := &l.Commands[i]
		c.Moved, c.Dirs, c.Into, c.Sure = moved, dirs, into, sure && moved && into != ""
		c.Dir, c.Located = dir, located && (c.Joined || !moved)
		c.Lost = lost
		if c.Parent >= 0 {
			p := &l.Commands[c.Parent]
			c.Dir, c.Located = p.Dir, p.Located && located
			if len(p.Dirs) > len(dirs) {
				c.Moved, c.Dirs = true, p.Dirs
			}
			c.Lost = c.Lost || p.Lost
			if c.Moved && p.Into != c.Into {
				c.Into = "" // an option of the parent changes it, or another command inside it
			}
			c.Sure = c.Sure && p.Sure && c.Into != ""
		} else {
			c.Sure = c.Sure && c.Joined
		}
		name := c.Program()
		if len(name) == 0 {
			continue
		}
		if programs.Movers.Has(string(name)) {
			if dir := c.enters(); !moved || into == dir {
				into = dir
			} else {
				into = ""
			}
			lost = lost || c.returns(here, pushed)
			next := i + 1
			stays := !c.inner && !c.Piped && (next == len(l.Commands) || !l.Commands[next].Piped)
			moved, here, pushed = true, here || stays, pushed || stays && string(name) == "pushd"
			located = located && c.Parent < 0 && c.Joined && stays && next < len(l.Commands)
			dir, located = c.goes(dir, located)
			dirs = l.entered(dirs, c.destination())
			continue
		}
		for k := 1; k < len(c.Words); k++ {
			if dir := directoryOption(string(name), c.Words, k); dir != "" {
				c.Moved, c.Dirs = true, l.entered(c.Dirs, dir)
				c.Into, c.Sure = "", false
				c.Located = false
			}
		}
	}
}

// enters returns the absolute directory that "cd DIR" changes to, whatever CDPATH is, "" for any
// other change of directory.
func (c *Command) enters() string {
	if len(c.Words) != 2 || len(c.Redirects) > 0 || string(c.Words[0].Text) != "cd" {
		return ""
	}
	if dir := &c.Words[1]; c.Plain && dir.Literal && len(dir.Text) > 0 && dir.Text[0] == '/' {
		return string(dir.Text)
	}
	return ""
}

// goes returns the directory that "cd DIR" changes to from another one.
func (c *Command) goes(from string, known bool) (next string, sure bool) {
	if !known || len(c.Words) != 2 || len(c.Redirects) > 0 || string(c.Words[0].Text) != "cd" {
		return "", false
	}
	dir := &c.Words[1]
	switch text := string(dir.Text); {
	case !c.Plain || !dir.Literal || text == "" || text[0] == '-' || text[0] == '~' || text[0] == '+':
		return "", false
	case text[0] == '/':
		return text, true
	default: // the shell removes a name for each "..", also that of a link
		if next = path.Join(from, text); next == "." {
			next = ""
		}
		return next, true
	}
}

// beginsElsewhere reports whether a line begins with "cd DIR &&": the commands that && and | join
// to it run in DIR or not at all.
func (l *Line) beginsElsewhere() bool {
	return len(l.Commands) > 1 && l.Commands[0].Joined && l.Commands[0].enters() != "" &&
		l.Commands[1].Joined && !l.Commands[1].Piped
}

// returns reports whether a change of directory leads to one that the shell remembers from before
// the line. here and pushed report whether the shell of the line has changed and pushed a directory
// before.
func (c *Command) returns(here, pushed bool) bool {
	program, operand := string(c.Program()), []byte(nil)
	for i := range c.Words[1:] {
		if text := c.Words[1+i].Text; len(text) == 1 || len(text) > 1 && (text[0] != '-' || '0' <= text[1] && text[1] <= '9') {
			operand = text
			break
		}
	}
	switch {
	case program == "z":
		return true // by its own list of directories
	case program == "popd", program == "pushd" && (len(operand) == 0 || operand[0] == '+' || operand[0] == '-'):
		return !pushed
	default:
		return string(operand) == "-" && !here
	}
}

// destination returns the directory that a command changes to, as it is written: the home for
// cd without an operand, "" if none is named.
func (c *Command) destination() string {
	for i := range c.Words[1:] {
		switch w := &c.Words[1+i]; {
		case w.Home:
			return "~" + string(w.Text)
		case len(w.Text) == 0 || w.Text[0] != '-' || string(w.Text) == "-":
			return operand(c.Words[1:])
		}
	}
	if name := string(c.Program()); name == "cd" || name == "chdir" {
		return "~"
	}
	return ""
}

// operand returns the first word that is no option, "" if none names a directory.
func operand(words []Word) string {
	for i := range words {
		text := words[i].Text
		switch {
		case string(text) == "--", len(text) > 1 && text[0] == '-':
			continue
		case string(text) == "-":
			return "" // already known, or the previous directory
		}
		return string(text)
	}
	return ""
}

// directoryOptions name the directory that a program works in; programs with -C take one there too.
var directoryOptions = programs.Words{"--directory", "--chdir", "--cwd", "--work-tree", "--working-directory", "--working-dir"}

// directoryOption returns the directory that the word at k sets for a program, "" if it sets none.
func directoryOption(program string, words []Word, k int) string {
	text := words[k].Text
	if len(text) < 2 || text[0] != '-' {
		return ""
	}
	if option, value, ok := bytes.Cut(text, []byte("=")); ok && directoryOptions.Has(string(option)) {
		return string(value)
	}
	switch {
	case k+1 < len(words) && (directoryOptions.Has(string(text)) || string(text) == "-C" && programs.DirectoryLetters.Has(program) || string(text) == "-D" && program == "sudo"):
		return string(words[k+1].Text)
	case text[1] == 'C' && len(text) > 2 && programs.DirectoryLetters.Has(program):
		return string(text[2:])
	}
	return ""
}

// entered adds a directory, alone and below each of those before it, in a new slice, since the
// given one is shared.
func (l *Line) entered(dirs []string, dir string) []string {
	if dir == "" {
		return dirs
	}
	list := dirs[:len(dirs):len(dirs)]
	switch {
	case slices.Contains(dirs, dir):
	case len(dirs) >= maxEntered:
		l.Plain, l.Complete, l.Excess = false, false, true
		return dirs
	default:
		list = append(list, dir)
	}
	if dir[0] == '/' || dir[0] == '~' {
		return list
	}
	for _, d := range dirs {
		if at := strings.TrimSuffix(d, "/") + "/" + dir; len(list) < maxDirs && !slices.Contains(list, at) {
			list = append(list, at)
		}
	}
	return list
}

// At returns a path of the command relative to where the line begins, if that is known.
func (c *Command) At(path []byte) (at []byte, known bool) {
	switch {
	case len(path) > 0 && (path[0] == '/' || path[0] == '~'), c.Located && c.Dir == "":
		return path, true
	case !c.Located:
		return nil, false
	}
	return append(append([]byte(nil), strings.TrimSuffix(c.Dir, "/")+"/"...), path...), true
}

// Candidates calls yield with a path as it is written and, if it is relative, with the path in each
// of the directories of the command, until yield returns false.
func (c *Command) Candidates(path []byte, yield func(path []byte) bool) {
	if !yield(path) || len(path) == 0 || path[0] == '/' || path[0] == '~' {
		return
	}
	for _, dir := range c.Dirs {
		if !yield([]byte(strings.TrimSuffix(dir, "/") + "/" + string(path))) {
			return
		}
	}
}
