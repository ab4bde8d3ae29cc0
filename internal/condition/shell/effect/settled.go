package effect

import (
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// maxSettled is the maximum number of commands of a line that is searched for settings, which is done for every cd in it.
const maxSettled = 256

// Settled reports whether no command after command i obeys settings of the directory in which it
// works. It is false for a line with very many commands.
func Settled(l *shell.Line, i int) bool {
	if len(l.Commands) > maxSettled {
		return false
	}
	for k := i + 1; k < len(l.Commands); k++ {
		c := &l.Commands[k]
		if len(c.Words) == 0 || !programs.Settled.Has(string(c.Words[0].Text)) {
			return false
		}
	}
	return true
}

// readsRepository are commands of git that change no file of the working tree.
var readsRepository = programs.Words{
	"status", "log", "show", "diff", "shortlog", "blame", "describe", "rev-parse", "rev-list", "ls-files", "ls-tree", "name-rev", "merge-base", "for-each-ref", "show-ref",
	"check-ignore", "cherry", "count-objects", "grep", "branch", "remote",
}

// SettledInRepository is Settled for a directory in which git finds the repository that it finds
// in the root: git is settled there too, as long as no command of the line writes files, which
// could make the directory a repository. It is false for a line with very many commands.
func SettledInRepository(l *shell.Line) bool {
	if len(l.Commands) > maxSettled {
		return false
	}
	for k := range l.Commands {
		c := &l.Commands[k]
		switch {
		case len(c.Words) == 0 || writesFiles(c):
			return false
		case string(c.Words[0].Text) == "git":
			if len(c.Words) < 2 || !readsRepository.Has(string(c.Words[1].Text)) {
				return false
			}
		case !programs.Writeless.Has(string(c.Words[0].Text)):
			return false
		}
	}
	return true
}

// writesFiles reports a redirection that writes a file.
func writesFiles(c *shell.Command) bool {
	for i := range c.Redirects {
		if r := &c.Redirects[i]; r.Write && !r.Harmless() {
			return true
		}
	}
	return false
}
