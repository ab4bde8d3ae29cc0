package usage

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// MaxProgram is the length in bytes from which on a word names no program on any system.
const MaxProgram = 8 << 10

// Program is a word that may name a program, read once for all usages.
type Program struct {
	Word shell.Word
	base []byte // the last component of its text, nil if it is too long for the name of a program
	// folded is the text in lower case, nil if it has bytes beyond ASCII, which fold in more than
	// one way.
	folded []byte
	globs  [][]glob.Token // of base, if the shell expands it
	any    bool           // its wildcards cannot be read
}

// ReadProgram reads a word that may name a program. Its time is bounded, whatever the length of the word: a line has as
// many such words as bytes, each the rest of the one before.
func ReadProgram(w *shell.Word) Program {
	p := Program{Word: *w}
	if p.long() {
		return p
	}
	p.base = programs.Base(w.Text)
	p.folded = foldedASCII(w.Text)
	if w.Glob {
		globs, err := glob.Parse(string(p.base), false)
		p.globs, p.any = globs, err != nil
	}
	return p
}

// foldedASCII returns a text in lower case, nil if it has bytes beyond ASCII. It copies only a text
// with capital letters.
func foldedASCII(text []byte) []byte {
	upper := false
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return nil
		}
		upper = upper || 'A' <= c && c <= 'Z'
	}
	if upper {
		return bytes.ToLower(text)
	}
	return text[:len(text):len(text)]
}

// long reports whether the word is too long for the name of a program.
func (p *Program) long() bool { return len(p.Word.Text) > MaxProgram }

// Names reports whether the word may name a program: also by its last component, without regard to
// case, as some file systems do, and by expansion of its wildcards.
func (p *Program) Names(name string) bool {
	if p.long() {
		return false
	}
	if equalFold(p.Word.Text, name) || equalFold(p.base, name) || len(p.base) == len(name)+len(exe) && equalFold(p.base, name+exe) {
		return true
	}
	return p.any || p.Word.Glob && glob.MatchAny(p.globs, []byte(name))
}

// exe is the suffix of programs that may be omitted.
const exe = ".exe"

// Keyed reports whether the word names programs only by its text without regard to the case of letters
// in ASCII, its last component, and that without a suffix: it has no wildcards and no other letters.
func (p *Program) Keyed() bool { return !p.Word.Glob && p.folded != nil }

// keys returns the keys under which the names of the word's program are listed, in lower case. ok is
// false if these are not all: the word has wildcards, or bytes beyond ASCII.
func (p *Program) keys() (keys [3][]byte, ok bool) {
	if p.folded == nil || p.Word.Glob {
		return keys, false
	}
	base := p.folded[len(p.folded)-len(p.base):]
	keys[0] = p.folded
	if len(base) < len(p.folded) {
		keys[1] = base
	}
	if stem, ok := bytes.CutSuffix(base, []byte(exe)); ok {
		keys[2] = stem
	}
	return keys, true
}

// keyOf returns the key of the name of a program, "" if words that fold to it are not only those in
// the same letters.
func keyOf(name string) string {
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			return ""
		}
	}
	return strings.ToLower(name)
}

// maxFolded is the largest ratio of the lengths of two texts that fold to each other: the Kelvin sign has three bytes, and k one.
const maxFolded = 3

func equalFold(b []byte, s string) bool {
	return len(b) <= maxFolded*len(s) && strings.EqualFold(string(b), s)
}
