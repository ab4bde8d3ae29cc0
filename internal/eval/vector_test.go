package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
)

const vectorTool = `version = 1
[tools.shell.parameters]
command = { type = "argv", required = true }
[tools.shell.policy]
run = [
  { arg = "/command", prefix = "rm", mode = "deny" },
  { all = [ { arg = "/command", usage = "cat **" }, { arg = "/command", reads = "src/**" } ], mode = "unattended" },
  { arg = "/command", prefix = "git status", mode = "unattended" },
  { arg = "/command", usage = "git commit [-m *]", mode = "unattended" },
  { arg = "/command", pattern = "^echo [a-z ]+$", mode = "unattended" },
  { arg = "/command", const = "ls -l", mode = "unattended" },
  { mode = "ask" },
]
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
[[guard]]
on = "command"
prefix = "dd"
mode = "deny"
`

// Proves S40: an argument vector is one simple command: rules compare its words, guards on commands
// and paths and the protected list evaluate it, the script of sh -c is unwrapped, and no word
// contains operators.
func TestArgumentVectors(t *testing.T) {
	p := compile(t, vectorTool)
	for _, c := range []struct {
		args string
		want string
	}{
		{`["git","status"]`, "unattended rule_matched rule 2"},
		{`["git","status","-s"]`, "unattended rule_matched rule 2"},
		{`["git","stat"]`, "ask rule_matched rule 6"},
		{`["git status"]`, "ask rule_matched rule 6"}, // a program of that name
		{`["git","status; rm -rf /"]`, "ask rule_matched rule 6"},
		{`["git","commit","-m","a;\nb $(rm x)"]`, "unattended rule_matched rule 3"}, // one word
		{`["git","commit","-m","a\u0000b"]`, "ask rule_matched rule 6 control_character command_not_analysable"},
		{`["git","commit","-m","a\u200bb"]`, "ask rule_matched rule 6 command_not_analysable"},
		{`["rm","-rf","x"]`, "deny rule_matched rule 0"},
		{`["/bin/rm","-rf","x"]`, "deny rule_matched rule 0"},
		{`["sudo","rm","x"]`, "deny rule_matched rule 0"},
		{`["env","A=1","rm","x"]`, "deny rule_matched rule 0"},
		{`["bash","-lc","git status"]`, "ask rule_matched rule 6"}, // bash itself is not permitted
		{`["bash","-lc","git status && rm -rf x"]`, "deny rule_matched rule 0"},
		{`["sh","-c","$(echo rm) x"]`, "ask rule_matched rule 6 command_not_analysable"},
		{`["cat","src/a"]`, "unattended rule_matched rule 1"},
		{`["cat","lib/a"]`, "ask rule_matched rule 6"},
		{`["cat","src/.env"]`, "deny rule_matched rule 0"},
		{`["cat","src/*"]`, "unattended rule_matched rule 1"}, // a file of that name
		{`["cat",".git/config"]`, "ask rule_matched rule 6 protected_target"},
		{`["tee",".git/hooks/pre-commit"]`, "ask rule_matched rule 6 protected_target"},
		{`["echo","a","b"]`, "unattended rule_matched rule 4"},
		{`["echo","a",";","b"]`, "ask rule_matched rule 6"},
		{`["ls","-l"]`, "unattended rule_matched rule 5"},
		{`["ls","-l","x"]`, "ask rule_matched rule 6"},
		{`["dd","if=x"]`, "deny rule_matched rule 1"}, // the guard matches
		{`[]`, "ask rule_matched rule 6"},
		{`[""]`, "ask rule_matched rule 6 command_not_analysable"},
		{`["rm",1]`, "deny rule_matched rule 0 command_not_analysable"}, // evaluated although the schema forbids it
		{`["git","status",["x"]]`, "deny schema_violation command_not_analysable"},
		{`"rm x"`, "deny rule_matched rule 0"},
		{`"git status"`, "deny schema_violation"},
		{`{"a":"rm x"}`, "deny rule_matched rule 0"},
	} {
		for _, size := range []int{1, 7, 1000} {
			b := p.Bind(stopgate.Call{Tool: "shell"})
			e := b.Evaluate()
			for text := `{"command":` + c.args + `}`; text != ""; {
				n := min(size, len(text))
				e.Feed([]byte(text[:n]))
				text = text[n:]
			}
			v := e.Close(stopgate.Ended)
			got := brief(v)
			for _, f := range v.Floors {
				got += " " + string(f.Code)
			}
			if got != c.want {
				t.Errorf("%s in pieces of %d: %s, want %s", c.args, size, got, c.want)
			}
		}
	}
}

// Proves S40, K13: a vector is decided by its closing bracket.
func TestVectorsDecideAtTheirEnd(t *testing.T) {
	e := compile(t, vectorTool).Bind(stopgate.Call{Tool: "shell"}).Evaluate()
	if v := e.Feed([]byte(`{"command":["rm"`)); v.Decided {
		t.Error("decided early")
	}
	if v := e.Feed([]byte(`],`)); v.Mode != stopgate.Deny || v.DecidedAt != 17 || v.Pointer != "/command" {
		t.Errorf("%v with byte %d at %s", v.Mode, v.DecidedAt, v.Pointer)
	}
}

// Proves S40, K29: of several vectors each is evaluated through the list separately, and one that
// the schema also allows as a line is read as both.
func TestSeveralVectors(t *testing.T) {
	p := compile(t, `version = 1
[tools.batch.parameters]
commands = { type = "array", items = { type = ["string", "argv"] } }
[tools.batch.policy]
run = [ { arg = "/commands", prefix = "ls", mode = "ask" }, { arg = "/commands", prefix = "rm", mode = "deny" }, { arg = "/commands", prefix = "git", mode = "unattended" } ]
`)
	for args, want := range map[string]string{
		`[["git","log"],"git status"]`:       "unattended rule_matched rule 2",
		`[["git","log"],["ls"],["rm","x"]]`:  "deny rule_matched rule 1",
		`[["git","log"],"ls"]`:               "ask rule_matched rule 0",
		`["git log; ls",["rm"]]`:             "deny rule_matched rule 1",
		`[["git","log"],[]]`:                 "ask no_rule_matched",
		`[["git","log"],["sh","-c","rm x"]]`: "deny rule_matched rule 1",
	} {
		if v := final(t, p.Bind(stopgate.Call{Tool: "batch"}), `{"commands":`+args+`}`); brief(v) != want {
			t.Errorf("%s: %s, want %s", args, brief(v), want)
		}
	}
}
