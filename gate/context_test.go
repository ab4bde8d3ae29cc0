package gate_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
	"github.com/stopgate/stopgate/session"
)

// Proves Q24, K60: a decision's row has what it takes to judge the call again: directories,
// server and definition, and the hash of what its session was told. Of what the call itself
// says it has a hash, and of a name that no row holds the word that it is missing.
func TestARowHasItsContext(t *testing.T) {
	hash := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	text := "version = 1\n[gate]\ndeny_mode = \"tool_result\"\n[tools.t.policy]\nrun = [ { mode = \"deny\", when = { session = \"/frozen\", const = true } }, { mode = \"unattended\" } ]\n"
	for name, c := range map[string]struct {
		options policy.Options
		call    stopgate.Call
		data    string
		want    stopgate.Context
		none    bool
	}{
		"a gate that knows nothing": {none: true},
		"a hook": {
			options: policy.Options{Root: "/p", Dir: "/p/sub", Home: "/home/ann", Run: "/p/run", RunDoubt: true},
			want:    stopgate.Context{Root: "/p", Dir: "/p/sub", Home: "/home/ann", Run: hash("/p/run"), RunDoubt: true},
		},
		"in its root":         {options: policy.Options{Root: "/p", Dir: "/p", RunLost: true}, want: stopgate.Context{Root: "/p", RunLost: true}},
		"an odd name":         {options: policy.Options{Root: "/p\x1b", Home: "/h"}, want: stopgate.Context{Home: "/h", Cut: true}},
		"a long name":         {options: policy.Options{Root: "/" + strings.Repeat("p", 1024)}, want: stopgate.Context{Cut: true}},
		"a tool of a server":  {call: stopgate.Call{Server: "files", Definition: &stopgate.ToolDefinition{Name: "t", Pinned: true}}, want: stopgate.Context{Server: "files", Pinned: true}},
		"a server and a root": {options: policy.Options{Root: "/p"}, call: stopgate.Call{Server: "files"}, want: stopgate.Context{Root: "/p", Server: "files"}},
		"a session with data": {data: `{"a": 1.0}`, call: stopgate.Call{Session: "s"}, want: stopgate.Context{SessionData: hash(`{"a":1}`)}},
		"one without":         {call: stopgate.Call{Session: "s"}, want: stopgate.Context{SessionData: hash(`{}`)}},
	} {
		t.Run(name, func(t *testing.T) {
			program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(text), Trusted: true}}, c.options)
			if program == nil {
				t.Fatal(mistakes)
			}
			var rec ports.Recorder
			g, err := gate.New(program, gate.WithRecorder(&rec), gate.WithStore(mem.New()))
			if err != nil {
				t.Fatal(err)
			}
			if c.data != "" {
				if err := g.SetData(ctx, session.Owner{Session: c.call.Session}, []byte(c.data)); err != nil {
					t.Fatal(err)
				}
			}
			call := c.call
			call.Tool, call.Args = "t", []byte(`{}`)
			if _, err := g.Decide(ctx, call); err != nil {
				t.Fatal(err)
			}
			got := rec.Decisions()[0].Context
			if c.none && got != nil || !c.none && (got == nil || *got != c.want) {
				t.Errorf("context %+v, want %+v", got, c.want)
			}
		})
	}
}
