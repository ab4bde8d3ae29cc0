package symbolic

import (
	"iter"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/prove/analysis"
	"github.com/stopgate/stopgate/internal/regexp/regular"
)

// Tries yields choices under which a rule probably matches, made from some of the literals of
// its conditions: one way of writing of every literal before the next way of any. They are
// candidates, not proofs: the caller has to ask an evaluator.
func (t *Translation) Tries(r *Rule, literals func(*Condition) []condition.Literal) iter.Seq[[]analysis.Choice] {
	return func(yield func([]analysis.Choice) bool) {
		if len(r.Bound) == 0 {
			yield(t.allAbsent())
			return
		}
		list := t.written(r, literals)
		for round := range maxAlternatives {
			for _, w := range list {
				if round >= len(w.alternatives) {
					continue
				}
				for _, text := range w.condition.tries(w.alternatives[round]) {
					witness := t.With(w.variable, text)
					for n, choice := range w.others {
						witness[n] = choice
					}
					if !yield(witness) {
						return
					}
				}
			}
		}
	}
}

// writtenLiteral is a literal of a condition in all ways of writing that are tried.
type writtenLiteral struct {
	condition    *Condition
	variable     int
	alternatives []string
	others       map[int]analysis.Choice // by variable: samples for the rule's other conditions
}

func (t *Translation) written(r *Rule, literals func(*Condition) []condition.Literal) (list []writtenLiteral) {
	samples := make(map[int]analysis.Choice)
	for _, k := range r.Bound {
		if texts := k.samples(); len(texts) > 0 {
			samples[t.Variable(k)] = leafChoice(texts[0])
		}
	}
	for _, k := range r.Bound {
		n := t.Variable(k)
		others := maps.Clone(samples)
		delete(others, n)
		for _, lit := range literals(k) {
			if lit.Kind == condition.LiteralString {
				list = append(list, writtenLiteral{k, n, alternatives(k.Spec.Kind, lit.Text), others})
			}
		}
	}
	return list
}

// Crossed lists command lines that rules probably permit, followed by texts that patterns on
// the same parameter match.
func (t *Translation) Crossed(k *Condition, literals []condition.Literal, rules []*Rule) (list []string) {
	if k.Spec.Kind != condition.Pattern || !k.IsCommand() {
		return nil
	}
	var looked []string
	for _, lit := range literals {
		if p, err := regular.Compile(lit.Text); err == nil {
			for _, text := range []string{p.Literal(), p.Sample()} {
				if text != "" && !slices.Contains(looked, text) {
					looked = append(looked, text)
				}
			}
		}
	}
	list = slices.Clone(looked)
	for _, r := range rules {
		for _, other := range r.Bound {
			if !r.Mode.Permissive() || other.Key != k.Key || other.Spec.Kind != condition.Usage {
				continue
			}
			for _, usage := range other.Spec.Values {
				for _, written := range alternatives(condition.Usage, usage.Text) {
					line := follows(written)[0]
					for _, text := range looked {
						if list = append(list, line+" "+text); len(list) >= maxCrossed {
							return list
						}
					}
				}
			}
		}
	}
	return list
}

// maxCrossed is how many lines are made of two rules.
const maxCrossed = 2_000

// With is a choice of one text for one variable, with all others absent.
func (t *Translation) With(variable int, text string) []analysis.Choice {
	list := t.allAbsent()
	list[variable] = leafChoice(text)
	return list
}

func (t *Translation) allAbsent() []analysis.Choice {
	list := make([]analysis.Choice, len(t.all))
	for i := range list {
		list[i].Absent = true
	}
	return list
}

func leafChoice(text string) analysis.Choice {
	return analysis.Choice{Leaves: []analysis.Value{{Kind: analysis.Text, Text: text}}}
}

// tries are texts that probably satisfy a condition with a literal that is written so.
func (k *Condition) tries(written string) []string {
	texts := guessesFor(&k.Spec, written)
	if k.IsCommand() {
		texts = slices.Concat(texts, k.redirected(texts))
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// maxAlternatives is how many ways of writing a literal are tried.
const maxAlternatives = 24

// alternatives are ways of writing a literal that has some.
func alternatives(kind condition.Kind, text string) []string {
	if kind != condition.Usage && kind != condition.Glob && kind != condition.Reads && kind != condition.Writes && kind != condition.Outside {
		return []string{text}
	}
	list := syntax.Alternatives(text)
	return list[:min(len(list), maxAlternatives)]
}

// Touching lists commands that read or write files which a condition on paths names.
func Touching(s *condition.Spec, text string) []string {
	var list []string
	for _, written := range alternatives(s.Kind, text) {
		for _, file := range guessesFor(s, written) {
			list = append(list, "cat "+file, "rm "+file, "cp "+file+" src/q7", "cat "+path.Dir(file)+"/*", "grep -r x "+path.Dir(file), "ls "+file)
		}
	}
	return list
}

// ApartByNames reports that no plain command satisfies some values of one condition on
// commands, and another condition: the first words of both are written out, and they have
// none in common.
func ApartByNames(a *Condition, values []condition.Literal, b *Condition) bool {
	x, okX := a.names(values)
	y, okY := b.names(b.Spec.Values)
	return okX && okY && !slices.ContainsFunc(x, func(name string) bool { return slices.Contains(y, name) })
}

// names are the first words of usages of a condition. It reports false if they are not
// all written out.
func (k *Condition) names(values []condition.Literal) ([]string, bool) {
	if k.Spec.Kind != condition.Usage {
		return nil, false
	}
	var names []string
	for _, lit := range values {
		word, _, _ := strings.Cut(lit.Text, " ")
		for _, name := range syntax.Alternatives(word) {
			if strings.ContainsAny(name, "*?[]{}<>\\") {
				return nil, false
			}
			names = append(names, strings.ToLower(path.Base(name)))
		}
	}
	return names, true
}
