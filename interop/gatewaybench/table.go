package main

import (
	"fmt"
	"os"
	"strings"
)

// Marks of the page around the table.
const (
	openMark  = "<!-- bench-gateway: written by make bench-gateway -->\n"
	closeMark = "<!-- end of bench-gateway -->\n"
)

// table is the result in Markdown.
func table(rows []row) string {
	peers := []string{"nginx", "portkey"}
	var b strings.Builder
	b.WriteString("| traffic | time / proxy | own CPU / proxy | goal |")
	for _, p := range peers {
		fmt.Fprintf(&b, " %s: time | own CPU |", p)
	}
	b.WriteString("\n|---|---|---|---|" + strings.Repeat("---|---|", len(peers)) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s |", r.Name)
		for _, p := range append([]string{"stopgate"}, peers...) {
			fmt.Fprintf(&b, " %s | %s |", r.ratio(p, byTime), r.ratio(p, byCPU))
			if p == "stopgate" {
				b.WriteString(r.goalCell())
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}

// goalCell is the goal of a row, and what misses it in the median.
func (r row) goalCell() string {
	time, cpu := r.goal()
	if time == 0 {
		return " |"
	}
	var missed []string
	if median(r.ratios("stopgate", byTime)) > time {
		missed = append(missed, "time")
	}
	if median(r.ratios("stopgate", byCPU)) > cpu {
		missed = append(missed, "CPU")
	}
	cell := fmt.Sprintf(" %.2f; %.1f", time, cpu)
	if len(missed) > 0 {
		cell += ", missed: " + strings.Join(missed, ", ")
	}
	return cell + " |"
}

// write replaces what is between the marks of a page.
func write(file, table string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	before, rest, ok := strings.Cut(string(text), openMark)
	_, after, ended := strings.Cut(rest, closeMark)
	if !ok || !ended {
		return fmt.Errorf("%s has no marks: %q and %q", file, openMark, closeMark)
	}
	return os.WriteFile(file, []byte(before+openMark+table+closeMark+after), 0o644)
}
