package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/stopgate/stopgate/internal/visible"
)

// line is the line editor. It keeps every character of its text and shows it with escapes; the
// editors of bubbles change tabs, drop control characters and show the rest as it is.
type line struct {
	text    []rune
	at      int // cursor position
	history []string
	past    int // position in the history, 0 for the current line
	kept    []rune
}

// clear empties the line and returns its text.
func (l *line) clear() string {
	text := string(l.text)
	if strings.TrimSpace(text) != "" && (len(l.history) == 0 || l.history[len(l.history)-1] != text) {
		l.history = append(l.history, text)
	}
	l.text, l.at, l.past = nil, 0, 0
	return text
}

func (l *line) insert(text string) {
	in := []rune(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text))
	l.text = slices.Insert(l.text, l.at, in...)
	l.at += len(in)
}

// remove deletes the characters between two positions.
func (l *line) remove(from, to int) {
	from, to = max(from, 0), min(to, len(l.text))
	l.text, l.at = slices.Delete(l.text, from, to), from
}

// key handles a key. It reports whether the line is complete.
func (l *line) key(k tea.KeyPressMsg) (done bool) {
	switch k.String() {
	case "enter", "ctrl+j":
		return true
	case "alt+enter", "shift+enter":
		l.insert("\n")
	case "backspace", "ctrl+h":
		l.remove(l.at-1, l.at)
	case "delete", "ctrl+d":
		l.remove(l.at, l.at+1)
	case "ctrl+u":
		l.remove(0, l.at)
	case "ctrl+k":
		l.remove(l.at, len(l.text))
	case "ctrl+w", "alt+backspace":
		before := strings.TrimRight(string(l.text[:l.at]), " ")
		l.remove(len([]rune(before[:strings.LastIndexByte(before, ' ')+1])), l.at)
	case "left":
		l.at = max(0, l.at-1)
	case "right":
		l.at = min(len(l.text), l.at+1)
	case "home", "ctrl+a":
		l.at = 0
	case "end", "ctrl+e":
		l.at = len(l.text)
	case "up":
		l.recall(1)
	case "down":
		l.recall(-1)
	default:
		l.insert(k.Text)
	}
	return false
}

// recall moves in the history.
func (l *line) recall(by int) {
	to := l.past + by
	if to < 0 || to > len(l.history) {
		return
	}
	if l.past == 0 {
		l.kept = l.text
	}
	if l.past = to; to == 0 {
		l.text = l.kept
	} else {
		l.text = []rune(l.history[len(l.history)-to])
	}
	l.at = len(l.text)
}

// render shows the part of the line around the cursor that fits; back is the distance of the cursor
// from its end.
func (l *line) render(s Style, prompt string) (text string, back int) {
	show := func(r []rune) string { return strings.ReplaceAll(visible.Text(string(r)), `\\`, `\`) }
	before, after := show(l.text[:l.at]), show(l.text[l.at:])
	room := s.columns() - cells(prompt) - 2
	if over := cells(before) - room*3/4; over > 0 && cells(before)+cells(after) > room {
		before = ansi.TruncateLeftWc(before, over, "")
	}
	after = s.cut(after, max(room-cells(before), 0))
	return s.paint(bold, prompt) + before + after, cells(after)
}
