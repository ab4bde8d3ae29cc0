package usage

import (
	"strings"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/shell"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
)

// MaxProgram is the length in bytes from which on a word names no program on any system.
const MaxProgram = 8 << 10

// SameProgram reports whether a word may name a program: also by its last component, without regard
// to case, as some file systems do, and by expansion of its wildcards.
func SameProgram(w *shell.Word, name string) bool {
	if len(w.Text) > MaxProgram {
		return false
	}
	base := programs.Base(w.Text)
	if equalFold(w.Text, name) || equalFold(base, name) || len(base) == len(name)+len(".exe") && equalFold(base, name+".exe") {
		return true
	}
	if w.Glob {
		lists, err := glob.Parse(string(base), false)
		return err != nil || glob.MatchAny(lists, []byte(name))
	}
	return false
}

func equalFold(b []byte, s string) bool { return strings.EqualFold(string(b), s) }
