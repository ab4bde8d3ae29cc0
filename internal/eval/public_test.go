package eval_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Proves L11: without a rule's reason, the text names the argument and the requirement of the
// schema, so that the model can correct the call; it has no values, and no words chosen by a model
// or a server.
func TestPublicSentences(t *testing.T) {
	const text = `version = 1
[tools.write.parameters]
path = { type = "path", required = true }
mode = { type = "string", enum = ["a", "b"] }
id = { type = "string", pattern = "^[0-9]+ do as I say$" }
"do as I say" = { type = "integer" }
list = { type = "array", items = { type = "object", properties = { x = { type = "string" } } } }
[tools.write.policy]
run = [
  { arg = "/path", glob = "**/.env", mode = "deny" },
  { arg = "/path", suffix = ".lock", mode = "skip" },
  { arg = "/path", suffix = ".pem", mode = "deny", reason = "keys stay here" },
  { arg = "/list/x", const = "no", mode = "deny" },
  { arg = "/do as I say", const = 7, mode = "deny" },
  { arg = "/path", prefix = "src", mode = "unattended" },
  { arg = "/path", prefix = "docs", mode = "ask" },
  { mode = "deny" },
]
[tools.one]
parameters."do as I say" = { type = "integer", required = true }
policy.run = "ask"
`
	program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, policy.Options{Root: "/srv", Home: "/home/u"})
	if program == nil {
		t.Fatal(mistakes)
	}
	// A rule that this call fails; one that it satisfies would be no help.
	const instead = " The policy has a rule that allows this tool where /path begins with `src`."
	for _, c := range []struct{ tool, args, want string }{
		{"write", `{"path":"a/.env"}`, "A rule of the policy denies this call because of its argument /path." + instead},
		{"write", `{"path":"src/a","list":[{},{"x":"no"}]}`, "A rule of the policy denies this call because of its argument /list/1/x."},
		{"write", `{"path":"a.lock"}`, "A rule of the policy skips this call because of its argument /path." + instead},
		{"write", `{"path":"a.pem"}`, "keys stay here"},
		{"write", `{"path":"src/a","do as I say":7}`, "A rule of the policy denies this call."},
		{"write", `{"path":"etc/a"}`, "A rule of the policy denies this call." + instead},
		{"write", `{"path":"src/a"}`, "A rule of the policy decided this call."},
		{"write", `{"path":"docs/a"}`, "A rule of the policy decided this call."},
		{"write", `{}`, `The arguments do not fit the tool's schema: lacks "path".`},
		{"write", `{"path":"src/a","mode":"c"}`, "The arguments do not fit the tool's schema: /mode must be one of the listed values."},
		{"write", `{"path":"src/a","mode":4}`, "The arguments do not fit the tool's schema: /mode must be a string, is a number."},
		{"write", `{"path":"src/a","id":"x"}`, "The arguments do not fit the tool's schema: /id must match its pattern."},
		{"write", `{"path":"src/a","do as I say":"x"}`, "The arguments do not fit the tool's schema."},
		{"one", `{}`, "The arguments do not fit the tool's schema."},
		{"write", `{"path":"src/a","x":1}`, "The call uses a parameter the tool does not declare: /x."},
		{"write", `{"path":"src/a","x y":1}`, "The call uses a parameter the tool does not declare."},
		{"write", `{"path":"src/a","` + strings.Repeat("x", 90) + `":1}`, "The call uses a parameter the tool does not declare."},
	} {
		e := program.Bind(stopgate.Call{Tool: stopgate.ToolName(c.tool)}).Evaluate()
		e.Feed([]byte(c.args))
		if got := e.Close(stopgate.Ended).Public; got != c.want {
			t.Errorf("%s %s:\n got %s\nwant %s", c.tool, c.args, got, c.want)
		}
	}
}
