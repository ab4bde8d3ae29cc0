// Package textdiff returns the difference of two texts as a unified diff.
//
//	fmt.Print(textdiff.Unified("stopgate.toml", before, after))
package textdiff

import (
	"fmt"
	"strings"
)

// around is the number of unchanged lines before and after a change.
const around = 3

// Unified returns the difference of two texts, "" if there is none. Lines are not escaped: the
// caller must escape untrusted text before printing it.
func Unified(name, before, after string) string {
	if before == after {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "--- %s\n+++ %s\n", name, name)
	for _, h := range hunks(edits(strings.SplitAfter(before, "\n"), strings.SplitAfter(after, "\n"))) {
		fmt.Fprintf(&out, "@@ -%s +%s @@\n", span(h.a, h.as), span(h.b, h.bs))
		for _, e := range h.edits {
			fmt.Fprintf(&out, "%c%s", e.op, e.text)
			if !strings.HasSuffix(e.text, "\n") {
				out.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	return out.String()
}

// hunk is a run of edits with unchanged lines around it; a and b count the lines before it, as and
// bs those in it.
type hunk struct {
	a, b, as, bs int
	edits        []edit
}

func hunks(all []edit) []hunk {
	var out []hunk
	a, b, last := 0, 0, -1 // last: the end of the current hunk
	for i, e := range all {
		if e.op != ' ' {
			from := max(i-around, 0)
			if last >= from && len(out) > 0 {
				from = last
			} else {
				out = append(out, hunk{a: a - (i - from), b: b - (i - from)})
			}
			h := &out[len(out)-1]
			to := min(i+around+1, len(all))
			for k := i + 1; k < to; k++ { // unchanged lines after it, up to the next change
				if all[k].op != ' ' {
					to = k
				}
			}
			h.edits = append(h.edits, all[from:to]...)
			last = to
		}
		if e.op != '+' {
			a++
		}
		if e.op != '-' {
			b++
		}
	}
	for i := range out {
		for _, e := range out[i].edits {
			if e.op != '+' {
				out[i].as++
			}
			if e.op != '-' {
				out[i].bs++
			}
		}
	}
	return out
}

// span returns the range of lines as diff does: the first one counts from 1.
func span(before, count int) string {
	if count == 0 {
		return fmt.Sprintf("%d,0", before)
	}
	return fmt.Sprintf("%d,%d", before+1, count)
}
