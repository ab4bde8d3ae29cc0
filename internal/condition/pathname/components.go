package pathname

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/plaintext"
	"github.com/stopgate/stopgate/internal/condition/spelling"
)

// Literal is one literal or one alternative of a glob, as components.
type Literal struct {
	absolute   bool
	home       bool // starts with "~/"
	Components [][]glob.Token
	Below      bool   // also matches everything below it
	negates    bool   // has a negated class or an exception
	suffix     string // instead of all these: the end of a path
}

// ReadPath parses a value of a condition on paths, which must be in canonical form. Restrictive
// globs also match everything below their matches.
func ReadPath(k condition.Kind, text string, restrictive bool) ([]Literal, *condition.SpecError) {
	switch k {
	case condition.Suffix, condition.Glob:
		if err := checkForm(text); err != nil {
			return nil, err
		}
	}
	switch k {
	case condition.Suffix:
		return []Literal{{suffix: text}}, checkSuffix(text)
	case condition.Glob:
		return readGlob(text, restrictive)
	}
	if err := CheckPathLiteral(k, text, restrictive); err != nil {
		return nil, err
	}
	return []Literal{splitPath(k, text)}, nil
}

// splitPath is readPath for a literal that has been checked.
func splitPath(k condition.Kind, text string) Literal {
	lit := SplitLiteral(text)
	lit.Below = k == condition.Prefix
	return lit
}

func readGlob(text string, restrictive bool) (list []Literal, _ *condition.SpecError) {
	alternatives, bad := glob.ParsePath(text)
	if bad != nil {
		return nil, plaintext.OfGlob(bad)
	}
	for _, tokens := range alternatives {
		lit, err := splitGlob(text, tokens)
		if err == nil {
			err = lit.checkUps(restrictive)
		}
		if err != nil {
			return nil, err
		}
		lit.Below = restrictive
		lit.negates = slices.ContainsFunc(tokens, func(t glob.Token) bool { return t.Negated })
		list = append(list, lit)
	}
	return list, nil
}

func checkSuffix(text string) *condition.SpecError {
	switch {
	case text == "":
		return condition.Invalid(0, "is empty, so the condition always matches", "leave the condition out")
	case strings.HasSuffix(text, "/"):
		return condition.Invalid(0, "ends with a separator, which cleaning removes", "")
	case strings.ContainsFunc(text, spelling.Invisible):
		return condition.Invalid(0, "has a control or invisible character", "")
	}
	return nil
}

// SplitLiteral splits a path into components without wildcards.
func SplitLiteral(text string) Literal {
	var lit Literal
	text, lit.absolute = strings.CutPrefix(text, "/")
	text = strings.TrimSuffix(text, "/")
	if rest, ok := strings.CutPrefix(text+"/", "~/"); ok && !lit.absolute {
		lit.home, text = true, strings.TrimSuffix(rest, "/")
	}
	if text == "" {
		return lit
	}
	for _, c := range strings.Split(text, "/") {
		var tokens []glob.Token
		for _, r := range c {
			tokens = append(tokens, glob.Token{Rune: r})
		}
		lit.Components = append(lit.Components, tokens)
	}
	return lit
}

// splitGlob splits the tokens of one alternative into components, which share their memory.
func splitGlob(text string, tokens []glob.Token) (Literal, *condition.SpecError) {
	var lit Literal
	begins, end := 0, len(text)
	flush := func(to, at int) *condition.SpecError {
		component := tokens[begins:to:to]
		lit.Components = append(lit.Components, component)
		begins = to + 1
		return checkComponent(component, at)
	}
	lit.Components = make([][]glob.Token, 0, 4)
	for i, t := range tokens {
		if t.Kind != glob.Literal || t.Rune != '/' {
			continue
		}
		if i == 0 {
			lit.absolute, begins = true, 1
			continue
		}
		if err := flush(i, t.At); err != nil {
			return lit, err
		}
	}
	if lit.absolute && len(tokens) == 1 {
		return lit, nil
	}
	if begins == len(tokens) && len(tokens) > 0 {
		return lit, &condition.SpecError{Offset: end - 1, Message: "ends with a separator", Hint: "`" + text + "**` is everything below"}
	}
	if err := flush(len(tokens), end); err != nil {
		return lit, err
	}
	if !lit.absolute && len(lit.Components) > 1 {
		if isText(lit.Components[0], "~") {
			lit.home, lit.Components = true, lit.Components[1:]
		}
	}
	return lit, nil
}

// checkComponent rejects a component that no canonical path can match.
func checkComponent(tokens []glob.Token, at int) *condition.SpecError {
	if len(tokens) == 0 {
		return &condition.SpecError{Offset: at, Message: "has an empty component", Hint: "write one separator"}
	}
	if isText(tokens, ".") {
		return &condition.SpecError{Offset: tokens[0].At, Message: `has "." as a component, which cleaning removes`, Hint: "leave it out"}
	}
	for i := 1; i < len(tokens); i++ {
		if tokens[i].Kind == glob.Star && tokens[i-1].Kind == glob.Star && len(tokens) != 2 {
			return &condition.SpecError{Offset: tokens[i-1].At, Message: `"**" stands for whole components only`, Hint: "`*` is any text within a component, `**/` any directories before it: `**/*.go` is every such file"}
		}
	}
	if err := glob.CheckException(tokens); err != nil {
		return plaintext.OfGlob(err)
	}
	return nil
}

// checkUps rejects ".." where no canonical path has it.
func (lit *Literal) checkUps(restrictive bool) *condition.SpecError {
	ups := 0
	for i, tokens := range lit.Components {
		if isText(tokens, "..") {
			if i != ups || lit.absolute || lit.home || !restrictive {
				return &condition.SpecError{Offset: tokens[0].At, Message: `has ".." as a component, which cleaning removes`, Hint: "write the directory that is meant"}
			}
			ups++
		}
	}
	return nil
}

func isDoubleStar(tokens []glob.Token) bool {
	return len(tokens) == 2 && tokens[0].Kind == glob.Star && tokens[1].Kind == glob.Star
}

func isText(tokens []glob.Token, text string) bool {
	i := 0
	for _, r := range text {
		if i == len(tokens) || tokens[i].Kind != glob.Literal || tokens[i].Rune != r {
			return false
		}
		i++
	}
	return i == len(tokens)
}
