package usage

import (
	"strings"
	"unicode/utf8"

	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/internal/condition/shell"
)

// wordGlob matches one word.
type wordGlob struct {
	first        string // the first alternative as written
	exact        []string
	alternatives [][]glob.Token
}

func parseWordGlob(text string) (g wordGlob, err *glob.Error) {
	if words := plainWords(text); words != nil {
		return wordGlob{first: words[0], exact: words}, nil
	}
	lists, err := glob.Parse(text, false)
	if err != nil {
		return g, err
	}
	for _, tokens := range lists {
		if literal, n := glob.LiteralRun(tokens); n == len(tokens) {
			g.exact = append(g.exact, literal)
		} else {
			g.alternatives = append(g.alternatives, tokens)
		}
	}
	g.first = text
	if len(g.exact) > 0 {
		g.first = g.exact[0]
	}
	return g, nil
}

// plainWords returns the words of a glob that is one word, or has one pair of braces and no other
// wildcards, as nearly all have; nil for others.
func plainWords(text string) []string {
	before, rest, braces := strings.Cut(text, "{")
	inner, after, closed := strings.Cut(rest, "}")
	switch {
	case !utf8.ValidString(text) || strings.ContainsAny(before, `*?[}\`) || closed && strings.ContainsAny(after, `*?[{}\`):
		return nil
	case !braces:
		return []string{text}
	case !closed || inner == "" || strings.ContainsAny(inner, `*?[{\`) || strings.Count(inner, ",") >= glob.MaxAlternatives:
		return nil
	}
	words := strings.Split(inner, ",")
	for i, w := range words {
		words[i] = before + w + after
	}
	return words
}

// literals returns the words that the glob matches, nil if they cannot be listed.
func (g *wordGlob) literals() []string {
	if len(g.alternatives) > 0 {
		return nil
	}
	return g.exact
}

// match reports whether the glob matches a word. A word that the glob spells out must be written
// without quotes (E19).
func (g *wordGlob) match(w *shell.Word) bool {
	for _, text := range g.exact {
		if string(w.Text) == text {
			return !w.Quoted || glob.MatchAny(g.alternatives, []byte(text))
		}
	}
	return len(g.alternatives) > 0 && g.text(w.Text)
}

// option matches a word that is an option: only globs that begin with a dash match one.
func (g *wordGlob) option(w *shell.Word) bool {
	for _, text := range g.exact {
		if string(w.Text) == text {
			return !w.Quoted
		}
	}
	for _, tokens := range g.alternatives {
		if tokens[0].Kind == glob.Literal && tokens[0].Rune == '-' && glob.Match(tokens, w.Text) {
			return true
		}
	}
	return false
}

func (g *wordGlob) text(text []byte) bool {
	for _, s := range g.exact {
		if string(text) == s {
			return true
		}
	}
	for _, tokens := range g.alternatives {
		if glob.Match(tokens, text) {
			return true
		}
	}
	return false
}

// program reports whether the glob may match a word that names a program.
func (g *wordGlob) program(p *Program) bool {
	if p.long() {
		return false
	}
	for _, name := range g.exact {
		if p.Names(name) {
			return true
		}
	}
	return g.text(p.Word.Text) || g.text(p.base)
}
