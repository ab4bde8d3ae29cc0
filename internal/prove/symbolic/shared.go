package symbolic

import (
	"iter"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/automaton"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Shared yields command lines that touch a file which some values of a condition on files
// name, and no other value of it. A permissive rule names the same file and probably matches
// the line. The condition is on the files that commands read or write.
func (t *Translation) Shared(k *Condition, values []condition.Literal, rules []*Rule) iter.Seq[string] {
	return func(yield func(string) bool) {
		operator, ok := redirections[k.Spec.Kind]
		if !ok {
			return
		}
		var outside []automaton.Walker
		for _, lit := range k.Spec.Values {
			if !slices.ContainsFunc(values, func(one condition.Literal) bool { return one.JSON == lit.JSON }) {
				outside = append(outside, k.files(lit)...)
			}
		}
		plain, never := pathname.PlainPaths(t.Env, k.Reach.Expands)
		outside = append(outside, never...)
		for _, r := range rules {
			commands := r.permitted(k)
			for _, other := range r.Bound {
				if len(commands) == 0 || other.Key != k.Key || other.Spec.Kind != k.Spec.Kind {
					continue
				}
				for _, lit := range values {
					for _, theirs := range other.Spec.Values {
						inside := slices.Concat(plain, k.files(lit), other.files(theirs))
						file, answer := analysis.Find(inside, outside, isPlainWord)
						if answer != regular.Yes {
							continue
						}
						for _, command := range commands {
							if !yield(command + operator + file) {
								return
							}
						}
					}
				}
			}
		}
	}
}

// redirections are how a command line touches a file by a matcher on files.
var redirections = map[condition.Kind]string{condition.Reads: " < ", condition.Writes: " > "}

// permitted lists commands without arguments that satisfy the usages of a permissive rule
// on the command lines of a condition.
func (r *Rule) permitted(k *Condition) (commands []string) {
	if !r.Mode.Permissive() {
		return nil
	}
	for _, other := range r.Bound {
		if other.Key != k.Key || other.Spec.Kind != condition.Usage {
			continue
		}
		for _, usage := range other.Spec.Values {
			commands = append(commands, follows(alternatives(condition.Usage, usage.Text)[0])[0])
		}
	}
	return commands
}

// files returns the automaton of the files that one value of a condition on files names,
// relative to the root. It is empty if there is none.
func (k *Condition) files(lit condition.Literal) []automaton.Walker {
	spec := condition.Spec{Kind: condition.Glob, Values: []condition.Literal{lit}}
	test, _ := pathname.Compile(spec, false, false, k.Env)
	named, ok := test.(*pathname.Test)
	if !ok {
		return nil // it did not compile
	}
	walkers := named.Walkers()
	return walkers[:min(1, len(walkers))]
}

// isPlainWord reports a text that a shell reads as it is written.
func isPlainWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return !strings.ContainsRune("-_./", r) && (r < '0' || '9' < r) && (r < 'A' || 'Z' < r) && (r < 'a' || 'z' < r)
	})
}
