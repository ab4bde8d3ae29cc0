package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// guardsOnSecrets has a condition of every kind that evaluates complete texts.
const guardsOnSecrets = `version = 1
[[guard]]
on = "string"
pattern = "AKIA[0-9A-Z]{16}"
mode = "deny"
reason = "no AWS keys"
[[guard]]
on = "string"
glob = "*BEGIN*PRIVATE KEY*"
mode = "deny"
reason = "no private keys"
[[guard]]
on = "string"
suffix = "hunter2"
mode = "deny"
reason = "no passwords"
[[guard]]
on = "path"
glob = "**/.env"
mode = "deny"
reason = "no secrets"
[tools.write.parameters]
text = { type = "string" }
path = { type = "path" }
command = { type = "command" }
[tools.write.policy]
run = "unattended"
[tools.note.policy]
run = [{ arg = "/note", pattern = "ASIA[0-9A-Z]{16}", mode = "deny", reason = "no AWS keys in notes" }, { mode = "unattended" }]
`

// The length of a value satisfies no condition: values of 2 MB, in pieces of any size, get the
// verdict of their content.
func TestLongValues(t *testing.T) {
	yes := strings.Repeat("y", 2_000_000)
	prose := strings.Repeat("a line of text\n", 1<<17)
	p := compile(t, guardsOnSecrets)
	for _, c := range []struct{ name, key, value, want, public string }{
		{"harmless", "text", yes, "unattended rule_matched rule 0", ""},
		{"a pattern", "text", yes + "AKIA0123456789ABCDEF", "deny rule_matched rule 0", "no AWS keys"},
		{"a pattern in the middle", "text", yes + "AKIA0123456789ABCDEF" + yes, "deny rule_matched rule 0", "no AWS keys"},
		{"a glob", "text", "BEGIN" + yes + "PRIVATE KEY", "deny rule_matched rule 1", "no private keys"},
		{"a suffix", "text", yes + "hunter2", "deny rule_matched rule 2", "no passwords"},
		{"a parameter without a type", "note", prose, "unattended rule_matched rule 1", ""},
		{"a pattern in a parameter without a type", "note", prose + "ASIA0123456789ABCDEF", "deny rule_matched rule 0", "no AWS keys in notes"},
		{"a path", "path", yes, "unattended rule_matched rule 0", ""},
		{"a path to a secret", "path", strings.Repeat("./", 1<<20) + ".env", "deny rule_matched rule 3", "no secrets"},
		{"a command", "command", "echo " + yes, "deny matcher_budget rule 3", "A value is too long to be examined; send it in smaller parts."},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := jsonstream.AppendQuote([]byte(`{"`+c.key+`":`), []byte(c.value))
			args = append(args, '}')
			tool := stopgate.ToolName("write")
			if c.key == "note" {
				tool = "note"
			}
			var trace string
			for _, size := range []int{len(args), 4096, 61} {
				e := p.Bind(stopgate.Call{Tool: tool}).Evaluate()
				for rest := args; len(rest) > 0; rest = rest[min(size, len(rest)):] {
					e.Feed(rest[:min(size, len(rest))])
				}
				v := e.Close(stopgate.Ended)
				if got := brief(v); got != c.want {
					t.Fatalf("in pieces of %d bytes: %s, want %s", size, got, c.want)
				}
				if c.public != "" && v.Public != c.public {
					t.Fatalf("text %q, want %q", v.Public, c.public)
				}
				if now := spellAll(e.Trace(), spell); trace != "" && now != trace {
					t.Fatalf("in pieces of %d bytes: %s, want %s", size, now, trace)
				} else {
					trace = now
				}
			}
		})
	}
}

// guardsOnCommands has a guard and a rule of every kind on words of commands.
const guardsOnCommands = `version = 1
[[guard]]
on = "command"
usage = "rm ** <system> **"
mode = "deny"
reason = "the system stays"
[[guard]]
on = "command"
prefix = "curl"
mode = "deny"
reason = "no network"
[tools.sh.parameters]
command = { type = "command" }
argv = { type = "argv" }
[tools.sh.policy]
run = [
  { arg = "/command", glob = "ssh *", mode = "skip", reason = "no other machines" },
  { arg = "/argv", pattern = "^scp ", mode = "deny", reason = "no copies" },
  { mode = "unattended" },
]
`

// A command line that exceeds the limits satisfies no rule: it gets the floor ask with a reason of
// its own, and a rule is named only if it holds.
func TestManyCommands(t *testing.T) {
	const many = "The line has more commands than are looked at: split it into several calls."
	nested := strings.Repeat("env -S ", 60_000)
	p := compile(t, guardsOnCommands)
	for _, c := range []struct{ name, args, want, public string }{
		{"nested", quoted(nested + "ls"), "ask path_not_known", many},
		{"nested behind a denied one", quoted("curl x; " + nested + "ls"), "deny rule_matched rule 1", "no network"},
		{"nested behind a skipped one", quoted("ssh x; " + nested + "ls"), "skip rule_skipped rule 0", "no other machines"},
		{"words of which each may be a command", quoted("xargs " + strings.Repeat("a ", 300)), "ask path_not_known", many},
		{"assignments", quoted("echo " + strings.Repeat("=x ", 300)), "ask path_not_known", many},
		{"assignments and a denied command", quoted("X=curl " + strings.Repeat("=x ", 300)), "deny rule_matched rule 1", "no network"},
		{"a vector", `{"argv":["xargs"` + strings.Repeat(`,"a"`, 300) + `]}`, "ask path_not_known", many},
		{"readings", quoted("rm -rf {a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,q,r,s,t}"), "ask path_not_known",
			"A path can be read in too many ways to know which file it names: write it out, without wildcards, escapes and braces."},
		{"a directory behind others", quoted(strings.Repeat("cd a; ", 20) + "cd /; rm -rf etc"), "deny rule_matched rule 0", "the system stays"},
		{"a directory behind many", quoted(directories(15) + "cd /; rm -rf etc"), "deny rule_matched rule 0", "the system stays"},
		{"more directories than are followed", quoted(directories(70) + "cd /; rm -rf etc"), "ask path_not_known", many},
		{"many words", quoted("git add " + strings.Repeat("a ", 300)), "unattended rule_matched rule 2", ""},
	} {
		e := p.Bind(stopgate.Call{Tool: "sh"}).Evaluate()
		e.Feed([]byte(c.args))
		v := e.Close(stopgate.Ended)
		if got := brief(v); got != c.want || c.public != "" && v.Public != c.public {
			t.Errorf("%s: %s %q, want %s %q", c.name, got, v.Public, c.want, c.public)
		}
	}
}

// quoted returns the arguments of a call of a command line.
func quoted(line string) string {
	return string(jsonstream.AppendQuote([]byte(`{"command":`), []byte(line))) + "}"
}

// directories returns n changes of directory.
func directories(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "cd /d%d; ", i)
	}
	return b.String()
}
