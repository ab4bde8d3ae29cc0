package author

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/flow/source"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/internal/visible"
)

// writeSources shows for every source of a file the texts that have it, the sources that it leans
// on, and the risks of a trusted one.
func writeSources(out io.Writer, path string, f *syntax.File) {
	closures := source.Closures([]source.File{{Sources: f.Sources}})
	if len(closures) == 0 {
		fmt.Fprintf(out, "%s: no sources\n", visible.Text(path))
		return
	}
	for i := range closures {
		writeClosure(out, path, &closures[i])
	}
}

func writeClosure(out io.Writer, path string, c *source.Closure) {
	trust := "not trusted"
	if c.Trusted {
		trust = "trusted"
	}
	fmt.Fprintf(out, "%s: %s\n", visible.Text(string(c.Source)), trust)
	line := func(key, text string) { fmt.Fprintf(out, "  %-7s %s\n", key, visible.Text(text)) }
	for _, t := range c.Tables {
		line("at", fmt.Sprintf("%s:%d", filepath.Base(path), t.Pos.Start.Line))
		line("texts", textsOf(t))
	}
	for _, l := range c.Leans {
		line("leans", fmt.Sprintf("on %s, through %s", l.On, l.Through))
	}
	if len(c.Roots) > 0 {
		line("so", "who is named in a text of "+names(c.Roots)+" can write its texts")
	}
	if c.Cycle {
		line("risk", "it depends on itself, so that no text has it")
	}
	for _, r := range c.Risks {
		if c.Trusted {
			line("risk", r.Text)
		}
	}
}

// textsOf describes the texts of a source in one line.
func textsOf(t *syntax.SourceTable) string {
	text := "the whole result"
	switch {
	case t.Label != "":
		text = "what the group of its label matches in the result"
	case t.Keys:
		text = "the keys at " + t.Field.String() + "/*"
	case len(t.Field) > 0:
		text = "the values at " + t.Field.String()
	}
	if len(t.Items) > 0 {
		text += " of the items at " + t.Items.String()
	}
	return text + " of " + strings.Join(t.Tools, ", ")
}

func names(sources []flow.Source) string {
	texts := make([]string, len(sources))
	for i, s := range sources {
		texts[i] = string(s)
	}
	return strings.Join(texts, ", ")
}
