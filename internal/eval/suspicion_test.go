package eval_test

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/property"
	"github.com/stopgate/stopgate/jsonstream"
)

const suspiciousGuards = `
version = 1
[[guard]]
on = "path"
glob = "{**/.env,/home/u/.ssh/**}"
mode = "deny"
[[guard]]
on = "command"
prefix = "rm "
mode = "deny"
allow_unsafe_prefix = true
[[guard]]
on = "command"
writes = "/etc/**"
mode = "deny"
[[guard]]
on = "url"
host = "evil.example"
mode = "deny"
[[guard]]
on = "path"
prefix = "vault"
match = "all"
mode = "deny"
[tools.read_file]
parameters.text = { type = "string" }
parameters.file = { type = "path" }
parameters.line = { type = "command" }
parameters.free = { type = "object" }
policy.run = "unattended"
`

const suspiciousTool = `{"type":"object","properties":{"text":{"type":"string"},"target_file":{"type":"string"},"file":{"type":"string"},"line":{"type":"string"},
	"free":{"type":"object"},"paths":{"type":"array","items":{"type":"string"}},"uri":{"type":"string"},"options":{"type":"object"}}}`

func suspicious(t *testing.T, text string, known eval.KnownTools) *policy.Program {
	t.Helper()
	p, list := prove.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(text)}}, policy.Options{Root: "/srv/app", Home: "/home/u", Known: known})
	if p == nil {
		t.Fatal(list)
	}
	return p
}

// Guards on paths, commands and URLs read every string that no parameter table declares, under
// every plausible reading; they do not match prose and declared strings.
func TestGuardsSuspectUndeclaredStrings(t *testing.T) {
	p := suspicious(t, suspiciousGuards, nil)
	def := &stopgate.ToolDefinition{Name: "read_file", Schema: []byte(suspiciousTool)}
	for args, want := range map[string]stopgate.Mode{
		`{"target_file":".env"}`:                                   stopgate.Deny,
		`{"target_file":" .env"}`:                                  stopgate.Deny,
		`{"target_file":"` + strings.Repeat("a/", 2000) + `.env"}`: stopgate.Deny,
		`{"paths":["a",".env"]}`:                                   stopgate.Deny,
		`{"uri":"file:///home/u/.ssh/id_rsa"}`:                     stopgate.Deny,
		`{"uri":"file:///home/u/%2essh/id_rsa"}`:                   stopgate.Deny,
		`{"uri":"FILE://localhost/home/u/.ssh/id_rsa"}`:            stopgate.Deny,
		`{"uri":"file:.env"}`:                                      stopgate.Deny,
		`{"uri":"file:///home/u/.ssh/id_rsa?raw=1#top"}`:           stopgate.Deny,
		`{"uri":"vscode://file/home/u/.ssh/id_rsa"}`:               stopgate.Deny,
		`{"options":{"a":{"b":"/home/u/.ssh/id_rsa"}}}`:            stopgate.Deny,
		`{"options":{"a":"{\"b\":[\"x\",\".env\"]}"}}`:             stopgate.Deny,
		`{"options":{"a":"\"\\\"[\\\\\\\".env\\\\\\\"]\\\"\""}}`:   stopgate.Deny, // nested three levels deep
		`{"free":{"a":".env"}}`:                                    stopgate.Deny, // the table declares an object without its members
		`{"uri":"file=.env"}`:                                      stopgate.Deny,
		`{"uri":"a=b=.env"}`:                                       stopgate.Deny,
		`{"uri":"a b=.env"}`:                                       stopgate.Unattended,
		`{"uri":"!.env"}`:                                          stopgate.Unattended, // an exclusion of a search
		`{"uri":"!**/.env"}`:                                       stopgate.Unattended,
		`{"uri":"!/../.env"}`:                                      stopgate.Deny, // a path through a directory of that name
		`{"uri":"http:/../.env"}`:                                  stopgate.Deny,
		`{"uri":"rm -rf /"}`:                                       stopgate.Deny,
		`{"uri":"{\"cmd\":\"rm -rf /\"}"}`:                         stopgate.Deny,
		`{"uri":"X=1 rm -rf /"}`:                                   stopgate.Deny,
		`{"uri":"A=1 B='x y' rm -rf /"}`:                           stopgate.Deny,
		`{"uri":"title=a b"}`:                                      stopgate.Unattended,
		`{"uri":"echo x > /etc/passwd"}`:                           stopgate.Deny,
		`{"uri":"$5 rm"}`:                                          stopgate.Unattended, // names no program
		`{"uri":"don't rm "}`:                                      stopgate.Unattended,
		`{"uri":"https://evil.example/a"}`:                         stopgate.Deny,
		`{"uri":"url=https://evil.example/a"}`:                     stopgate.Deny,
		`{"uri":"https://good.example/a"}`:                         stopgate.Unattended,
		`{"uri":"https://good.example/.env"}`:                      stopgate.Unattended, // an address, not a path
		`{"uri":"vault/a"}`:                                        stopgate.Unattended, // more strings would make it weaker
		`{"text":".env"}`:                                          stopgate.Unattended,
		`{"file":"rm -rf /"}`:                                      stopgate.Unattended, // a path
		`{"target_file":"a file\n.env"}`:                           stopgate.Unattended,
		`{"target_file":"` + strings.Repeat("a/", 2100) + `.env"}`: stopgate.Unattended, // longer than a path can be
		`{"target_file":""}`:                                       stopgate.Unattended,
		`{"target_file":"src/a","paths":["b"],"uri":"c"}`:          stopgate.Unattended,
	} {
		e := p.Bind(stopgate.Call{Tool: "read_file", Definition: def}).Evaluate()
		for i := range len(args) {
			e.Feed([]byte(args[i : i+1]))
		}
		if v := e.Close(stopgate.Ended); v.Mode != want {
			t.Errorf("%.80s: %v %s, want %v", args, v.Mode, v.Code, want)
		}
	}
}

// Long strings are read as short ones are: one value with any space around it, also more than a path is
// long, and a JSON text, but not several lines.
func TestGuardsSuspectLongStrings(t *testing.T) {
	p := suspicious(t, suspiciousGuards, nil)
	binding := p.Bind(stopgate.Call{Tool: "read_file", Definition: &stopgate.ToolDefinition{Name: "read_file", Schema: []byte(suspiciousTool)}})
	property.Check(t, func(t *rapid.T) {
		spaces := func(label string) string {
			return strings.Repeat(rapid.SampledFrom([]string{" ", "\n", "\t", "\r\n", "\u2028", "\u3000", " \n\u00a0"}).Draw(t, label), rapid.SampledFrom([]int{0, 1, 300, 1015, 1016, 1020, 3000}).Draw(t, label+" times"))
		}
		before, after := spaces("before"), spaces("after")
		value := rapid.SampledFrom([]string{".env", `{"a":".env"}`, "[\"x\",\n\".env\"]", `"/home/u/.ssh/id_rsa"`, "code {\n.env", ".env\nmore", "# x\r.env", strings.Repeat("a/", 2040) + ".env"}).Draw(t, "value")
		want := stopgate.Unattended
		if value[0] == '{' || value[0] == '[' || value[0] == '"' || !strings.ContainsAny(value, "\r\n") {
			want = stopgate.Deny
		}
		text := jsonstream.AppendQuote(nil, before+value+after)
		if len(before+value+after) > 20<<10 { // the quote of no such text is beyond the limit
			t.Fatalf("%d bytes", len(text))
		}
		if rapid.Bool().Draw(t, "long escapes") {
			text = bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`\n`), []byte(`\u000a`)), []byte("."), []byte(`\u002e`))
		}
		e := binding.Evaluate()
		e.Feed([]byte(`{"target_file":` + string(text) + "}"))
		if v := e.Close(stopgate.Ended); v.Mode != want {
			t.Errorf("%q times %d, %.40q, %q times %d: %v %s, want %v", before[:min(9, len(before))], len(before), value, after[:min(9, len(after))], len(after), v.Mode, v.Code, want)
		}
	})
}

// Nor does it matter inside which space the part of a string ends that is read first.
func TestGuardsSuspectStringsWithManySpaces(t *testing.T) {
	p := suspicious(t, suspiciousGuards, nil)
	binding := p.Bind(stopgate.Call{Tool: "read_file", Definition: &stopgate.ToolDefinition{Name: "read_file", Schema: []byte(suspiciousTool)}})
	for n := range 40 {
		text := jsonstream.AppendQuote(nil, ".env"+strings.Repeat(" ", n)+strings.Repeat("\n\u3000\u2028\u3000\u00a0", 400))
		e := binding.Evaluate()
		e.Feed([]byte(`{"target_file":` + string(text) + "}"))
		if v := e.Close(stopgate.Ended); v.Mode != stopgate.Deny {
			t.Errorf("%d spaces: %v %s", n, v.Mode, v.Code)
		}
	}
}

// Guards on undeclared strings that are still to come delay neither verdicts nor questions: a match
// counts from its byte on, and is named once.
func TestSuspicionKeepsNothingWaiting(t *testing.T) {
	p := suspicious(t, suspiciousGuards+`
[tools.ask]
policy.run = "ask"
[tools.free]
policy.run = "unattended"
`, nil)
	const args = `{"x":1,"target_file":".env"}`
	for tool, early := range map[stopgate.ToolName]stopgate.Mode{"ask": stopgate.Ask, "free": stopgate.Unattended} {
		b := p.Bind(stopgate.Call{Tool: tool, Definition: &stopgate.ToolDefinition{Name: tool, Schema: []byte(`{"type":"object"}`)}})
		e := b.Evaluate()
		if v := e.Verdict(); v.Mode != early || !v.Decided || v.DecidedAt != 0 {
			t.Errorf("%s: %v with byte %d before any byte", tool, v.Mode, v.DecidedAt)
		}
		if len(e.Asking()) > 1 {
			t.Errorf("%s: asked for %v", tool, e.Asking())
		}
		v := e.Feed([]byte(args))
		if v.Mode != stopgate.Deny || v.Layer != stopgate.LayerGuard || v.Pointer != "/target_file" || int(v.DecidedAt) != len(args)-1 {
			t.Errorf("%s: %v of layer %s at %s with byte %d", tool, v.Mode, v.Layer, v.Pointer, v.DecidedAt)
		}
		named := 0
		for _, l := range e.Explain().Lists {
			if l.Named {
				named++
				if c := l.Rules[0].Conditions[0]; !c.Undeclared || c.Pointer != "/target_file" || c.Status != eval.Holds {
					t.Errorf("%s: explained as %+v", tool, c)
				}
			}
		}
		if named != 1 {
			t.Errorf("%s: %d lists are named", tool, named)
		}
	}
}

// The row of a known tool declares parameters if the tool is certain, including the content of
// values without a structure; by name alone it only determines what may be a path.
func TestKnownToolsDeclareStrings(t *testing.T) {
	row, err := schema.FromParameters([]schema.Parameter{{Name: "line", Type: []string{"command"}}})
	if err != nil {
		t.Fatal(err)
	}
	definition := []byte(`{"type":"object","properties":{"line":{"type":"string"},"note":{"type":"string"},"edits":{}}}`)
	for _, test := range []struct {
		own  bool
		args string
		want stopgate.Mode
	}{
		{false, `{"line":"rm -rf /"}`, stopgate.Deny},
		{false, `{"line":"true # ./.env"}`, stopgate.Unattended}, // a command, and not the path "true # ./.env"
		{false, `{"note":".env"}`, stopgate.Deny},
		{false, `{"edits":[{"old":".env"}]}`, stopgate.Deny},
		{true, `{"line":"rm -rf /"}`, stopgate.Deny},
		{true, `{"note":".env"}`, stopgate.Unattended},
		{true, `{"edits":[{"old":".env","more":["rm -rf /"]}]}`, stopgate.Unattended},
	} {
		for _, table := range []string{"policy.run = \"unattended\"\n", "policy.run = \"unattended\"\nparameters.line = { type = \"string\" }\n"} {
			p := suspicious(t, strings.Replace(suspiciousGuards, "on = \"path\"\n", "on = \"path\"\nbelow = \"ignore\"\n", 1)+"[tools.shell]\n"+table,
				func(stopgate.Call) (eval.KnownTool, bool) {
					return eval.KnownTool{Name: "shell", Parameters: row, Certain: test.own, Own: test.own}, true
				})
			e := p.Bind(stopgate.Call{Tool: "shell", Definition: &stopgate.ToolDefinition{Name: "shell", Schema: definition}}).Evaluate()
			e.Feed([]byte(test.args))
			if v := e.Close(stopgate.Ended); v.Mode != test.want {
				t.Errorf("own %t, %s: %s: %v, want %v", test.own, table, test.args, v.Mode, test.want)
			}
		}
	}
}
