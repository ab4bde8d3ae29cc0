package tui

import (
	"fmt"
	"io"
	"strings"
)

// printer writes finished lines once, above the lines that are redrawn.
type printer struct {
	out   io.Writer
	style Style
	raw   bool     // the terminal adds no carriage return
	live  []string // lines that are redrawn
	rows  int      // rows that they take on the screen
	back  int
	err   error
}

// draw writes finished lines and redraws the live lines below them; the cursor ends back columns
// before the end of the last line.
func (p *printer) draw(stay, live []string, back int) {
	if !p.style.Live {
		live = nil
	}
	most := p.style.lines() - 1
	live = live[max(0, len(live)-most):]
	for len(live) > 1 && p.style.rows(live) > most {
		live = live[1:]
	}
	if len(stay) == 0 && same(live, p.live) && back == p.back {
		return
	}
	end := "\n"
	if p.raw {
		end = "\r\n"
	}
	var b strings.Builder
	if len(p.live) > 0 {
		b.WriteString("\r")
		if p.rows > 1 {
			fmt.Fprintf(&b, "\x1b[%dA", p.rows-1)
		}
		b.WriteString("\x1b[J")
	}
	for _, line := range stay {
		b.WriteString(line + end)
	}
	b.WriteString(strings.Join(live, end))
	if back > 0 && len(live) > 0 {
		fmt.Fprintf(&b, "\x1b[%dD", back)
	}
	p.live, p.rows, p.back = live, p.style.rows(live), back
	p.write(b.String())
}

func (p *printer) write(text string) {
	if p.err == nil && text != "" {
		_, p.err = io.WriteString(p.out, text)
	}
}

func same(a, b []string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
