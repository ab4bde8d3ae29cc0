package begin

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/testkit/property"
)

// layout writes JSON settings with random spaces and, where the agent reads them, comments.
type layout struct {
	t        *rapid.T
	comments bool
}

func (l layout) space() string {
	kinds := []string{"", " ", "\n", "\n  ", "\t", "\r\n"}
	if l.comments {
		kinds = append(kinds, " // \"x\": {\n", " /* ] */ ")
	}
	return rapid.SampledFrom(kinds).Draw(l.t, "space")
}

func (l layout) object(members ...string) string {
	text := "{" + l.space()
	for i, m := range members {
		key, value, _ := strings.Cut(m, "=")
		text += `"` + key + `"` + l.space() + ":" + l.space() + value + l.space()
		if i < len(members)-1 || l.comments && rapid.Bool().Draw(l.t, "last") {
			text += "," + l.space()
		}
	}
	return text + "}"
}

func (l layout) settings() string {
	var list []string
	for i := range rapid.IntRange(0, 3).Draw(l.t, "servers") {
		args := rapid.SampledFrom([]string{`[]`, `["-y"]`, "[\n\"-y\",\n\"a b\"\n]", `[ "mcp" ]`}).Draw(l.t, "args")
		list = append(list, fmt.Sprintf("s%d=", i)+l.object(`command="npx"`, "args="+args))
	}
	members := []string{"mcpServers=" + l.object(list...), "theme=\"x\""}
	if rapid.Bool().Draw(l.t, "hooks") {
		hook := `[{"matcher": "x", "hooks": [{"type": "command", "command": "mine"}]}]`
		members = append(members, "hooks="+l.object(rapid.SampledFrom([]string{"BeforeTool", "PreToolUse", "Other"}).Draw(l.t, "event")+"="+hook))
	}
	return l.object(rapid.Permutation(members).Draw(l.t, "members")...) + l.space()
}

// Settings of any layout are byte for byte the same after start and stop; the settings of Gemini CLI and Qwen Code
// have hooks and servers in one file.
func TestSettingsOfAnyLayout(t *testing.T) {
	w := newWorld(t, map[string]string{casesName: ""}) // the policy is not compiled for cases each time
	property.Many(t, property.Cases(5, 12, 1000), func(rt *rapid.T) {
		plain, commented := layout{rt, false}, layout{rt, true}
		for name, text := range map[string]string{
			".mcp.json": plain.settings(), "~/.claude.json": plain.settings(), "~/.claude/settings.json": plain.settings(), ".github/mcp.json": plain.settings(),
			"~/.gemini/settings.json": commented.settings(), "~/.qwen/settings.json": commented.settings(), ".cursor/mcp.json": commented.settings(),
		} {
			w.write(name, text)
		}
		before := w.all()
		p := w.planner("claude-code", "gemini-cli", "qwen-code")
		out, err := p.plan(choice{})
		if err != nil || len(out.uncovered) > 0 {
			rt.Fatalf("%v, %v", out, err)
		}
		if _, err := p.apply(out, choice{}); err != nil {
			rt.Fatal(err)
		}
		if _, err := stop(w.root, false, false, false); err != nil {
			rt.Fatal(err)
		}
		for path, text := range w.all() {
			if before[path] != text {
				rt.Fatalf("%s: %q\nwant %q", path, text, before[path])
			}
		}
	})
}
