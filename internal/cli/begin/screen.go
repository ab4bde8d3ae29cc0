package begin

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/textdiff"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/project"
	"github.com/stopgate/stopgate/internal/system/tty"
	"github.com/stopgate/stopgate/internal/visible"
)

// Bounds of the width of the screen, in columns.
const (
	narrow = 60
	wide   = 200
)

// columns is the width of the terminal of a stream, 80 if it is none.
func columns(out io.Writer) int {
	f, ok := cli.OutputFile(out)
	if !ok || !tty.Is(f) {
		return 80
	}
	n, _ := tty.Size(f)
	if n == 0 {
		return 80
	}
	return min(max(n, narrow), wide)
}

// screen writes text of a width.
type screen struct {
	out   io.Writer
	width int
	home  string
}

// head writes the title of a section.
func (s screen) head(title string) { fmt.Fprintf(s.out, "\n%s\n", title) }

// row writes a label, and a text in the lines after it that begin under its first letter.
func (s screen) row(label, text string, column int) {
	label, text = visible.Text(label), visible.Text(text)
	if text == "" {
		fmt.Fprintf(s.out, "  %s\n", clip(label, s.width-2))
		return
	}
	if n := len([]rune(label)); n > column-1 {
		fmt.Fprintf(s.out, "  %s\n", clip(label, s.width-2))
		label = ""
	}
	for i, line := range wrap(text, s.width-2-column) {
		if i > 0 {
			label = ""
		}
		fmt.Fprintf(s.out, "  %-*s%s\n", column, label, line)
	}
}

// wrap breaks a text at its spaces into lines of at most a width. A longer word is cut into pieces.
func wrap(text string, width int) (lines []string) {
	line := []rune{}
	for _, w := range strings.Fields(text) {
		word := []rune(w)
		for len(word) > width {
			if len(line) > 0 {
				lines, line = append(lines, string(line)), nil
			}
			lines, word = append(lines, string(word[:width])), word[width:]
		}
		if len(line) > 0 && len(line)+1+len(word) > width {
			lines, line = append(lines, string(line)), nil
		}
		if len(line) > 0 {
			line = append(line, ' ')
		}
		line = append(line, word...)
	}
	return append(lines, string(line))
}

// clip shortens a text to a width.
func clip(text string, width int) string {
	if r := []rune(text); len(r) > width {
		return string(r[:width-3]) + "..."
	}
	return text
}

// short writes a path as people do.
func (s screen) short(path, root string) string {
	if rel, err := filepath.Rel(root, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	if rel, err := filepath.Rel(s.home, path); err == nil && filepath.IsLocal(rel) {
		return "~" + string(os.PathSeparator) + rel
	}
	return path
}

// show writes the plan.
func (s screen) show(p *plan, c choice, list []example) {
	fmt.Fprintf(s.out, "stopgate start: %s\n", visible.Text(clip(p.root, s.width-16)))
	s.found(p)
	s.verdicts(list)
	s.files(p, c)
	if len(p.uncovered) > 0 {
		s.head("Not covered")
		for _, text := range p.uncovered {
			s.row("-", strings.ReplaceAll(text, s.home, "~"), 2)
		}
	}
}

const column = 12

func (s screen) found(p *plan) {
	s.head("Found")
	name := func(list []project.Found) string {
		var words []string
		for _, f := range list {
			words = append(words, fmt.Sprintf("%s (%s)", strings.TrimSuffix(f.Name, "-read"), f.Source))
		}
		return strings.Join(words, ", ")
	}
	for _, r := range []struct{ label, text string }{
		{"languages", name(p.project.Languages)}, {"tools", name(p.project.Tools)}, {"agents", strings.Join(p.hosts, ", ")},
		{"work in", strings.Join(p.project.Work, " ")}, {"generated", strings.Join(p.project.Generated, " ")}, {"pipelines", strings.Join(p.project.Pipelines, ", ")},
		{"packs", strings.Join(p.project.Packs(), ", ")}, {"servers", serverNames(p.project.Names)},
	} {
		if r.text != "" {
			s.row(r.label, r.text, column)
		}
	}
	if len(p.hosts) == 0 {
		s.row("agents", "none on this machine", column)
	}
	for _, n := range p.project.Notes {
		s.row("note", n, column)
	}
	covered := p.project.Covered()
	if len(covered) == 0 {
		return
	}
	s.head("Commands of the project")
	for _, c := range covered {
		text := c.Source
		if c.Script != "" {
			text += ": " + strings.Join(strings.Fields(c.Script), " ")
		}
		s.row(c.Line, clip(text, 2*s.width), 2*column+4)
	}
	if !p.project.Unattended {
		return
	}
	s.head("They run without a question, in these forms")
	seen := map[string]bool{}
	for _, c := range covered {
		if !seen[c.Usage] {
			seen[c.Usage] = true
			s.row("-", c.Usage, 2)
		}
	}
}

// serverNames lists names of servers with their packs.
func serverNames(list []project.ServerName) string {
	var names []string
	for _, n := range list {
		names = append(names, n.Name+" is "+n.Pack)
	}
	return strings.Join(names, ", ")
}

// verdicts writes the examples by their verdict, strictest last.
func (s screen) verdicts(list []example) {
	for _, m := range []struct{ mode, title string }{{"unattended", "Runs, in a conversation that has read nothing from strangers"}, {"ask", "Asks you"}, {"edit", "Asks you to edit"}, {"skip", "Is skipped"}, {"deny", "Is denied"}} {
		first := true
		for _, e := range list {
			if e.Mode != m.mode {
				continue
			}
			if first {
				s.head(m.title)
				first = false
			}
			why := e.Reason
			if m.mode == "unattended" {
				why = ""
			}
			s.row(e.Text, why, 2*column+4)
		}
	}
}

// files writes the changes.
func (s screen) files(p *plan, c choice) {
	s.head("Will be written")
	if len(p.changes) == 0 && (p.trusted || p.kept || !c.has(partTrust)) {
		s.row("nothing: everything is there", "", column)
	}
	for _, ch := range p.changes {
		sign := "~ "
		if ch.before == nil {
			sign = "+ "
		}
		s.row(sign+s.short(ch.file, p.root), ch.about(p, c), 2*column+4)
	}
	if slices.ContainsFunc(p.changes, func(ch change) bool { return ch.part == partHooks }) {
		s.row("Where a project has no policy, reading is free and everything else asks.", "", column)
	}
	if !p.kept && !p.trusted && c.has(partPolicy) && c.has(partTrust) && !slices.ContainsFunc(p.changes, func(ch change) bool { return filepath.Base(ch.file) == config.FileName }) {
		s.row("= stopgate.toml", "it is there as start writes it, and will be trusted", 2*column+4)
	}
	if p.kept {
		s.row("= stopgate.toml", "there is one already, and it stays as it is; read it, then: stopgate trust", 2*column+4)
	}
}

// about describes a change.
func (ch change) about(p *plan, c choice) string {
	switch ch.part {
	case partPolicy:
		text := cli.Count(lineCount(ch.after), "line")
		if filepath.Base(ch.file) == casesName {
			return text + ", cases for stopgate test"
		}
		if c.has(partTrust) {
			text += ", trusted: it may also let calls run"
		}
		return text
	case partHooks:
		return "the hook of " + ch.host + ", in all your projects"
	}
	var names []string
	for _, s := range ch.servers {
		names = append(names, s.Name)
	}
	text := "the gate before the " + either(len(names) == 1, "MCP server ", "MCP servers ") + strings.Join(names, ", ")
	if !ch.user {
		text += "; the file is part of the project: do not commit this change"
	}
	return text
}

// details writes the policy and every change as a diff.
func (s screen) details(p *plan) {
	for _, ch := range p.changes {
		fmt.Fprintln(s.out)
		for line := range strings.Lines(textdiff.Unified(s.short(ch.file, p.root), string(ch.before), string(ch.after))) {
			fmt.Fprintln(s.out, visible.Text(strings.TrimSuffix(line, "\n")))
		}
	}
}
