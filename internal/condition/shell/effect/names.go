package effect

import (
	"bytes"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// namesOnly reports whether a command of a plain line shows only names, sizes, dates and link
// targets of the files that its words name. Names that another command reads are not shown: "ls
// .env | xargs cat".
func namesOnly(c *shell.Command) bool {
	if !c.Plain || c.Feeds || c.Open || len(c.Words) == 0 {
		return false
	}
	switch name := string(c.Words[0].Text); {
	case programs.OnlyNames.Has(name):
		return true
	case name == "find":
		return findsNames(c)
	case name == "git":
		return gitNames(c)
	}
	return false
}

// written reports whether a word is a single name, possibly in a home directory.
func written(w *shell.Word) bool {
	return w.Literal || len(w.Text) > 0 && w.Text[0] == '~' && !w.Glob && !w.Braces && !w.Home
}

// findsNames reports whether a find does not run, delete or write, and takes no names from a
// file.
func findsNames(c *shell.Command) bool {
	for _, w := range c.Words[1:] {
		text := string(w.Text)
		switch text {
		case "-follow", "-fstype", "-false":
			continue
		}
		for _, action := range []string{"-exec", "-ok", "-delete", "-f"} {
			if strings.HasPrefix(text, action) || !written(&w) {
				return false
			}
		}
	}
	return true
}

// gitNames reports whether a command is "git check-ignore" or "git ls-files" without options that
// take names or patterns from files.
func gitNames(c *shell.Command) bool {
	if len(c.Words) < 2 {
		return false
	}
	switch string(c.Words[1].Text) {
	case "check-ignore":
		return true
	case "ls-files":
	default:
		return false
	}
	for _, w := range c.Words[2:] {
		if len(w.Text) > 1 && w.Text[0] == '-' && (w.Text[1] != '-' && bytes.IndexByte(w.Text, 'X') > 0 ||
			bytes.HasPrefix(w.Text, []byte("--e")) || bytes.HasPrefix(w.Text, []byte("--p"))) {
			return false
		}
	}
	return true
}
