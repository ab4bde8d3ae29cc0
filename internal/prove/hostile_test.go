package prove_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
)

// Proves H20: a policy file may come from a stranger's repository. The check of any file ends
// soon; where the work would take long, the answer is an error or "not proven".
func TestHostileFiles(t *testing.T) {
	var alike strings.Builder
	for i := range 300 {
		fmt.Fprintf(&alike, "[tools.\"a*{%s%d}\"]\nsource = \"mcp\"\n", strings.Repeat("b,c,", 8), i)
	}
	rules := func(n int, format string) string {
		var b strings.Builder
		b.WriteString("[tools.t.parameters]\npath = { type = \"path\" }\nn = { type = \"integer\" }\n[tools.t.policy]\nrun = [\n")
		for i := range n {
			fmt.Fprintf(&b, format+",\n", i)
		}
		return b.String() + "{ mode = \"ask\" },\n]\n"
	}
	for _, test := range []struct {
		name, text string
		want       diag.Code
	}{
		{"globs over tools", alike.String(), diag.TooLarge},
		{"globs over paths", rules(800, `{ arg = "/path", glob = "**/x%d_/*.{go,md}", mode = "ask" }`), ""},
		{"patterns", rules(1500, `{ arg = "/path", pattern = "^(a|b)*x%d[0-9]+$", mode = "ask" }`), diag.Unreachable},
		{"numbers", rules(5000, `{ arg = "/n", const = %d, mode = "ask" }`), ""},
		{"ranges", rules(2000, `{ arg = "/n", minimum = -%d, mode = "ask" }`), ""},
		{"one line", "lists.a = [" + strings.Repeat("nan, ", 20_000) + "]\n", diag.BadNumber},
		{"long keys", strings.Repeat("k", 1<<20) + " = 1\n", diag.UnknownKey},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := []byte("version = 1\n" + test.text)
			list := findings("hostile.toml", text, policy.Options{})
			found := false
			for _, d := range list {
				found = found || d.Code == test.want
			}
			if found != (test.want != "") {
				t.Errorf("no %s among %d findings", test.want, len(list))
			}
			diag.Text(list[:min(len(list), 100)], func(string) []byte { return text })
		})
	}
}
