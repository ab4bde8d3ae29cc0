package hook_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/hook"
)

// docs/hooks.md has for every host where its hook is installed, and what it enforces.
func TestDocumentationOfHosts(t *testing.T) {
	text, err := os.ReadFile("../../docs/hooks.md")
	if err != nil {
		t.Fatal(err)
	}
	settings, enforced := "", ""
	for line := range strings.Lines(string(text)) {
		if cells := strings.Count(line, "|"); cells == 4 {
			settings += line
		} else if cells > 4 {
			enforced += strings.SplitN(line, "|", 3)[1]
		}
	}
	for _, h := range hook.All() {
		if !strings.Contains(enforced, "`"+h.Name+"`") {
			t.Errorf("docs/hooks.md does not describe what %s enforces", h.Name)
		}
		if h.Settings.Form != hook.NoSettings && !strings.Contains(settings, "| `"+h.Name+"` | `~/"+h.Settings.User+"`") {
			t.Errorf("docs/hooks.md has no settings of %s in ~/%s", h.Name, h.Settings.User)
		}
		if h.Rules.Source != "" && !strings.Contains(string(text), h.Rules.Source) {
			t.Errorf("docs/hooks.md does not name the rules %s", h.Rules.Source)
		}
		for _, m := range h.Variables() {
			if !strings.Contains(string(text), "`"+m.Variable+"`") {
				t.Errorf("docs/hooks.md does not name %s", m.Variable)
			}
		}
	}
}
