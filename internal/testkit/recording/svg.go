package recording

import (
	"encoding/xml"
	"fmt"
	"strings"
	"time"
)

// Sizes in pixels.
const (
	cellWidth  = 8.4
	lineHeight = 19
	margin     = 16
)

// style is the style sheet. Everything is visible without animation: the animations hide what has
// not been printed yet. The session plays once.
const style = `svg{color-scheme:light dark}
.w{fill:#fbfbfa;stroke:#c9c9c4}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#24292f;white-space:pre;animation:a 1ms both}
.b{font-weight:600}.d{fill:#5c646d}.g{fill:#116b2c}.r{fill:#b3161f}.y{fill:#7a5200}
@media(prefers-color-scheme:dark){.w{fill:#15191e;stroke:#3a424c}text{fill:#d7dde4}.d{fill:#98a3b0}.g{fill:#57c878}.r{fill:#ff8a83}.y{fill:#e0b25a}}
@keyframes a{from{fill-opacity:0}}
`

// SVG draws the recording. The title is its name for readers who do not see it, the description
// tells them the session.
func (r *Recording) SVG(title, description string) []byte {
	width, height := int(Columns*cellWidth)+2*margin, Lines*lineHeight+2*margin
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="t d">`+"\n", width, height, width, height)
	fmt.Fprintf(&out, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n", escape(title), escape(description))
	fmt.Fprintf(&out, "<style>\n%s.s{transform:translateY(%dpx);animation:s %s step-end both}\n@keyframes s{%s}\n", style, -r.still*lineHeight, seconds(r.length), r.keyframes())
	out.WriteString("@media(prefers-reduced-motion:reduce),print{text,.s{animation:none}}\n</style>\n")
	fmt.Fprintf(&out, `<rect class="w" x=".5" y=".5" width="%d" height="%d" rx="8"/>`+"\n", width-1, height-1)
	fmt.Fprintf(&out, `<clipPath id="c"><rect y="%d" width="%d" height="%d"/></clipPath>`+"\n", margin, width, Lines*lineHeight)
	out.WriteString("<g clip-path=\"url(#c)\"><g class=\"s\">\n")
	for y, row := range r.rows {
		for _, part := range row {
			part.draw(&out, y)
		}
	}
	out.WriteString("</g></g>\n</svg>\n")
	return []byte(out.String())
}

// draw writes one run, with its width in every font.
func (p run) draw(out *strings.Builder, y int) {
	text := strings.TrimLeft(p.text, " ")
	column := p.column + len(p.text) - len(text)
	if text = strings.TrimRight(text, " "); text == "" {
		return
	}
	class := ""
	if p.style != "" {
		class = fmt.Sprintf(` class="%s"`, p.style)
	}
	fmt.Fprintf(out, `<text x="%.4g" y="%d" textLength="%.4g"%s style="animation-delay:%s">%s</text>`+"\n",
		margin+float64(column)*cellWidth, margin+y*lineHeight+14, float64(len([]rune(text)))*cellWidth, class, seconds(p.at), escape(text))
}

// keyframes are the positions of the rows on the screen.
func (r *Recording) keyframes() string {
	frames := []string{"from{transform:none}"}
	for _, s := range r.scrolls {
		frames = append(frames, fmt.Sprintf("%.3f%%{transform:translateY(%dpx)}", 100*s.at.Seconds()/r.length.Seconds(), -s.top*lineHeight))
	}
	if n := len(r.scrolls); n > 0 {
		frames = append(frames, fmt.Sprintf("to{transform:translateY(%dpx)}", -r.scrolls[n-1].top*lineHeight))
	}
	return strings.Join(frames, "")
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.4gs", d.Seconds()) }

func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // writes to memory
	return out.String()
}
