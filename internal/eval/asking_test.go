package eval_test

import (
	"slices"
	"strconv"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
)

const asking = `
[tools.write.parameters]
path = { type = "path" }
[tools.write.policy]
run = [
  { arg = "/path", prefix = "quiet", mode = "unattended" },
  { arg = "/path", prefix = "lib", mode = "ask" },
  { arg = "/path", prefix = "lib/x", mode = "ask" },
]
[tools.run.parameters]
command = { type = "command" }
[tools.run.policy]
run = [
  { arg = "/command", prefix = "curl", mode = "ask" },
  { arg = "/command", prefix = "ls", mode = "unattended" },
]
[[guard]]
on = "path"
prefix = "quiet/g"
mode = "ask"
[[guard]]
on = "path"
suffix = "/g"
mode = "ask"
`

// Proves S34: Asking returns the rule of the verdict and all others that require an approval.
func TestAsking(t *testing.T) {
	for _, c := range []struct {
		name, tool, args string
		want             []string // "guard LINE" or "rule LINE", or a code
	}{
		{"nothing", "write", `{"path":"quiet/a"}`, nil},
		{"the first rule of a list that holds", "write", `{"path":"lib/x"}`, []string{"8"}},
		{"no rule", "write", `{"path":"other"}`, []string{"no_rule_matched"}},
		{"two guards", "write", `{"path":"quiet/g"}`, []string{"18", "22"}},
		{"a guard and a rule", "write", `{"path":"lib/g"}`, []string{"22", "8"}},
		{"one command", "run", `{"command":"ls"}`, nil},
		{"two commands, each with its rule", "run", `{"command":"curl x; make"}`, []string{"15", "no_rule_matched"}},
		{"no command", "run", `{}`, []string{"no_rule_matched"}},
		{"no tool", "nothing", `{}`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			policies := layers(t, condition.Env{}, asking)
			e := policies.Bind(stopgate.Call{Tool: stopgate.ToolName(c.tool)}).Evaluate()
			e.Feed([]byte(c.args))
			e.Close(stopgate.Ended)
			lines := map[string]string{}
			for _, l := range e.Explain().Lists {
				for _, r := range l.Rules {
					lines[string(r.Ref.ID)] = strconv.Itoa(r.Ref.Line)
				}
			}
			var got []string
			for _, name := range e.Asking() {
				if line, ok := lines[name]; ok {
					name = line
				}
				got = append(got, name)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
	if names := new(eval.Evaluation).Asking(); names != nil {
		t.Error(names)
	}
}
