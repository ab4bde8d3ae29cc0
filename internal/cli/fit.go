package cli

import (
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/system/tty"
)

// minColumns is the narrowest window that text is broken for, usualColumns the one of terminals that do not tell
// their size.
const minColumns, usualColumns = 40, 80

// Columns returns the width of the terminal that out is, 0 if it is none.
func Columns(out io.Writer) int {
	f, ok := OutputFile(out)
	if !ok || !tty.Is(f) {
		return 0
	}
	columns, _ := tty.Size(f)
	if columns == 0 {
		return usualColumns
	}
	return max(columns, minColumns)
}

// Fit breaks the lines of a text for people between words, so that they fit the terminal that out is. A
// word that is longer than the window stays whole: it can be copied. For a file or a pipe the text stays
// as it is. It is not for text that programs read, such as policy files.
func Fit(out io.Writer, text string) string { return fit(text, Columns(out)) }

// Fitting returns a writer that writes lines to out as Fit breaks them. Every Write ends with a line.
func Fitting(out io.Writer) io.Writer { return fitting{out} }

type fitting struct{ out io.Writer }

// Write implements [io.Writer].
func (w fitting) Write(text []byte) (int, error) {
	if _, err := io.WriteString(w.out, Fit(w.out, string(text))); err != nil {
		return 0, err
	}
	return len(text), nil
}

func fit(text string, columns int) string {
	if columns == 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body, end := strings.CutSuffix(line, "\n")
		breakLine(&b, body, columns)
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// excerpt matches a line of a file under a finding, and the marks below it, whose columns belong together.
var excerpt = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^ +\d* *\| `) })

// breakLine writes a line in pieces, those after the first below the text of its last column.
func breakLine(b *strings.Builder, line string, columns int) {
	if ansi.StringWidthWc(line) <= columns || excerpt().MatchString(line) {
		b.WriteString(line)
		return
	}
	indent := indentOf(line, columns)
	used := 0
	for rest := line; rest != ""; {
		word := strings.TrimLeft(rest, " ")
		blanks := rest[:len(rest)-len(word)]
		word, _, _ = strings.Cut(word, " ")
		rest = rest[len(blanks)+len(word):]
		width := ansi.StringWidthWc(word)
		if used > indent && used+len(blanks)+width > columns {
			b.WriteString("\n" + strings.Repeat(" ", indent))
			blanks, used = "", indent
		}
		b.WriteString(blanks + word)
		used += len(blanks) + width
	}
}

// indentOf is the column at which the next pieces of a line begin: that of the last column of a table,
// if it is in the first half of the window, or two more than the line's own.
func indentOf(line string, columns int) int {
	own := len(line) - len(strings.TrimLeft(line, " "))
	for at := len(line) - 2; at > own; at-- {
		if line[at] == ' ' && line[at+1] == ' ' {
			if column := ansi.StringWidthWc(line[:at+2]); column <= columns/2 {
				return column
			}
		}
	}
	return min(own+2, columns/2)
}

// FitHelp makes the help of a command and of all below it fit the terminal.
func FitHelp(root *cobra.Command) {
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		out := cmd.OutOrStdout()
		var text strings.Builder
		cmd.SetOut(&text)
		show(cmd, args)
		cmd.SetOut(out)
		io.WriteString(out, Fit(out, text.String())) // a failure is noticed by Output
	})
}
