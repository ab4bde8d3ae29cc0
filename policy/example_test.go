package policy_test

import (
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
)

// A verdict is known while the arguments are still arriving.
func ExampleCompile() {
	program, mistakes := policy.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`version = 1
[tools.write_file.parameters]
path = { type = "path", required = true }
content = { type = "string", required = true }
[tools.write_file.policy]
run = [ { arg = "/path", prefix = "src", mode = "unattended" }, { mode = "deny", reason = "only in src" } ]
`)}}, policy.Options{})
	if mistakes.HasErrors() {
		fmt.Println(mistakes)
		return
	}
	e := program.RulesFor(stopgate.Call{Tool: "write_file"}, gate.Circumstances{}).Evaluate(nil)
	for _, chunk := range []string{`{"path":"/etc/`, `passwd","con`, `tent":"root::0:0"}`} {
		v := e.Feed([]byte(chunk))
		fmt.Println(v.Decided, v.Mode)
		if v.Terminal() {
			fmt.Printf("%s at byte %d\n", v.Public, v.DecidedAt)
			break
		}
	}
	// Output:
	// false deny
	// true deny
	// only in src at byte 21
}

// Every mistake of a policy is found in one run.
func ExampleCompile_mistakes() {
	_, mistakes := policy.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`version = 1
[tools.write_file.parameters]
path = { type = "path", required = true }
[tools.write_file.policy]
run = [
  { arg = "/path", prefix = "src", mode = "unattended" },
  { arg = "/path", prefix = "src/generated", mode = "deny" },
  { arg = "/pth", const = "x", mode = "deny" },
  { mode = "ask" },
]
`)}}, policy.Options{})
	for _, m := range mistakes {
		if m.Error {
			fmt.Printf("%s:%d: %s: %s\n", m.File, m.Line, m.Code, m.Hint)
		}
	}
	// Output:
	// stopgate.toml:7: SG0301: write it above rule 1, or remove it
	// stopgate.toml:8: SG0201: did you mean `"/path"`?
}
