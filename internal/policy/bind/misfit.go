package bind

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/schema"
)

// firstFault keeps the first error that matchers returned for a condition.
func firstFault(before *condition.SpecError, err error) *condition.SpecError {
	var spec *condition.SpecError
	if before != nil || !errors.As(err, &spec) {
		return before
	}
	return spec
}

// misfit reports the error of a matcher as a diagnostic of the condition. If several
// readings fail, it is the error of the first.
func (b *Binder) misfit(who string, k *syntax.Condition, target condition.Target, spec *condition.SpecError) {
	at := k.ValuePos
	var related []diag.Related
	if literal, ok := k.OffsetRange(spec.Index, spec.Offset); ok {
		at = literal
		if k.Spec.List != "" {
			related = append(related, diag.Related{Range: k.Pos, Message: "the list is used here"})
		}
	}
	separator := ": "
	if word, _, _ := strings.Cut(spec.Message, " "); slices.Contains(predicates, word) {
		separator = " "
	}
	if spec.Index < 0 && spec.Hint == "" {
		spec.Hint = fittingMatchers(target.Type)
	}
	b.Report(misfitCode(k, spec, target), at, fmt.Sprintf("%s: `%s`%s%s", who, k.Spec.Kind, separator, spec.Message), spec.Hint, related...)
}

// fittingMatchers lists the matchers that accept values of some types.
func fittingMatchers(types schema.Type) string {
	var keys []string
	for _, m := range []struct {
		types schema.Type
		keys  []string
	}{
		{schema.String, []string{"const", "enum", "prefix", "suffix", "glob", "pattern"}},
		{schema.Integer | schema.Number, []string{"const", "enum", "minimum", "maximum", "exclusive_minimum", "exclusive_maximum"}},
		{schema.Boolean | schema.Object, []string{"const", "enum"}},
		{schema.Array, []string{"min_items", "max_items"}},
	} {
		for _, key := range m.keys {
			if types&m.types != 0 && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	if len(keys) == 0 {
		return ""
	}
	return "possible here: " + diag.Words(append(keys, "present"))
}

// predicates begin messages whose subject is the matcher or its literal.
var predicates = []string{"cannot", "ends", "has", "is", "leaves", "looks", "must", "names", "takes"}

// misfitCode returns the code of a misfit: the matcher, the type of a literal, or its text is
// wrong.
func misfitCode(k *syntax.Condition, spec *condition.SpecError, target condition.Target) diag.Code {
	if spec.Index < 0 || spec.Index >= len(k.Spec.Values) {
		return diag.MatcherType
	}
	isString := k.Spec.Values[spec.Index].Kind == condition.LiteralString
	takesString := target.Type == 0 || target.Type&schema.String != 0
	switch {
	case !isString || !takesString:
		return diag.LiteralType
	case k.Spec.Kind == condition.Glob, k.Spec.Kind == condition.Outside:
		return diag.BadGlob
	case k.Spec.Kind == condition.Pattern:
		return diag.BadPattern
	case target.Annotation == schema.Path:
		return diag.PathLiteral
	}
	return diag.LiteralType
}
