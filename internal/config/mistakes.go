package config

import (
	"fmt"
	"io"

	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/visible"
)

// MistakesError reports that the policy has mistakes.
type MistakesError struct {
	List diag.List
	Set  Set // with the files that they point to
}

// Error returns one sentence; the list has the details.
func (e MistakesError) Error() string { return "the policy has mistakes" }

// Say reports the use of the built-in policy, and files whose permissions do not count because
// they are not trusted (K35, S50).
func (s Set) Say(w io.Writer) {
	for _, file := range s.Files {
		switch {
		case file.Scope == Embedded && len(s.Files) > 1:
			fmt.Fprintln(w, "stopgate: the built-in starter policy holds beside it, because no policy is trusted")
		case file.Scope == Embedded:
			fmt.Fprintf(w, "stopgate: no %s found: the built-in starter policy holds: reading is free, everything else is asked\n", FileName)
		case !file.Trusted:
			fmt.Fprintf(w, "stopgate: %s is not trusted: it may only tighten, its \"unattended\" counts as \"ask\" (trust it with: stopgate trust %s)\n", visible.Text(file.Path), visible.ShellWord(file.Path))
		}
	}
}
