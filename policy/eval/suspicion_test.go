package eval_test

import (
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/policy"
)

// Guards on paths, commands and URLs read every string that no parameter table declares,
// under every plausible reading; prose and declared strings are none of theirs.
func TestGuardsSuspectUndeclaredStrings(t *testing.T) {
	const guards = `
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
on = "url"
host = "evil.example"
mode = "deny"
[tools.read_file]
parameters.text = { type = "string" }
policy.run = "unattended"
`
	p, list := policy.Compile([]policy.Source{{Name: "p.toml", Trusted: true, Text: []byte(guards)}}, policy.Options{Root: "/srv/app", Home: "/home/u"})
	if p == nil {
		t.Fatal(list)
	}
	def := &stopgate.ToolDefinition{Name: "read_file", Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"},"target_file":{"type":"string"},
		"paths":{"type":"array","items":{"type":"string"}},"uri":{"type":"string"},"options":{"type":"object"}}}`)}
	for args, want := range map[string]stopgate.Mode{
		`{"target_file":".env"}`:                          stopgate.Deny,
		`{"target_file":" .env"}`:                         stopgate.Deny,
		`{"paths":["a",".env"]}`:                          stopgate.Deny,
		`{"uri":"file:///home/u/.ssh/id_rsa"}`:            stopgate.Deny,
		`{"uri":"file:///home/u/%2essh/id_rsa"}`:          stopgate.Deny,
		`{"uri":"FILE://localhost/home/u/.ssh/id_rsa"}`:   stopgate.Deny,
		`{"options":{"a":{"b":"/home/u/.ssh/id_rsa"}}}`:   stopgate.Deny,
		`{"options":{"a":"{\"b\":[\"x\",\".env\"]}"}}`:    stopgate.Deny,
		`{"uri":"file=.env"}`:                             stopgate.Deny,
		`{"uri":"rm -rf /"}`:                              stopgate.Deny,
		`{"uri":"https://evil.example/a"}`:                stopgate.Deny,
		`{"uri":"https://good.example/a"}`:                stopgate.Unattended,
		`{"text":".env"}`:                                 stopgate.Unattended,
		`{"target_file":"a file\n.env"}`:                  stopgate.Unattended,
		`{"target_file":"src/a","paths":["b"],"uri":"c"}`: stopgate.Unattended,
	} {
		e := p.Bind(stopgate.Call{Tool: "read_file", Definition: def}).Evaluate()
		for i := range len(args) {
			e.Feed([]byte(args[i : i+1]))
		}
		if v := e.Close(stopgate.Ended); v.Mode != want {
			t.Errorf("%s: %v %s, want %v", args, v.Mode, v.Code, want)
		}
	}
}
