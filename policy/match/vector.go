package match

import "github.com/stopgate/stopgate/internal/shell"

// LineOf is the command line that a shell reads as some words.
func LineOf(words [][]byte) []byte { return shell.AppendWords(nil, words) }

// Words are the words of a command line that is one plain command and opens no files:
// what an argument vector for the same command holds.
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
