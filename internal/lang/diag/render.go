package diag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"github.com/stopgate/stopgate/internal/visible"
)

const (
	tabWidth  = 4
	lineWidth = 110 // columns of a source line that are shown
)

// Text renders the list for a terminal: each finding with its source line and a caret below the
// position, then its hint and related locations. source returns the text of a file, or nil if it is
// not available: then the source lines are omitted.
func Text(l List, source func(file string) []byte) string {
	r := renderer{source: source, lines: make(map[string]*Lines)}
	for i, d := range l {
		if i > 0 {
			r.out.WriteByte('\n')
		}
		r.diagnostic(d)
	}
	return r.out.String()
}

type renderer struct {
	source func(string) []byte
	lines  map[string]*Lines
	out    strings.Builder
}

func (r *renderer) diagnostic(d Diagnostic) {
	fmt.Fprintln(&r.out, d)
	gutter := len(fmt.Sprint(d.Start.Line))
	for _, rel := range d.Related {
		gutter = max(gutter, len(fmt.Sprint(rel.Start.Line)))
	}
	r.excerpt(d.File, d.Range, gutter)
	for _, line := range strings.Split(d.Hint, "\n") {
		if line != "" {
			fmt.Fprintf(&r.out, " %*s = %s\n", gutter, "", plain(line))
		}
	}
	for _, rel := range d.Related {
		file := rel.File
		if file == "" {
			file = d.File
		}
		fmt.Fprintf(&r.out, "%s: %s\n", location(file, rel.Range), plain(rel.Message))
		r.excerpt(file, rel.Range, gutter)
	}
}

// excerpt prints the first line of a range and underlines it.
func (r *renderer) excerpt(file string, at Range, gutter int) {
	if !at.IsValid() || r.source == nil {
		return
	}
	lines, known := r.lines[file]
	if !known {
		if text := r.source(file); text != nil {
			lines = NewLines(text)
		}
		r.lines[file] = lines
	}
	if lines == nil {
		return
	}
	line := lines.line(at.Start.Line)
	if line == nil {
		return
	}
	from := clamp(at.Start.Offset-lines.starts[at.Start.Line-1], len(line))
	to := len(line)
	if at.End.Line == at.Start.Line {
		to = clamp(at.End.Offset-lines.starts[at.Start.Line-1], len(line))
	}
	shown, caret, marks := window(line, from, to)
	fmt.Fprintf(&r.out, " %*d | %s\n", gutter, at.Start.Line, shown)
	fmt.Fprintf(&r.out, " %*s | %s%s\n", gutter, "", strings.Repeat(" ", caret), strings.Repeat("^", marks))
}

func clamp(n, limit int) int { return max(0, min(n, limit)) }

// window renders at most lineWidth columns of a source line, from the start of the range from..to
// on, and returns where to mark the range.
func window(line []byte, from, to int) (shown string, caret, marks int) {
	// Skip the part of a long line that cannot be shown.
	cut := 0
	for cut < from-8*lineWidth || cut > 0 && !utf8.RuneStart(line[cut]) {
		cut = max(cut+1, from-8*lineWidth)
	}
	line, from, to = line[cut:min(len(line), from+16*lineWidth)], from-cut, to-cut
	cells := cellsOf(line)
	first, last := 0, len(cells)
	if columnsOf(cells) > lineWidth {
		// A third of the width is left in front of the mark.
		at := 0
		for at < len(cells) && cells[at].offset < from {
			at++
		}
		used := 0
		for first = at; first > 0 && used+cells[first-1].columns <= lineWidth/3; first-- {
			used += cells[first-1].columns
		}
		for last = at; last < len(cells) && used+cells[last].columns <= lineWidth; last++ {
			used += cells[last].columns
		}
	}
	var b strings.Builder
	if first > 0 {
		b.WriteString("...")
		caret = 3
	}
	for _, c := range cells[first:last] {
		b.WriteString(c.text)
		switch {
		case c.offset < from:
			caret += c.columns
		case c.offset < to:
			marks += c.columns
		}
	}
	if last < len(cells) {
		b.WriteString("...")
	}
	return strings.TrimRight(b.String(), " "), caret, max(1, marks)
}

// cell is one code point of a source line as it is rendered.
type cell struct {
	offset  int // in the line
	columns int
	text    string
}

func cellsOf(line []byte) []cell {
	var cells []cell
	for i := 0; i < len(line); {
		r, size := utf8.DecodeRune(line[i:])
		c := cell{offset: i}
		switch {
		case r == '\t':
			c.text, c.columns = strings.Repeat(" ", tabWidth), tabWidth
		case r == utf8.RuneError && size == 1:
			c.text = fmt.Sprintf("<%02X>", line[i])
			c.columns = len(c.text)
		case !shows(r):
			c.text = escape(r)
			c.columns = len(c.text)
		default:
			c.text, c.columns = string(line[i:i+size]), columns(r)
		}
		cells = append(cells, c)
		i += size
	}
	return cells
}

func columnsOf(cells []cell) int {
	n := 0
	for _, c := range cells {
		n += c.columns
	}
	return n
}

// columns returns the number of terminal columns of a code point.
func columns(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// shows reports whether a code point is visible.
func shows(r rune) bool { return !visible.Hidden(r) }

func escape(r rune) string { return fmt.Sprintf("<U+%04X>", r) }

// plain escapes every invisible code point of a message.
func plain(s string) string {
	clean := func(r rune) bool { return !shows(r) || r == utf8.RuneError }
	if strings.IndexFunc(s, clean) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range cellsOf([]byte(s)) {
		b.WriteString(c.text)
	}
	return b.String()
}
