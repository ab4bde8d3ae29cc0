package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy/bind"
)

// ownLanguage are programs that take a script in a language of their own, which can run other
// programs: "sed 1e", "awk system()" (E17).
var ownLanguage = []string{"sed", "gsed", "awk", "gawk", "mawk", "nawk", "goawk", "ed", "ex", "dc", "gnuplot", "sqlite3"}

// command warns about permissive prefixes of commands that permit more than they name: those
// that end with a program which runs others (E13), and those that leave the script of a
// program open (E17).
func (c linter) command(r *bind.Rule, k *bind.Condition) {
	if k.Spec.Kind != condition.Prefix || !k.IsCommand() {
		return
	}
	for i, lit := range k.Spec.Values {
		words := strings.Fields(lit.Text)
		if len(words) == 0 {
			continue // refused
		}
		program := string(programs.Base([]byte(words[0])))
		hasScript := slices.ContainsFunc(words[1:], func(word string) bool { return !strings.HasPrefix(word, "-") })
		switch last := words[len(words)-1]; {
		case programs.Wraps(programs.Base([]byte(last))):
			c.Report(diag.WrapperPrefix, k.ValueRange(i), fmt.Sprintf("%s ends with `%s`, which runs what comes behind it: that needs an unattended rule of its own", r.Label(), last),
				"show it: `usage = "+tomltree.Quote(lit.Text+" <command>")+"`, or spell the command out")
		case slices.Contains(ownLanguage, program) && !hasScript:
			c.Report(diag.ScriptPrefix, k.ValueRange(i), fmt.Sprintf("%s runs `%s` with any script, and a script of `%s` can run programs and write files", r.Label(), lit.Text, program),
				"spell the script out in a usage, which permits no other one: `usage = \"sed -n 1,5p **\"`")
		}
	}
}
