package effect

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// A look at the disk can find the files that a command reads in complete directories, unless the
// line moves files or links to directories are followed.

// keepsFiles reports whether a line is plain, moves no files and makes no links.
func keepsFiles(l *shell.Line) bool {
	if !l.Plain {
		return false
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		switch {
		case len(c.Words) == 0:
			return false
		case string(c.Words[0].Text) == "git":
			if len(c.Words) < 2 || !readsRepository.Has(string(c.Words[1].Text)) && !(programs.Words{"add", "stage", "commit"}).Has(string(c.Words[1].Text)) {
				return false
			}
		case turnsText(c):
		case !programs.Keeping.Has(string(c.Words[0].Text)):
			return false
		}
	}
	return true
}

// turnsText reports whether a command is sed or awk with a script that only turns text into text,
// and has no options that change files or name scripts.
func turnsText(c *shell.Command) bool {
	program, at := c.Words[0].Text, 1
	switch string(program) {
	case "sed":
		for at < len(c.Words) && (programs.Words{"-n", "-E", "-r", "-s", "-u", "-z"}).Has(string(c.Words[at].Text)) {
			at++
		}
	case "awk", "gawk", "mawk":
	default:
		return false
	}
	if at == len(c.Words) || !c.Words[at].Literal || !Computes(program, c.Words[at].Text) {
		return false
	}
	for _, w := range c.Words[at:] {
		if len(w.Text) > 1 && w.Text[0] == '-' || w.MayBeOption() {
			return false
		}
	}
	return true
}

// onDisk reports whether a search or "git add" reads files below directories without following
// links to others.
func (s *sweeper) onDisk(name string) bool {
	c := s.command
	if c.Open || bytes.IndexByte(c.Words[0].Text, '/') >= 0 {
		return false
	}
	switch name {
	case "grep", "egrep", "fgrep":
		return !s.cluster("R", programs.GrepValues) && !s.long("dereference-recursive")
	case "rg":
		return !s.followsLinks(name)
	case "find":
		return !s.has("-L", "-H", "-follow", "-execdir", "-okdir") && !slices.ContainsFunc(c.Words, func(w shell.Word) bool {
			return len(w.Text) > len("{}") && bytes.Contains(w.Text, []byte("{}")) // a name next to a file
		})
	case "git":
		return string(c.Words[1].Text) == "add" || string(c.Words[1].Text) == "stage"
	}
	return false
}
