package eval_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Instead describes rules of trusted files that permit and that the call fails, in plain words and
// only a few.
func TestInstead(t *testing.T) {
	long := strings.Repeat("x", 61)
	for _, c := range []struct{ name, rules, args, want string }{
		{"the end of a list", `{ arg = "/path", prefix = "src/", mode = "unattended" }`, `{"path":"a"}`, "/path begins with `src/`"},
		{"several rules", `{ arg = "/path", glob = "*.md", mode = "unattended" }, { arg = "/n", enum = [1, 2], mode = "unattended" }`, `{"path":"a"}`,
			"/path matches `*.md`, or where /n is `1` or `2`"},
		{"a list of values", `{ arg = "/command", usage_in = "look", mode = "unattended" }`, `{"command":"make"}`,
			"/command is used as `ls *` or `cat *` or `wc *` and so on"},
		{"two conditions", `{ all = [{ arg = "/path", prefix = "src/" }, { arg = "/n", const = 1 }], mode = "unattended" }`, `{"path":"a","n":1}`,
			"/path begins with `src/` and /n is `1`"},
		{"it holds, and another rule asks", `{ arg = "/n", const = 1, mode = "ask" }, { arg = "/path", prefix = "src/", mode = "unattended" }`, `{"path":"src/a","n":1}`, ""},
		{"nothing is allowed", `{ arg = "/path", prefix = "src/", mode = "ask" }`, `{"path":"a"}`, ""},
		{"a pattern is not for readers", `{ arg = "/path", pattern = "^(?:a|b)$", mode = "unattended" }`, `{"path":"c"}`, ""},
		{"a value that is not plain", `{ arg = "/s", const = "a` + "`" + `b", mode = "unattended" }, { arg = "/s", const = "` + long + `", mode = "unattended" }`, `{"path":"c"}`, ""},
		{"the call may run", `{ arg = "/path", prefix = "src/", mode = "unattended" }`, `{"path":"src/a"}`, ""},
	} {
		text := "version = 1\n[lists]\nlook = [\"ls *\", \"cat *\", \"wc *\", \"head *\"]\n" +
			"[tools.t.parameters]\npath = { type = \"path\" }\ncommand = { type = \"command\" }\nn = { type = \"integer\" }\ns = { type = \"string\" }\n[tools.t.policy]\nrun = [" + c.rules + ", { mode = \"ask\" }]\n"
		for _, trusted := range []bool{true, false} {
			program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: trusted}}, policy.Options{Root: "/srv"})
			if program == nil {
				t.Fatal(c.name, mistakes)
			}
			e := program.Bind(stopgate.Call{Tool: "t"}).Evaluate()
			e.Feed([]byte(c.args))
			e.Close(stopgate.Ended)
			want := ""
			if c.want != "" && trusted {
				want = "The policy has a rule that allows this tool where " + c.want + "."
			}
			if got := e.Instead(); got != want {
				t.Errorf("%s, trusted %v:\n got %s\nwant %s", c.name, trusted, got, want)
			}
		}
	}
}
