// Package manual says of every diagnostic and of every reason code what it means and what to
// do about it, in a few lines for people.
//
//	text, ok := manual.Of("SG0301")
//
// It promises that every code of the catalogue of internal/lang/diag and every reason code of the
// root package has a text.
package manual

import (
	_ "embed"
	"strings"
)

//go:embed diagnostics.txt
var diagnostics string

//go:embed codes.txt
var codes string

// Of is the text of a diagnostic or of a reason code. It reports false if there is none.
func Of(code string) (text string, ok bool) {
	for _, all := range []string{diagnostics, codes} {
		for entry := range strings.SplitSeq("\n"+all, "\n# ") {
			if name, text, ok := strings.Cut(entry, "\n"); ok && name == code {
				return strings.TrimSpace(text), true
			}
		}
	}
	return "", false
}

// Codes lists the reason codes that have a text, in the order of the file.
func Codes() (names []string) {
	for entry := range strings.SplitSeq("\n"+codes, "\n# ") {
		if name, _, ok := strings.Cut(entry, "\n"); ok && name != "" {
			names = append(names, name)
		}
	}
	return names
}
