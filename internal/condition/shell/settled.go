package shell

// settled are programs that do the same in every directory: they read no settings there, and run
// nothing from there. git, cargo, npm and similar programs are not settled.
var settled = words{
	"cd", "pwd", "ls", "cat", "head", "tail", "wc", "nl", "stat", "du", "df", "cmp", "comm", "cut", "paste", "tr", "column", "tac", "rev", "fold", "hexdump", "basename",
	"dirname", "realpath", "readlink", "strings", "od", "md5sum", "sha1sum", "sha256sum", "sha512sum", "base64", "uniq", "xxd", "file", "diff", "grep", "egrep", "fgrep", "rg",
	"find", "sort", "sed", "awk", "gawk", "mawk", "jq", "tree", "echo", "printf", "test", "[", "true", "false", ":", "seq", "sleep", "expr", "date", "which", "type", "command",
	"xargs", "timeout", "time", "nice", "bash", "sh", "tee", "mkdir", "touch", "kill", "exit", "set",
}

// Settled reports whether no command after command i obeys settings of the directory in which it
// works.
func (l *Line) Settled(i int) bool {
	for k := i + 1; k < len(l.Commands); k++ {
		c := &l.Commands[k]
		if len(c.Words) == 0 || !settled.has(string(c.Words[0].Text)) {
			return false
		}
	}
	return true
}
