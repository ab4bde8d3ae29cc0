package shell

import (
	"bytes"
	"slices"
)

// A look at the disk can find the files that a command reads in complete directories, as long as
// nothing in the line moves files and no links to directories are followed.

// keeping are programs that move no files. Guards know the names of files that they write.
var keeping = words{
	"grep", "egrep", "fgrep", "rg", "find", "cd", "ls", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "tr", "echo", "printf", "test", "[", "pwd", "true", "false",
	"xargs", "timeout", "time", "bash", "sh", "nl", "tac", "stat", "du", "file", "diff", "cmp", "comm", "jq", "md5sum", "sha1sum", "sha256sum", "basename", "dirname",
}

// keepsFiles reports whether a line is plain, moves no files and makes no links.
func (l *Line) keepsFiles() bool {
	if !l.Plain {
		return false
	}
	for i := range l.Commands {
		c := &l.Commands[i]
		switch {
		case len(c.Words) == 0:
			return false
		case string(c.Words[0].Text) == "git":
			if len(c.Words) < 2 || !(words{"add", "stage", "status", "diff", "log", "commit", "ls-files"}).has(string(c.Words[1].Text)) {
				return false
			}
		case !keeping.has(string(c.Words[0].Text)):
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
		return !s.cluster("R", grepValues) && !s.long("dereference-recursive")
	case "rg":
		return !s.followsLinks(name)
	case "find":
		return !s.has("-L", "-H", "-follow", "-execdir", "-okdir") && !slices.ContainsFunc(c.Words, func(w Word) bool {
			return len(w.Text) > len("{}") && bytes.Contains(w.Text, []byte("{}")) // a name next to a file
		})
	case "git":
		return string(c.Words[1].Text) == "add" || string(c.Words[1].Text) == "stage"
	}
	return false
}
