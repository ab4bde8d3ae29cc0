package usage

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/condition/shell"
)

// AnyNames reports whether a word may certainly name the program of a usage. False is certain: then no
// usage grants the command that begins with it.
func AnyNames(texts []string, w *shell.Word) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		name, plain := program(text)
		return !plain || name == string(w.Text)
	})
}

// AnyMayName reports whether a word may name the program of a usage. False is certain: then no usage
// suspects it.
func AnyMayName(texts []string, p *Program) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		name, plain := program(text)
		return !plain || p.Names(name)
	})
}

// program returns the name of the program of a usage; plain is set if it is one name in ASCII.
func program(text string) (name string, plain bool) {
	text = strings.TrimLeft(text, " ")
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ':
			return text[:i], i > 0
		case c >= 0x80 || strings.IndexByte(`*?[]{}<>|!\`, c) >= 0:
			return "", false
		}
	}
	return text, text != ""
}
