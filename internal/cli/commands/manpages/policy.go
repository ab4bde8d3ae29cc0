package main

import (
	"regexp"
	"strings"
	"sync"
)

var (
	link = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\[((?:[^\[\]]|\[[^\]]*\])+)\]\((?:#|\.|[a-z0-9-]+\.md)[^)]*\)`)
	})
	divider = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\|(?: *:?-+:? *\|)+$`) })
)

// prepare turns the page of the policy language into one that a terminal can show: links to other
// pages of the documentation are their text, and rows of tables are terms with definitions.
func prepare(page string) string {
	_, text, _ := strings.Cut(page, "\n") // its title
	var out strings.Builder
	out.WriteString("# NAME\nstopgate.toml - policy file of stopgate(1)\n\n# DESCRIPTION\n")
	lines := strings.Split(link().ReplaceAllString(text, "$1"), "\n")
	fenced := false
	for i, line := range lines {
		fenced = fenced != strings.HasPrefix(line, "```")
		switch {
		case fenced || !strings.HasPrefix(line, "|"):
			out.WriteString(line + "\n")
		case divider().MatchString(line):
		case i+1 < len(lines) && divider().MatchString(lines[i+1]): // headings of columns
		default:
			cells := cellsOf(line)
			out.WriteString("\n" + cells[0] + "\n: " + strings.Join(cells[1:], "; ") + "\n")
		}
	}
	return out.String()
}

// cellsOf splits a row of a table. A | in a cell is written \|.
func cellsOf(row string) (cells []string) {
	row = strings.ReplaceAll(strings.Trim(strings.TrimSpace(row), "|"), `\|`, "\x00")
	for cell := range strings.SplitSeq(row, "|") {
		if cell = strings.TrimSpace(strings.ReplaceAll(cell, "\x00", "|")); cell != "" {
			cells = append(cells, cell)
		}
	}
	if len(cells) == 0 {
		cells = []string{""}
	}
	return cells
}
