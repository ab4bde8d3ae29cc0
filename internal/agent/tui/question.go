package tui

import (
	"fmt"
	"math"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent/arguments"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/jsonstream"
)

// Asked is a question for display.
type Asked struct {
	View gate.View
	// Parameters are the arguments received so far.
	Parameters []arguments.Parameter
	Fresh      []string // parameters that arrived after the first approval
	Preview    string   // effect of the call
	Behind     int      // number of questions after this one
	All        bool     // show values in full
}

// Question renders a question: the call, the reason, and the parts that have not been shown
// (D26-16, H14).
func (s Style) Question(a Asked) []string {
	v, b := a.View, block{Style: s}
	b.raw(s.paint(bold, s.cut(title(v), b.room())))
	b.raw(s.values(a, b.room())...)
	if v.OfResult {
		b.raw(s.text(v.Result, b.room(), a.All)...)
	} else if a.Preview != "" {
		most := 24
		if a.All {
			most = math.MaxInt
		}
		b.raw(s.diff(a.Preview, most)...)
	}
	b.add(dim, "because  "+because(v.Verdict))
	for _, missing := range v.Missing {
		b.add(yellow, "and      "+visible.Text(missing))
	}
	for _, f := range v.Verdict.Floors {
		b.add(yellow, "and      "+visible.Text(f.Code.Public())+" ["+visible.Text(f.Pointer)+"]")
	}
	if len(a.Fresh) > 0 {
		b.add(yellow, "You said yes before you could see "+visible.Text(strings.Join(a.Fresh, ", "))+": look again.")
	}
	if !v.Complete {
		b.add(yellow, "unseen   "+unseen(a.Parameters)+", and any parameter that may follow")
	}
	return b.lines
}

// title returns the first line of a question.
func title(v gate.View) string {
	tool := visible.Text(string(v.Call.Tool))
	switch edit := v.Verdict.Mode == stopgate.Edit; {
	case v.OfResult && edit:
		return tool + " ran; the policy wants you to look at the result in an editor"
	case v.OfResult:
		return tool + " ran; may the model see what it gave back?"
	case edit:
		return tool + " wants to run; the policy wants you to look at it in an editor"
	}
	return tool + " wants to run"
}

// unseen names the parameters that have not arrived completely.
func unseen(list []arguments.Parameter) string {
	for _, p := range list {
		if !p.Complete() {
			return fmt.Sprintf("the rest of %s (%s so far)", name(p), size(p.Bytes))
		}
	}
	return "what has not arrived yet"
}

// maxText bounds the lines of a long text in a question.
const maxText = 8

// maxLabel bounds the columns of a parameter's name.
const maxLabel = 16

// values renders the parameters, each on its own lines.
func (s Style) values(a Asked, room int) []string {
	label := 0
	for _, p := range a.Parameters {
		label = max(label, cells(s.middle(name(p), maxLabel)))
	}
	var lines []string
	for _, p := range a.Parameters {
		head := s.middle(name(p), maxLabel)
		head += strings.Repeat(" ", max(label-cells(head), 0)+2)
		value := s.value(p, room-cells(head), a.All)
		if a.Preview != "" && !a.All && p.Complete() && (len(p.JSON) > 60 || p.JSON[0] == '[') {
			value = []string{s.cut("("+size(p.Bytes)+", see the change below; p shows it)", room-cells(head))}
		}
		for i, line := range value {
			if i == 0 {
				lines = append(lines, s.paint(cyan, head)+line)
			} else {
				lines = append(lines, strings.Repeat(" ", cells(head))+line)
			}
		}
	}
	return lines
}

// value renders one parameter: short values on one line, long ones with their size, start and end.
func (s Style) value(p arguments.Parameter, room int, all bool) []string {
	room = max(room, 16)
	if !p.Complete() {
		lines := []string{"streaming, " + size(p.Bytes)}
		return append(lines, s.tail(p, room)...)
	}
	line := jsonText(p.JSON)
	switch {
	case cells(line) <= room:
		return []string{line}
	case all && p.JSON[0] == '"':
		return append([]string{size(p.Bytes)}, s.text(unquoted(p.JSON), room, true)...)
	case all:
		return hardWrap(line, room)
	case p.JSON[0] == '"' && strings.Contains(p.JSON, `\n`):
		return append([]string{size(p.Bytes)}, s.text(unquoted(p.JSON), room, false)...)
	}
	return hardWrap(s.middle(line, room*3), room)
}

// text renders the start and the end of a text of several lines.
func (s Style) text(text string, room int, all bool) []string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	var out []string
	for i, line := range lines {
		if !all && len(lines) > maxText && i == maxText-3 {
			out = append(out, s.paint(dim, fmt.Sprintf("%s %d more lines %s", s.marks().dots, len(lines)-maxText+1, s.marks().dots)))
		}
		if !all && len(lines) > maxText && i >= maxText-3 && i < len(lines)-2 {
			continue
		}
		line = visible.Lines(s.tabs(line))
		if all {
			out = append(out, hardWrap(line, room)...)
		} else {
			out = append(out, s.middle(line, room))
		}
	}
	return out
}

// maxTail bounds the lines of a streaming text.
const maxTail = 3

// tail renders the end of a streaming text.
func (s Style) tail(p arguments.Parameter, room int) []string {
	if p.Tail == "" {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(p.Tail, "\n"), "\n")
	lines = lines[max(0, len(lines)-maxTail):]
	for i, line := range lines {
		line = visible.Lines(s.tabs(line))
		lines[i] = s.paint(dim, s.marks().dots+" "+s.middle(line, room-4))
	}
	return lines
}

// Keys returns the answers that a question accepts now.
func (s Style) Keys(v gate.View) string {
	switch {
	case v.OfResult:
		return "y show it to the model  n keep it  e edit it  p in full  ? help"
	case v.Verdict.Mode == stopgate.Edit && !v.Complete:
		return "n no  r no, because  ? help  (the editor opens when it is complete)"
	case v.Verdict.Mode == stopgate.Edit:
		return "e open the editor  n no  r no, because  p in full  ? help"
	case !v.Complete:
		return "y yes, when complete  w yes, whatever follows  n no  r no, because  ? help"
	}
	return "y once  a always  n no  r no, because  e edit  p in full  ? help"
}

// unquoted returns the text of a JSON string that the gate or its parser wrote.
func unquoted(json string) string {
	return string(jsonstream.AppendUnescaped(nil, []byte(json[1:len(json)-1])))
}
