package imports

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// dressed are patterns of lines in which a host sees another command than a shell starts, or
// something that it asks about, where the language is certain all the same.
var dressed = []string{
	`(?:^|[;&|\n(])[ \t]*(?:[A-Za-z_]\w*\+?=|[!#])`, // an assignment, ! or a comment before a command
	`\\\n`, // words in the next line
}

// Patterns of what is expanded in a word, and of a text that the line has itself. Claude Code
// takes git commit -m "$(cat <<'EOF' for the words that it is.
const (
	expanded       = `\$[?(\w]|<<`
	expandedClaude = `\$(?!\(cat <<')[?(\w]|(?<!\$\(cat )<<`
)

// asWritten guards what the host's rules that permit commands do not take: they see a text.
func (d *draft) asWritten() {
	some := false
	for _, t := range d.tables {
		for _, r := range t.rules {
			if r.dropped || !r.permits() || !slices.ContainsFunc(shellNames, func(name string) bool { return name == t.name || slices.Contains(t.also, name) }) {
				continue
			}
			if len(r.conds) == 0 {
				return // every command, however it is written
			}
			some = some || slices.ContainsFunc(r.conds, func(c cond) bool { return c.arg == "/command" })
		}
	}
	if !some {
		return
	}
	mode := stopgate.Ask
	if d.closed {
		mode = stopgate.Deny
	}
	patterns := append(slices.Clone(dressed), expanded)
	if d.command == "claude-settings" {
		patterns[len(dressed)] = expandedClaude
	}
	d.guards = append(d.guards, &rule{mode: mode, on: "command", comment: "Commands are compared as they are written: assignments, expansions and texts in the line satisfy no rule that permits.",
		conds: []cond{{matcher: "pattern", values: []string{strings.Join(patterns, "|")}}}})
}
