package effect

import (
	"bytes"

	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// renames yields the operands among some words to which a command gives another path, in each of
// the directories where it may work. The last one is the target, unless an option names it, or
// exchanges two operands.
func (s *sweeper) renames(words []shell.Word, single bool) bool {
	sources := operandsOf(words)
	if len(sources) > 1 && !s.cluster("t", "S") && !s.long("target-directory", "exchange") {
		sources = sources[:len(sources)-1]
	}
	for _, w := range sources {
		if !s.renamed(w, w.Text, single) {
			return false
		}
	}
	return true
}

// links yields the operands of ln relative to the directories of the links, since a relative target
// is resolved there.
func (s *sweeper) links() bool {
	words := s.command.Words[1:]
	if len(words) > maxLinks {
		return s.yield(&Sweep{Anywhere: true, Hidden: true})
	}
	for _, dir := range s.command.Directories() {
		above, _ := bytes.CutSuffix(dir.Text, programs.Base(dir.Text))
		for _, w := range operandsOf(words) {
			for _, from := range [][]byte{dir.Text, above} {
				if len(from) == 0 || bytes.Equal(w.Text, dir.Text) || w.Text[0] == '/' || w.Text[0] == '~' {
					continue
				}
				text := append(append(bytes.Clone(from), '/'), w.Text...)
				if !s.renamed(&shell.Word{Literal: w.Literal && dir.Literal}, text, true) {
					return false
				}
			}
		}
	}
	return true
}

// maxLinks bounds the words of ln that links evaluates.
const maxLinks = 1024

func (s *sweeper) renamed(w *shell.Word, path []byte, single bool) bool {
	more := true
	s.command.Candidates(path, func(text []byte) bool {
		more = s.yield(&Sweep{Dir: shell.Word{Text: text, Literal: w.Literal, Quoted: w.Quoted, Glob: w.Glob}, Hidden: true, Moved: s.command.Moved, Renames: true, Single: single})
		return more
	})
	return more
}

// operandsOf returns the words that are no options, including values of options.
func operandsOf(words []shell.Word) (list []*shell.Word) {
	for i := range words {
		if w := &words[i]; len(w.Text) > 0 && w.Text[0] != '-' {
			list = append(list, w)
		}
	}
	return list
}
