package decide_test

import (
	"testing"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/ports"
)

// readingFixture is an API whose policy reads texts.
func readingFixture(t *testing.T) (*fixture, *ports.Reading) {
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(rules)}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	reading := &ports.Reading{Policy: program, Texts: &ports.Texts{Version: "1"}, Version: "h", Keep: true}
	d := newFixture(t, func(o *decide.Options) {
		store := mem.New()
		g, err := gate.New(reading, gate.WithStore(store), gate.WithDenyMode(gate.DenyToolResult))
		if err != nil {
			t.Fatal(err)
		}
		o.Gate, o.Sessions = g, store
	})
	return d, reading
}

// Messages of the program reach the calls of the session that it names, results by themselves. A
// result that the client did not see itself is not that of the call.
func TestTexts(t *testing.T) {
	d, reading := readingFixture(t)
	d.wants(d.do("host", "POST", "/v1/sessions/s/texts?principal=agent", `{"known":["user","results"],"texts":[
		{"source":"user","text":"hello","id":"m1"},{"source":"user","text":"hello","id":"m1"},{"source":"tool","tool":"web","call_id":"c","text":"page"}]}`), 200, `{"read":true}`)
	seen := func(want string) {
		t.Helper()
		if got := reading.Last(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	id := d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/a"},"session":"s"}`), 200).get("id").(string)
	seen("knows: 5, user: hello, result web: page")
	d.wants(d.do("agent", "POST", "/v1/calls/"+id+"/result", `{"data":"claimed"}`), 200)
	id = d.wants(d.do("seer", "POST", "/v1/calls", `{"tool":"write","args":{"path":"src/b"},"session":"s"}`), 200).get("id").(string)
	seen(`knows: 5, user: hello, result web: page, call write: {"path":"src/a"}, result write: claimed`)
	d.wants(d.do("seer", "POST", "/v1/calls/"+id+"/result", `{"data":"seen"}`), 200)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":".env"},"session":"s"}`), 200)
	seen(`knows: 5, user: hello, result web: page, call write: {"path":"src/a"}, result write: claimed, call write: {"path":"src/b"}, result write of {"path":"src/b"}: seen`)
	// Another principal's session of the same name, and another conversation.
	d.wants(d.do("op", "POST", "/v1/calls", `{"tool":"write","args":{"path":".env"},"session":"s"}`), 200)
	seen("")
	d.wants(d.do("host", "POST", "/v1/sessions/s/texts?principal=agent", `{"conversation":"x","texts":[{"source":"system","text":"rules"}]}`), 200)
	d.wants(d.do("agent", "POST", "/v1/calls", `{"tool":"write","args":{"path":".env"},"session":"s","conversation":"x"}`), 200)
	seen("system: rules")
}

// Ambiguous texts are refused as a whole.
func TestTextBodies(t *testing.T) {
	d, _ := readingFixture(t)
	for _, c := range []struct{ body, code string }{
		{`{"texts":{}}`, "member_type"}, {`{"texts":["x"]}`, "member_type"}, {`{"texts":[{"source":"user"}]}`, "member_missing"},
		{`{"texts":[{"text":"x"}]}`, "member_missing"}, {`{"texts":[{"source":"contacts","text":"x"}]}`, "member_type"},
		{`{"texts":[{"source":"hidden","text":"x"}]}`, "member_type"}, {`{"texts":[{"source":"user","text":"x","tool":"t"}]}`, "unknown_member"},
		{`{"texts":[{"source":"tool","text":"x","id":"t"}]}`, "unknown_member"}, {`{"texts":[{"source":"user","text":"x","released":true}]}`, "unknown_member"},
		{`{"texts":[{"source":"user","source":"tool","text":"x"}]}`, "malformed_body"}, {`{"known":["tool"]}`, "member_type"}, {`{"known":"user"}`, "member_type"},
		{`{"messages":[]}`, "unknown_member"}, {`{"whole":1}`, "member_type"},
	} {
		d.wants(d.do("host", "POST", "/v1/sessions/s/texts", c.body), 400, c.code)
	}
	plain := newFixture(t, nil)
	plain.wants(plain.do("host", "POST", "/v1/sessions/s/texts", `{"texts":[{"source":"user","text":"x"}]}`), 200, `{"read":false}`)
}

// Only the program makes the fact that a person approved: a call of a tool with the name of the
// approval, and its result, do not.
func TestFactsOfTheHost(t *testing.T) {
	program, mistakes := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`
version = 1
[tools]
"*" = { policy = { run = "unattended" } }
merge = {}
reviewed = {}
[[session]]
type = "require"
before = "merge"
approvals = ["reviewed"]
`)}}, policy.Options{})
	if program == nil {
		t.Fatal(mistakes)
	}
	d := newFixture(t, func(o *decide.Options) {
		store := mem.New()
		g, err := gate.New(program, gate.WithStore(store), gate.WithDenyMode(gate.DenyToolResult))
		if err != nil {
			t.Fatal(err)
		}
		o.Gate, o.Sessions = g, store
	})
	merge := func(turn, status string) {
		t.Helper()
		d.wants(d.do("seer", "POST", "/v1/calls", `{"tool":"merge","args":{},"session":"s","turn":"`+turn+`"}`), 200, `"status":"`+status+`"`)
	}
	id := d.wants(d.do("seer", "POST", "/v1/calls", `{"tool":"reviewed","args":{},"session":"s","turn":"1"}`), 200, `"allowed"`).get("id").(string)
	d.wants(d.do("seer", "POST", "/v1/calls/"+id+"/result", `{"data":"approved"}`), 200)
	merge("2", "denied")
	for _, body := range []string{`{}`, `{"approved":"reviewed","spoke":true}`, `{"approved":1}`, `{"approved":"reviewed","by":"ann"}`} {
		d.wants(d.do("host", "POST", "/v1/sessions/s/facts?principal=agent", body), 400)
	}
	merge("3", "denied")
	d.wants(d.do("host", "POST", "/v1/sessions/s/facts?principal=agent", `{"approved":"reviewed"}`), 204)
	merge("4", "allowed")
}
