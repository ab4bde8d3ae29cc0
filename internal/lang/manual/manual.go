// Package manual explains every diagnostic and every reason code in a few lines: its meaning and
// its remedy.
//
//	text, ok := manual.Of("SG0301")
//
// Every code of the catalogue of internal/lang/diag and every reason code of the root package has a
// text.
package manual

import (
	_ "embed"
	"strings"
)

//go:embed diagnostics.txt
var diagnostics string

//go:embed codes.txt
var codes string

// Of returns the text of a diagnostic or a reason code, false if there is none.
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

// Codes returns the reason codes that have a text, in file order.
func Codes() (names []string) {
	for entry := range strings.SplitSeq("\n"+codes, "\n# ") {
		if name, _, ok := strings.Cut(entry, "\n"); ok && name != "" {
			names = append(names, name)
		}
	}
	return names
}
