package eval_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
)

// guardsOnSecrets has a condition of every kind that reads a whole text.
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

// Proves that the length of a value satisfies no condition: values of 2 MB, in pieces of any
// size, get the verdict that what is in them gets.
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
