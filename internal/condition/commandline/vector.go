package commandline

import (
	"github.com/stopgate/stopgate/internal/condition/shell"
)

// AppendWords appends the command line that a shell reads as some words.
func AppendWords(dst []byte, words [][]byte) []byte { return shell.AppendWords(dst, words) }

// Words returns the words of a command line that is one plain command and opens no files: the
// argument vector of the same command.
func Words(line string) (words []string, ok bool) {
	var l shell.Line
	l.Read([]byte(line))
	if !l.Plain || l.Commands[0].End != len(l.Commands) || len(l.Commands[0].Redirects) > 0 {
		return nil, false
	}
	for _, w := range l.Commands[0].Words {
		words = append(words, string(w.Text))
	}
	return words, true
}
