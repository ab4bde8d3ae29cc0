package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/arguments"
	"github.com/stopgate/stopgate/internal/visible"
)

// jsonText renders JSON text on one line. Its quotes and escapes are ASCII and need no escaping.
func jsonText(json string) string {
	return strings.ReplaceAll(visible.Text(json), `\\`, `\`)
}

// name renders the name of a parameter.
func name(p arguments.Parameter) string { return visible.Text(p.Name) }

// mark returns the mark before a call, and its colour.
func (s Style) mark(c agent.Call) (mark string, colour lipgloss.Style) {
	m := s.marks()
	switch c.State {
	case agent.Running:
		return m.running, cyan
	case agent.Done:
		return m.done, green
	case agent.Failed:
		return m.failed, yellow
	case agent.Refused:
		return m.refused, red
	}
	switch v := c.Verdict; {
	case v.Terminal() && !c.Observed:
		return m.refused, red
	case v.Decided && v.Mode.Permissive():
		return m.arriving, green
	case v.Decided:
		return m.asks, yellow
	}
	return m.arriving, dim
}

// Call renders a call with its state.
func (s Style) Call(c agent.Call) []string {
	mark, colour := s.mark(c)
	lines := s.head(c, mark, colour)
	if note := s.note(c); note != "" {
		for i, line := range wrap(note, s.columns()-4) {
			if i == 4 {
				break
			}
			lines = append(lines, "    "+s.paint(colour, line))
		}
	}
	if c.State >= agent.Running && c.Preview != "" {
		lines = append(lines, indented(s.diff(c.Preview, 24))...)
	}
	if c.State == agent.Done || c.State == agent.Failed {
		lines = append(lines, s.result(c)...)
	}
	return lines
}

// head renders a call in the form of the style.
func (s Style) head(c agent.Call, mark string, colour lipgloss.Style) []string {
	tool := visible.Text(string(c.Tool))
	if s.Form == AsJSON {
		lines := []string{s.paint(colour, mark) + " " + s.paint(bold, s.cut(tool, s.columns()-3))}
		return append(lines, s.object(c)...)
	}
	var args []string
	room := max(s.columns()-cells(tool)-6, 20)
	complete := 0
	for _, p := range c.Parameters {
		if p.Complete() {
			complete++
		}
	}
	for _, p := range c.Parameters {
		if !p.Complete() {
			args = append(args, streaming(p))
			continue
		}
		args = append(args, name(p)+": "+s.middle(jsonText(p.JSON), max(room/max(complete, 1)-cells(name(p))-2, 16)))
	}
	if c.State == agent.Arriving && len(c.Parameters) == 0 && !c.Verdict.Terminal() {
		args = append(args, s.marks().dots)
	}
	line := s.cut(tool+"("+strings.Join(args, ", ")+")", s.columns()-3)
	return []string{s.paint(colour, mark) + " " + s.paint(bold, line)}
}

// streaming renders a parameter that is still arriving (D26-17).
func streaming(p arguments.Parameter) string {
	return fmt.Sprintf(`streaming "%s" %s`, name(p), size(p.Bytes))
}

// object renders a call as JSON: the complete parameters, then a line for the streaming one (Q7).
func (s Style) object(c agent.Call) []string {
	var members, rest []string
	for _, p := range c.Parameters {
		if p.Complete() {
			members = append(members, s.middle(`"`+name(p)+`": `+jsonText(p.JSON), s.columns()-8))
		} else {
			rest = append(rest, "    "+streaming(p))
		}
	}
	if len(members) == 0 {
		return append([]string{"    {}"}, rest...)
	}
	lines := []string{"    {"}
	for i, m := range members {
		if i < len(members)-1 {
			m += ","
		}
		lines = append(lines, "      "+m)
	}
	return append(append(lines, "    }"), rest...)
}

// note describes the state of a call, with the reason.
func (s Style) note(c agent.Call) string {
	v := c.Verdict
	switch {
	case c.State == agent.Refused, v.Terminal() && !c.Observed:
		word := "refused"
		if v.Mode == stopgate.Skip {
			word = "skipped"
		}
		note := word + ": " + because(v)
		if v.DecidedAt > 0 && v.Layer != stopgate.LayerApproval && v.Layer != stopgate.LayerFailure {
			note += fmt.Sprintf("; certain at byte %d of the arguments", v.DecidedAt)
		}
		return note
	case c.State == agent.Arriving || c.State == agent.Complete:
		return ""
	}
	var notes []string
	switch {
	case c.Observed:
		notes = append(notes, "only observed: the policy would have said "+v.Mode.String())
	case c.Edited:
		notes = append(notes, "edited by "+visible.Text(c.Approval.By))
	case c.Approval != nil && strings.HasPrefix(c.Approval.ID, "grant:"):
		notes = append(notes, "granted earlier by "+visible.Text(c.Approval.By))
	case c.Approval != nil:
		notes = append(notes, "approved by "+visible.Text(c.Approval.By))
	default:
		notes = append(notes, "unattended")
	}
	if c.State == agent.Running && c.Progress != "" {
		notes = append(notes, visible.Text(c.Progress))
	}
	if c.State > agent.Running && c.Took >= 100*time.Millisecond {
		notes = append(notes, fmt.Sprintf("%.1f s", c.Took.Seconds()))
	}
	if c.Withheld {
		notes = append(notes, "the result is withheld from the model")
	}
	return strings.Join(notes, ", ")
}

// because returns the reason of a verdict: the policy's text, the rule and the value.
func because(v stopgate.Verdict) string {
	why := v.Public
	asks := v.Decided && !v.Mode.Terminal() && !v.Mode.Permissive()
	switch {
	case why == "" && asks && (v.Code == stopgate.CodeRuleMatched || v.Code == ""):
		why = "a rule asks about it"
	case why == v.Code.Public() && asks && v.Code == stopgate.CodeRuleMatched:
		why = "a rule asks about it"
	case why == "":
		why = v.Code.Public()
	}
	why = strings.TrimSuffix(visible.Text(why), ".")
	where := ""
	if v.Rule != nil {
		where = fmt.Sprintf("%s:%d", visible.Text(v.Rule.File), v.Rule.Line)
	} else if v.Code != "" && v.Layer != stopgate.LayerApproval {
		where = string(v.Code)
	}
	if v.Pointer != "" {
		if where != "" {
			where += ", "
		}
		where += visible.Text(v.Pointer)
	}
	if s := v.Segment; s != nil {
		where += ", command " + visible.Part(s.Index, s.Of, s.Text)
	}
	if where != "" {
		why += " [" + where + "]"
	}
	return why
}

// maxResult bounds the displayed lines of a result.
const maxResult = 6

// result renders the start of the result of a call.
func (s Style) result(c agent.Call) []string {
	lines := strings.Split(strings.TrimRight(c.Result, "\n"), "\n")
	if len(lines) == 1 && lines[0] == "" {
		return nil
	}
	shown := lines
	if len(lines) > maxResult {
		shown = append(append([]string(nil), lines[:maxResult-2]...), lines[len(lines)-1])
	}
	var out []string
	for i, line := range shown {
		if len(lines) > maxResult && i == len(shown)-1 {
			out = append(out, "    "+s.paint(dim, fmt.Sprintf("%s %d more lines", s.marks().dots, len(lines)-len(shown))))
		}
		out = append(out, "    "+s.paint(dim, s.cut(visible.Lines(s.tabs(line)), s.columns()-5)))
	}
	return out
}

// indented indents lines as the details of a call.
func indented(lines []string) []string {
	for i := range lines {
		lines[i] = "    " + lines[i]
	}
	return lines
}

// diff renders the first lines of a unified diff.
func (s Style) diff(text string, most int) []string {
	var out []string
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i, line := range lines {
		if i == most && len(lines) > most+1 {
			out = append(out, s.paint(dim, fmt.Sprintf("%s %d more lines of the diff", s.marks().dots, len(lines)-i)))
			break
		}
		colour := dim
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case strings.HasPrefix(line, "+"):
			colour = green
		case strings.HasPrefix(line, "-"):
			colour = red
		}
		out = append(out, s.paint(colour, s.cut(visible.Lines(s.tabs(line)), s.columns()-5)))
	}
	return out
}
