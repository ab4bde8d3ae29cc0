package diff_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate/internal/policy"
)

// Proves I25, K7: where a skip and a deny meet the order of the arguments decides; a change
// between the two is shown with a call in such an order, and a difference is complete where
// every edit shows all that it may do to such calls.
func TestDiffOfRefusals(t *testing.T) {
	guard := func(n, mode string) string {
		return "[[guard]]\narg = \"/n\"\nconst = " + n + "\nmode = \"" + mode + "\"\n"
	}
	list := func(rules string) string { return diffTool + "run = [ " + rules + " { mode = \"ask\" } ]\n" }
	one := func(dir string) string {
		return "version = 1\n[tools.t.parameters]\npath = { type = \"path\", required = true }\n[tools.t.policy]\n" +
			`run = [ { arg = "/path", prefix = "` + dir + `", mode = "skip" }, { mode = "ask" } ]` + "\n[[guard]]\non = \"path\"\nglob = \"**/x\"\nmode = \"deny\"\n"
	}
	skip := `{ arg = "/path", prefix = "src", mode = "skip" },`
	for _, test := range []struct{ name, old, new, want string }{
		{"a guard denies what the list skips", list(skip), list(skip) + guard("1", "deny"),
			"t run skip->deny tightened: 0 -> guard 0 {\"n\":1,\"path\":\"src\"} \n" + // the number comes first
				"t run ask->deny tightened: 1 -> guard 0 {\"path\":\"x\",\"n\":1} \n" +
				"complete: true\n"},
		{"a guard that skips and one that denies", list("") + guard("1", "skip"), list("") + guard("1", "skip") + "[[guard]]\non = \"path\"\nprefix = \"src\"\nmode = \"deny\"\n",
			"t run skip->deny tightened: guard 0 -> guard 1 {\"path\":\"src\",\"n\":1} \n" +
				"t run ask->deny tightened: 0 -> guard 1 {\"path\":\"src\"} \n" +
				"complete: true\n"},
		{"a rule above takes what a guard denies", // the order of the rules' arguments
			list(skip) + guard("1", "deny"), list(`{ arg = "/list", prefix = "lib", mode = "edit" },`+skip) + guard("1", "deny"),
			"t run skip->edit loosened: 0 -> 0 {\"path\":\"src\",\"list\":[\"lib\"]} \n" +
				"t run ask->edit tightened: 1 -> 0 {\"path\":\"x\",\"list\":[\"lib\"]} \n" +
				"t run skip->deny tightened: 0 -> guard 0 {\"path\":\"src\",\"n\":1} \n" +
				"complete: true\n"},
		{"they never meet", list(`{ arg = "/n", minimum = 5, mode = "skip" },`) + guard("1", "deny"), list(`{ arg = "/n", minimum = 5, mode = "skip" }, { arg = "/n", const = 3, mode = "edit" },`) + guard("1", "deny"),
			"t run ask->edit tightened: 1 -> 1 {\"n\":3,\"path\":\"x\"} \ncomplete: true\n"},
		{"on one path they are answered at once", // no order of arguments brings the skip first
			one("src"), one("lib"),
			"t run skip->ask loosened: 0 -> 1 {\"path\":\"src\"} \nt run ask->skip tightened: 1 -> 0 {\"path\":\"lib\"} \ncomplete: true\n"},
		{"nothing changes", list(skip) + guard("1", "deny"), list(skip) + guard("1", "deny"), "complete: true\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, changes(t, test.old, test.new, policy.Options{})); diff != "" {
				t.Error(diff)
			}
		})
	}
	many := strings.Replace(diffTool, "n = {", "a = { type = \"integer\" }\nb = { type = \"integer\" }\nc = { type = \"integer\" }\nn = {", 1)
	wide := func(more string) string {
		return many + `run = [ { all = [ { arg = "/a", const = 1 }, { arg = "/b", const = 1 }, { arg = "/c", const = 1 }, { arg = "/path", prefix = "src" } ], mode = "skip" }, { mode = "ask" } ]` + "\n" + more
	}
	if got := changes(t, wide(""), wide(guard("1", "deny")), policy.Options{}); !strings.Contains(got, "skip->deny") {
		t.Errorf("with five arguments: %s", got)
	}
}
