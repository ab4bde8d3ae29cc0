package imports

import (
	"slices"
	"strings"

	"github.com/stopgate/stopgate"
)

// dressed are patterns of lines in which a host sees another command than a shell runs, or which it
// asks about, although the policy language is certain.
var dressed = []string{
	`(?:^|[;&|\n(])[ \t]*(?:[A-Za-z_]\w*\+?=|[!#])`, // an assignment, ! or a comment before a command
	`\\\n`, // words on the next line
}

// Patterns of expansions in a word, and of here-documents. Claude Code reads git commit -m "$(cat
// <<'EOF' as its words.
const (
	expanded       = `\$[?(\w]|<<`
	expandedClaude = `\$(?!\(cat <<')[?(\w]|(?<!\$\(cat )<<`
)

// asWritten guards the lines that the host's permissive rules do not match, since they compare
// texts.
func (d *draft) asWritten() {
	if d.command == "jp" { // whose commands are texts for the policy too
		return
	}
	some := false
	for _, t := range d.tables {
		for _, r := range t.rules {
			if r.dropped || !r.permits() || !slices.ContainsFunc(shellNames, func(name string) bool { return name == t.name || slices.Contains(t.also, name) }) {
				continue
			}
			if len(r.conds) == 0 {
				return // every command, in any spelling
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
