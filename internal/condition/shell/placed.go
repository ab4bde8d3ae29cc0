package shell

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// Puts reports whether a command may put files into a directory under their own names.
func (c *Command) Puts() bool {
	return len(c.Words) > 2 && programs.Placers.Has(string(programs.Familiar(c.Program())))
}

// Directories returns the words that may be directories of a command that [Command.Puts]: the last
// one, and the values of options.
func (c *Command) Directories() []Word {
	words := c.Words[1:]
	dirs := []Word{words[len(words)-1]}
	for i, w := range words {
		if dir, ok := bytes.CutPrefix(w.Text, []byte("--target-directory=")); ok {
			dirs = append(dirs, Word{Text: dir, Literal: w.Literal, Glob: w.Glob})
		} else if i+1 < len(words) && len(w.Text) > 1 && w.Text[0] == '-' && (w.Text[1] != '-' && w.Text[len(w.Text)-1] == 't' || string(w.Text) == "--target-directory") {
			dirs = append(dirs, words[i+1])
		}
	}
	return dirs
}

// maxPlaced bounds the files that the commands of a line can put into directories, as pairs of a
// word and a directory. A line with more sets Excess.
const maxPlaced = 64 << 10

// Stdin reports whether a command's input comes from a pipe, a file or a here-document.
func (c *Command) Stdin() bool {
	for i := range c.Redirects {
		if !c.Redirects[i].Write {
			return true
		}
	}
	return c.Piped || c.Fed
}
