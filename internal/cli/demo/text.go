package demo

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/system/tty"
	"github.com/stopgate/stopgate/internal/visible"
)

// demoText is the form for people. On a terminal the line that the model is writing is
// shown while it writes.
type demoText struct {
	out   io.Writer
	width int // of the terminal, 0 if it is none that lines can be erased on
	color bool

	now   demoTurn // that is being written
	drawn time.Time
}

// demoWidth is the length of a line where there is no terminal.
const demoWidth = 96

func newDemoText(out io.Writer) *demoText {
	v := &demoText{out: out}
	if f, ok := cli.OutputFile(out); ok && tty.Is(f) && os.Getenv("TERM") != "dumb" {
		v.width, _ = tty.Size(f)
		v.color = os.Getenv("NO_COLOR") == ""
	}
	return v
}

func (v *demoText) begin(url string) {
	fmt.Fprintf(v.out, "A coding session through the running gateway at %s.\nThe model is a replay; the policy is %s, printed by: stopgate demo --show-policy\n", url, demoFile)
}

// listen begins a turn.
func (v *demoText) listen(t demoTurn) {
	v.now, v.drawn = t, time.Time{}
	io.WriteString(v.out, "\n")
}

// progress shows the end of the turn so far.
func (v *demoText) progress(generated int64) {
	const often = 30 * time.Millisecond
	if v.width < 40 || time.Since(v.drawn) < often {
		return
	}
	v.drawn = time.Now()
	line := fmt.Sprintf("%d  model: %s", v.now.number, said(v.now.script.Say, generated))
	rest := generated - int64(len(v.now.script.Say))
	for _, c := range v.now.script.Calls {
		if rest <= 0 {
			break
		}
		line = fmt.Sprintf("   … %s %s bytes held: %s", c.Tool, thousands(min(rest, int64(len(c.Args)))), said(c.Args, rest))
		rest -= int64(len(c.Args))
	}
	io.WriteString(v.out, eraseLine+firstAndLast(visible.Lines(line), v.width-1))
}

// eraseLine goes back to the beginning of an empty line.
const eraseLine = "\r\x1b[K"

// said returns the first n bytes of a text.
func said(text string, n int64) string { return text[:min(n, int64(len(text)))] }

// firstAndLast shortens a text to width characters: its beginning and its end.
func firstAndLast(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	head := width * 2 / 3
	return string(runes[:head]) + "…" + string(runes[len(runes)-(width-head-1):])
}

// turn replaces the text that progress showed.
func (v *demoText) turn(t demoTurn) error {
	var b strings.Builder
	if v.width > 0 {
		b.WriteString(eraseLine)
	}
	fmt.Fprintf(&b, "%d  model: %s\n", t.number, visible.Text(t.script.Say))
	for _, c := range t.calls {
		v.call(&b, c)
	}
	if saved := t.report.Total - t.report.Generated; saved > 0 {
		fmt.Fprintf(&b, "     the model was stopped there: %s of %s bytes were never written\n", thousands(saved), thousands(t.report.Total))
	}
	_, err := io.WriteString(v.out, b.String())
	return err
}

// call shows the arguments up to the byte at which the verdict was certain.
func (v *demoText) call(b *strings.Builder, c demoCall) {
	mark, paint := "✓", "\x1b[32m"
	refused := c.row.Status != stopgate.RecordStatus("allowed")
	if refused {
		mark, paint = "✗", "\x1b[31m"
	}
	if v.color {
		mark = paint + mark + "\x1b[0m"
	}
	certain := int64(0)
	if c.row.DecidedAt != nil {
		certain = min(*c.row.DecidedAt, int64(len(c.args)))
	}
	width := demoWidth
	if v.width > 0 {
		width = v.width
	}
	known := visible.Lines(c.args[:certain])
	if !refused && certain < int64(len(c.args))-1 {
		known += " …"
	}
	fmt.Fprintf(b, "   %s %-14s  %s\n", mark, visible.Text(string(c.row.Tool)), firstAndLast(known, max(width-24, 16)))
	if refused {
		fmt.Fprintf(b, "     refused at byte %s: %s (%s)\n", thousands(certain), visible.Text(c.why), demoWhy(c.row))
		return
	}
	fmt.Fprintf(b, "     allowed: certain at byte %s, held until byte %s (%s)\n", thousands(certain), thousands(int64(len(c.args))), demoWhy(c.row))
}

// demoWhy names the rule or the code that decided.
func demoWhy(r stopgate.Record) string {
	why := string(r.Code)
	if r.Rule != nil {
		why = fmt.Sprintf("%s:%d", r.Rule.File, r.Rule.Line)
	}
	if r.Rule != nil && r.Code != stopgate.CodeRuleMatched {
		why += ", " + string(r.Code)
	}
	return why
}

func (v *demoText) end(sum demoSum) error {
	saved := ""
	if sum.Saved > 0 {
		saved = "; " + thousands(sum.Saved) + " more were never written, and never paid"
	}
	_, err := fmt.Fprintf(v.out, "\n%s: %d allowed, %d refused. The model wrote %s bytes%s.\n",
		cli.Count(sum.Calls, "call"), sum.Allowed, sum.Refused, thousands(sum.Generated), saved)
	return err
}
