package evaluate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/manual"
)

// codeJSON is the explanation of a code.
type codeJSON struct {
	Code string `json:"code"`
	// Name, Severity and Strict are those of a diagnostic; Public is the text of a reason code
	// for models.
	Name     string `json:"name,omitempty"`
	Severity string `json:"severity,omitempty"`
	Strict   bool   `json:"strict,omitempty"`
	Public   string `json:"public,omitempty"`
	Text     string `json:"text"`
}

// explainCode explains a diagnostic, by its code or its name, or a reason code.
func explainCode(s cli.Streams, code string, format cli.Format) error {
	said := codeJSON{Code: code}
	for _, e := range diag.Catalogue() {
		if strings.EqualFold(string(e.Code), code) || e.Name == code {
			said = codeJSON{Code: string(e.Code), Name: e.Name, Severity: e.Severity.String(), Strict: e.Strict}
		}
	}
	if said.Name == "" && slices.Contains(manual.Codes(), code) {
		said.Public = stopgate.Code(code).Public()
	}
	text, ok := manual.Of(said.Code)
	if !ok {
		hint := "codes are listed in docs/reference/diagnostics.md and docs/reference/codes.md"
		if near := diag.DidYouMean(code, codeNames()); near != "" {
			hint = near
		}
		return cli.Usagef("there is no code %q: %s. A call is explained with --tool NAME and --args JSON", code, hint)
	}
	said.Text = text
	var b strings.Builder
	switch {
	case said.Severity != "" && said.Strict:
		fmt.Fprintf(&b, "%s %s (%s; an error with --strict)\n\n", said.Code, said.Name, said.Severity)
	case said.Severity != "":
		fmt.Fprintf(&b, "%s %s (%s)\n\n", said.Code, said.Name, said.Severity)
	default:
		fmt.Fprintf(&b, "%s\nA model is told: %s\n\n", said.Code, said.Public)
	}
	for line := range strings.Lines(said.Text + "\n") {
		b.WriteString(wrapped(strings.TrimSuffix(line, "\n"), 100) + "\n")
	}
	return format.Print(s.Out, said, b.String())
}

// wrapped breaks a line between words.
func wrapped(line string, width int) string {
	var b strings.Builder
	at := 0
	for i, word := range strings.Fields(line) {
		switch n := len([]rune(word)); {
		case i > 0 && at+1+n > width:
			b.WriteByte('\n')
			at = n
		case i > 0:
			b.WriteByte(' ')
			at += 1 + n
		default:
			at = n
		}
		b.WriteString(word)
	}
	return b.String()
}

// codeNames are all that explain knows.
func codeNames() (names []string) {
	for _, e := range diag.Catalogue() {
		names = append(names, string(e.Code), e.Name)
	}
	return append(names, manual.Codes()...)
}

func completeCodes(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return codeNames(), cobra.ShellCompDirectiveNoFileComp
}
