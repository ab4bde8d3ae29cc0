package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/stopgate/stopgate/internal/visible"
)

// Form is the notation of calls.
type Form string

// The forms (D26-17, D26-18).
const (
	AsCall Form = "call"
	AsJSON Form = "json"
)

// Style describes the screen.
type Style struct {
	Width  int  // columns; 0 for 80
	Height int  // lines; 0 for 24
	Color  bool // colours may be used
	Live   bool // lines can be drawn again
	Plain  bool // ASCII only
	Form   Form
}

func (s Style) columns() int {
	if s.Width <= 0 {
		return 80
	}
	return max(s.Width, 40)
}

func (s Style) lines() int {
	if s.Height <= 0 {
		return 24
	}
	return s.Height
}

var (
	normal = lipgloss.NewStyle()
	bold   = lipgloss.NewStyle().Bold(true)
	dim    = lipgloss.NewStyle().Faint(true)
	red    = lipgloss.NewStyle().Foreground(lipgloss.Red)
	green  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	yellow = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	cyan   = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
)

// paint colours a text that is safe to print.
func (s Style) paint(colour lipgloss.Style, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return colour.Render(text)
}

// fit breaks lines at the columns of the screen, which has fewer than the layout if it is narrow. The
// last column stays empty: terminals differ in where the cursor is after it.
func (s Style) fit(lines []string) []string {
	if s.Width <= 0 {
		return lines
	}
	var out []string
	for _, l := range lines {
		out = append(out, hardWrap(l, max(s.Width-1, 1))...)
	}
	return out
}

// marks are the marks before calls; ASCII if the screen may not show others.
type marks struct{ arriving, asks, running, done, failed, refused, dots, bar string }

func (s Style) marks() marks {
	if s.Plain {
		return marks{".", "?", ">", "+", "!", "x", "...", "|"}
	}
	return marks{"◌", "?", "▸", "✓", "!", "✗", "…", "│"}
}

// block is text with a bar before its lines.
type block struct {
	Style
	lines []string
}

// room returns the columns after the bar.
func (b *block) room() int { return b.columns() - 3 }

// raw adds lines that are safe to print and not wider than the room.
func (b *block) raw(lines ...string) {
	for _, l := range lines {
		b.lines = append(b.lines, b.paint(yellow, b.marks().bar)+" "+l)
	}
}

// add adds a text in a colour.
func (b *block) add(colour lipgloss.Style, text string) {
	for _, l := range wrap(text, b.room()) {
		b.raw(b.paint(colour, l))
	}
}

// cells returns the columns of a text.
func cells(text string) int { return ansi.StringWidthWc(text) }

// cut truncates a text to a number of columns.
func (s Style) cut(text string, columns int) string {
	return ansi.TruncateWc(text, columns, s.marks().dots)
}

// middle cuts a text in its middle and keeps its end.
func (s Style) middle(text string, columns int) string {
	width := cells(text)
	if width <= columns {
		return text
	}
	dots := " " + s.marks().dots + " "
	left := max(columns-cells(dots), 2)
	head := left * 2 / 3
	return ansi.TruncateWc(text, head, "") + dots + ansi.TruncateLeftWc(text, width-left+head, "")
}

// wrap breaks a text into lines of a number of columns, between words if possible.
func wrap(text string, columns int) []string {
	return strings.Split(ansi.WrapWc(text, columns, ""), "\n")
}

// hardWrap breaks a text into lines of a number of columns and keeps every space.
func hardWrap(text string, columns int) []string {
	return strings.Split(ansi.HardwrapWc(text, columns, true), "\n")
}

// prose makes a line of a model's text safe to print.
func prose(text string) string { return visible.Lines(strings.ReplaceAll(text, "\t", "    ")) }

// tabs makes tabs visible.
func (s Style) tabs(text string) string {
	if s.Plain {
		return strings.ReplaceAll(text, "\t", ">   ")
	}
	return strings.ReplaceAll(text, "\t", "→   ")
}

// size formats a number of bytes for people.
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1_000_000)
}

// count formats a number of things.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
