package hook

import (
	_ "embed" // JavaScript of extensions
	"strings"

	"github.com/stopgate/stopgate/flow"
)

// script is the part of every extension that asks the gate. Only an explicit permission lets a
// call run. The reason of a denial is the gate's.
//
//go:embed extension.js
var script string

// Script returns the module of an extension. PROGRAM, ARGUMENTS, TIMEOUT and BLOCK in it are
// replaced by the program, its arguments, the time to wait in milliseconds, and whether a failure
// blocks the call.
func (s *Settings) Script() string { return script + "\n" + s.Code }

// extension returns a host with JavaScript extensions instead of hook commands. The extensions
// that install writes start this program, block unless it replies "allow", and replace results
// with its text.
func extension(name, title string) *Host {
	h := plain(name, title)
	h.WithholdsResults = true
	h.Reports = flow.KnowsUser
	h.Limitations = []string{
		"the extension runs inside the agent: another extension can change the arguments after they were evaluated",
		"hooks can only deny: calls that need an approval are denied, or approved with stopgate approvals",
	}
	h.format = func(_ *Host, e *Event, a Decision) Reply {
		switch {
		case a.Action == Abstain || a.Action == Allow:
			return Reply{Stdout: new(members).flag("block", false).line()}
		case e.Kind == After:
			text := withheldText(a)
			return Reply{Stdout: new(members).flag("block", true).str("reason", text).line(), Exit: exitBlock}
		}
		return denyReply(a, new(members).flag("block", true).str("reason", a.reason()))
	}
	h.blocks = func(r Reply) bool { return r.Exit != 0 || strings.TrimSpace(string(r.Stdout)) != `{"block":false}` }
	return h
}
