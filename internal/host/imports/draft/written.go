package draft

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
func (d *Draft) asWritten() {
	if d.Command == "jp" { // whose commands are texts for the policy too
		return
	}
	some := false
	for _, t := range d.Tables {
		for _, r := range t.Rules {
			if r.dropped || !r.Permits() || !slices.ContainsFunc(shellNames, func(name string) bool { return name == t.Name || slices.Contains(t.Also, name) }) {
				continue
			}
			if len(r.Conds) == 0 {
				return // every command, in any spelling
			}
			some = some || slices.ContainsFunc(r.Conds, func(c Condition) bool { return c.Arg == "/command" })
		}
	}
	if !some {
		return
	}
	mode := stopgate.Ask
	if d.Closed {
		mode = stopgate.Deny
	}
	patterns := append(slices.Clone(dressed), expanded)
	if d.Command == "claude-settings" {
		patterns[len(dressed)] = expandedClaude
	}
	d.Guards = append(d.Guards, &Rule{Mode: mode, On: "command", Comment: "Commands are compared as they are written: assignments, expansions and texts in the line satisfy no rule that permits.",
		Conds: []Condition{{Matcher: "pattern", Values: []string{strings.Join(patterns, "|")}}}})
}
