package opencode

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/host/imports/draft"
)

// ConvertKilo converts the permission settings of kilo.json or kilo.jsonc, of Kilo Code. They are those of
// [OpenCode], with these differences: a rule on every file, or on every permission, does not permit
// reading *.env; instructions and settings of Kilo Code are always asked about when they are
// edited, and so is another session, unless a rule names the operation; background processes are
// commands.
func ConvertKilo(files []draft.File, o draft.Options) (*draft.Result, error) {
	c := &converter{Draft: draft.Draft{Source: "the permissions of Kilo Code", Command: "kilo", Files: files, Options: o}, ahead: kiloAhead}
	c.permissions = append(slices.Clone(opencodePermissions),
		permission{"bash", []string{"background_process"}, "/command", "command", []draft.Param{
			{Name: "action", Kind: "string"}, {Name: "id", Kind: "string"}, {Name: "description", Kind: "string"}, {Name: "ready", Kind: "object"}, {Name: "inherit", Kind: "boolean"}, {Name: "persistent", Kind: "boolean"},
		}},
		permission{"read", []string{"send_file"}, "/path", "path", nil},
		permission{"agent_manager", []string{"agent_manager"}, "", "", nil},
	)
	return c.convertFiles()
}

// kiloAhead returns the rules of Kilo Code itself, which a rule that permits does not replace.
func kiloAhead(r opencodeRule, p permission) []opencodeRule {
	ask := func(patterns ...string) (rules []opencodeRule) {
		for _, pattern := range patterns {
			rules = append(rules, opencodeRule{key: p.name, pattern: pattern, mode: stopgate.Ask})
		}
		return rules
	}
	switch {
	case p.name == "read" && (r.key == "*" || r.pattern == "*"):
		return append([]opencodeRule{{key: p.name, pattern: "*.env.example", mode: r.mode}}, ask("*.env", "*.env.*")...)
	case p.name == "edit":
		return ask("AGENTS.md", ".kilo/*", "*/.kilo/*", ".kilocode/*", "*/.kilocode/*", "kilo.json", "kilo.jsonc", "opencode.json", "opencode.jsonc")
	case p.name == "agent_manager" && (r.key != p.name || slices.Contains([]string{"*", "prompt", "stop", "move", "answer"}, r.pattern)):
		return ask("*")
	}
	return nil
}
