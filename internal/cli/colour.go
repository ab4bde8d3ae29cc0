package cli

import (
	"io"
	"os"
	"regexp"
	"sync"

	"github.com/stopgate/stopgate/internal/system/tty"
)

// Text for people has colours on a terminal, unless NO_COLOR is set to anything (no-color.org).
// Text from outside has no escapes: internal/visible prints it.

// colour is the colour of one pattern in findings, verdicts and records.
type colour struct {
	what  *regexp.Regexp // the first group is coloured
	paint string
}

var colours = sync.OnceValue(func() []colour {
	return []colour{
		{regexp.MustCompile(`(?m)^\S.*?: (error SG\d{4})`), "1;31"},
		{regexp.MustCompile(`(?m)^\S.*?: (warning SG\d{4})`), "1;33"},
		{regexp.MustCompile(`(?m)^\S.*?: (note SG\d{4})`), "1;36"},
		{regexp.MustCompile(`(?m)^ +\| +(\^+)$`), "32"},
		{regexp.MustCompile(`(?m)^(deny|skip)(?:: | by )`), "1;31"},
		{regexp.MustCompile(`(?m)^(ask|edit)(?:: | by )`), "1;33"},
		{regexp.MustCompile(`(?m)^(unattended)(?:: | by )`), "1;32"},
		{regexp.MustCompile(`(?m)^(=> .*)$`), "1"},
		{regexp.MustCompile(`(?m)^[0-9-]{10} [0-9:]{8}  (denied|skipped|stopped|would deny|would skip) `), "31"},
		{regexp.MustCompile(`(?m)^[0-9-]{10} [0-9:]{8}  (asked|would ask|not answered|left to host) `), "33"},
		{regexp.MustCompile(`(?m)^[0-9-]{10} [0-9:]{8}  (allowed|edited) `), "32"},
		{regexp.MustCompile(`(?m)^(?:\S+  )?(loosened)\b`), "1;33"},
	}
})

// Coloured is a text for people as it is written to out: it fits the window, and has colours.
func Coloured(out io.Writer, text string) string {
	text = Fit(out, text)
	if f, ok := OutputFile(out); !ok || !tty.Is(f) || os.Getenv("TERM") == "dumb" || os.Getenv("NO_COLOR") != "" {
		return text
	}
	return painted(text)
}

// painted is a text with its colours.
func painted(text string) string {
	for _, c := range colours() {
		text = c.what.ReplaceAllStringFunc(text, func(found string) string {
			at := c.what.FindStringSubmatchIndex(found)
			return found[:at[2]] + "\x1b[" + c.paint + "m" + found[at[2]:at[3]] + "\x1b[0m" + found[at[3]:]
		})
	}
	return text
}
