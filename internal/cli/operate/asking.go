package operate

import (
	"io"
	"strings"

	"github.com/stopgate/stopgate/internal/cli"
)

// asking writes questions to a terminal so that their lines fit it. Values stay as they are: which blanks a break between words
// takes the place of could not be seen.
type asking struct{ out io.Writer }

// Write implements [io.Writer].
func (w asking) Write(text []byte) (int, error) {
	columns := cli.Columns(w.out)
	var b strings.Builder
	for line := range strings.Lines(string(text)) {
		switch {
		case columns == 0, isValue(line):
			b.WriteString(line)
		case strings.HasPrefix(line, "["):
			b.WriteString(keysIn(line, columns))
		default:
			b.WriteString(cli.Fit(w.out, line))
		}
	}
	if _, err := io.WriteString(w.out, b.String()); err != nil {
		return 0, err
	}
	return len(text), nil
}

// isValue reports whether a line of a question is one of its values.
func isValue(line string) bool {
	rest, ok := strings.CutPrefix(line, "    ")
	return ok && !strings.HasPrefix(rest, " ")
}

// keysIn breaks the line of keys between two of them.
func keysIn(line string, columns int) string {
	var b strings.Builder
	used := 0
	for i, key := range strings.Split(line, "  ") {
		width := len(strings.TrimSuffix(key, "\n"))
		switch {
		case i > 0 && used+2+width > columns:
			b.WriteByte('\n')
			used = 0
		case i > 0:
			b.WriteString("  ")
			used += 2
		}
		b.WriteString(key)
		used += width
	}
	return b.String()
}
