package recording

import (
	"image/color"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// cells reads a row of the terminal as runs of one style, without the spaces at its end.
func cells(terminal *vt.Emulator, index int, at time.Duration) row {
	var found row
	for x := range Columns {
		c := terminal.CellAt(x, index-top(terminal))
		if index < top(terminal) {
			c = terminal.Scrollback().CellAt(x, index)
		}
		if c == nil || c.Content == "" {
			continue // the second half of a wide character
		}
		style := class(c.Style.Fg, c.Style.Attrs)
		if last := len(found) - 1; last >= 0 && found[last].style == style {
			found[last].text += c.Content
			continue
		}
		found = append(found, run{x, c.Content, style, at})
	}
	for last := len(found) - 1; last >= 0; last-- {
		if found[last].text = strings.TrimRight(found[last].text, " "); found[last].text != "" {
			break
		}
		found = found[:last]
	}
	return found
}

// Attributes of cells, as the emulator keeps them.
const (
	bold = 1 << iota
	faint
)

// class names the style of a cell in the style sheet of the SVG.
func class(foreground color.Color, attributes uint8) string {
	switch {
	case is(foreground, ansi.Green, ansi.BrightGreen):
		return "g"
	case is(foreground, ansi.Red, ansi.BrightRed):
		return "r"
	case is(foreground, ansi.Yellow, ansi.BrightYellow):
		return "y"
	case attributes&faint != 0:
		return "d"
	case attributes&bold != 0:
		return "b"
	}
	return ""
}

func is(c color.Color, basic ...ansi.BasicColor) bool {
	for _, b := range basic {
		if c == color.Color(b) {
			return true
		}
	}
	return false
}
