package eval_test

import (
	"fmt"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// Proves K29: the verdict names the leaf, the simple command and its rule; of several with the same
// result the first in text order.
func TestK29Segment(t *testing.T) {
	p := compile(t, `version = 1
[tools.run.parameters]
command = { type = "command" }
lines = { type = "array", items = { type = "command" } }
argv = { type = "argv" }
[tools.run.policy]
run = [
  { arg = "/command", pattern = "rm +-rf", mode = "deny" },
  { arg = "/command", prefix = "ls", mode = "unattended" },
  { arg = "/command", prefix = "echo", mode = "unattended" },
  { arg = "/lines", prefix = "git push", mode = "ask" },
  { arg = "/lines", prefix = "git", mode = "unattended" },
  { all = [ { arg = "/command", prefix = "tee" }, { arg = "/command", writes = "etc/**" } ], mode = "skip" },
]
[[guard]]
on = "command"
prefix = "dd"
mode = "deny"
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
`)
	one := func(line string) string { return `{"command":` + string(jsonstream.AppendQuote(nil, line)) + `}` }
	for _, c := range []struct{ args, want string }{
		{one("echo ok && rm  -rf /"), `deny rule 0 at /command: 1 of 2 "rm -rf /"`}, // the pattern also matches the line, and so each command
		{one("ls; echo ok"), `unattended rule 1 at /command: 0 of 2 "ls"`},
		{one("ls"), `unattended rule 1 at /command`},
		{one("ls; frob -x; ls"), `ask no rule at /command: 1 of 3 "frob -x"`},
		{one("ls; dd if=x"), `deny rule 0 at /command: 1 of 2 "dd if=x"`},
		{one("ls && sudo dd if=x"), `deny rule 0 at /command: 1 of 3 "sudo dd if=x"`},
		{one("ls -l; cat a | grep x .env; cat .env"), `deny rule 1 at /command: 2 of 4 "grep x .env"`},
		{one("ls; echo x | tee etc/passwd"), `skip rule 5 at /command: 2 of 3 "tee etc/passwd"`},
		{`{"lines":["git log","git log; git push x; git push y"]}`, `ask rule 3 at /lines/1: 1 of 3 "git push x"`},
		{`{"lines":["git log; git log","git status"]}`, `unattended rule 4 at /lines/0: 0 of 2 "git log"`},
		{`{"argv":["sh","-c","ls; dd if=x"]}`, `deny rule 0 at /argv: 2 of 3 "dd if=x"`},
	} {
		v := final(t, p.Bind(stopgate.Call{Tool: "run"}), c.args)
		got := fmt.Sprintf("%s no rule at %s", v.Mode, v.Pointer)
		if v.Rule != nil {
			got = fmt.Sprintf("%s rule %d at %s", v.Mode, v.Rule.Index, v.Pointer)
		}
		if s := v.Segment; s != nil {
			got += fmt.Sprintf(": %d of %d %q", s.Index, s.Of, s.Text)
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
	}
	e := p.Bind(stopgate.Call{Tool: "run"}).Evaluate()
	e.Feed([]byte(one("ls; frob -x; ls")))
	e.Close(stopgate.Ended)
	x := e.Explain()
	if s := x.Lists[len(x.Lists)-1].Segment; s == nil || s.Text != "frob -x" {
		t.Errorf("the list is explained for %+v", s)
	}
}
