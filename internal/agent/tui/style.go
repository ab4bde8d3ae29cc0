package tui

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/width"
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
	return max(s.Height, 5)
}

// rows returns the number of screen rows of lines: a terminal breaks lines that are wider than the
// screen.
func (s Style) rows(lines []string) (n int) {
	width := s.columns()
	if s.Width > 0 {
		width = s.Width
	}
	for _, l := range lines {
		n += max(1, (cells(unpainted(l))+width-1)/width)
	}
	return n
}

// Colours.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

// paint colours a text that is safe to print.
func (s Style) paint(colour, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// unpainted removes the colours of paint.
func unpainted(text string) string {
	var b strings.Builder
	for {
		before, rest, coloured := strings.Cut(text, "\x1b[")
		b.WriteString(before)
		if !coloured {
			return b.String()
		}
		_, text, _ = strings.Cut(rest, "m")
	}
}

// marks are the marks before calls; ASCII if the screen may not show others.
type marks struct{ arriving, asks, running, done, failed, refused, dots, bar string }

func (s Style) marks() marks {
	if s.Plain {
		return marks{".", "?", ">", "+", "!", "x", "...", "|"}
	}
	return marks{"◌", "?", "▸", "✓", "!", "✗", "…", "│"}
}

// cells returns the columns of a text without escape sequences.
func cells(text string) int {
	n := 0
	for _, r := range text {
		n += cellsOf(r)
	}
	return n
}

func cellsOf(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut truncates a text to a number of columns.
func (s Style) cut(text string, columns int) string {
	if cells(text) <= columns {
		return text
	}
	dots := s.marks().dots
	columns -= cells(dots)
	n := 0
	for i, r := range text {
		if n += cellsOf(r); n > columns {
			return text[:i] + dots
		}
	}
	return text
}

// middle cuts a text in its middle and keeps its end.
func (s Style) middle(text string, columns int) string {
	if cells(text) <= columns {
		return text
	}
	dots := " " + s.marks().dots + " "
	runes := []rune(text)
	left := max(columns-cells(dots), 2)
	head, tail := left*2/3, left-left*2/3
	a, n := 0, 0
	for a < len(runes) && n+cellsOf(runes[a]) <= head {
		n += cellsOf(runes[a])
		a++
	}
	b := len(runes)
	for n = 0; b > a && n+cellsOf(runes[b-1]) <= tail; b-- {
		n += cellsOf(runes[b-1])
	}
	return string(runes[:a]) + dots + string(runes[b:])
}

// wrap breaks a text into lines of a number of columns, between words if possible.
func wrap(text string, columns int) []string {
	var lines []string
	for cells(text) > columns {
		n, at, space := 0, 0, 0
		for i, r := range text {
			if n += cellsOf(r); n > columns {
				at = i
				break
			}
			if r == ' ' {
				space = i + 1
			}
		}
		if space > 0 && space > at/2 {
			at = space
		}
		lines = append(lines, strings.TrimRight(text[:at], " "))
		text = text[at:]
	}
	return append(lines, text)
}

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
func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
