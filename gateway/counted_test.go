package gateway_test

import (
	"context"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/session"
)

// sideDoors are the other routes of a dialect that take a conversation.
var sideDoors = map[string][]string{
	"responses": {"/v1/responses/input_tokens", "/v1/responses/compact"},
	"anthropic": {"/v1/messages/count_tokens"},
	"gemini":    {"/v1beta/models/m:countTokens"},
}

// Proves K32, S11, F16: a request that only counts or shortens a conversation does not send the
// provider what a turn may not: withheld results, and content that event policies remove from
// requests. It changes no session, and is parsed as strictly.
func TestSideDoors(t *testing.T) {
	for _, in := range tongues() {
		for _, path := range sideDoors[in.name] {
			t.Run(path, func(t *testing.T) {
				store := mem.New()
				k := newTalk(t, in, withholding, storing(t, withholding, store))
				k.header = map[string]string{"X-Stopgate-Session": "s"}
				k.expect(true, pastCall{"r1", "read", `{"path":"secrets/key"}`}, user("go"))
				owner := session.Owner{Principal: "local", Session: "s"}
				before, _ := store.Facts(context.Background(), owner, 0, 100)
				var heard string
				door := func(body string) answer {
					heard = ""
					return k.send("POST", path, body, k.header)
				}
				k.model.door = func(body string) { heard = body }
				history := []historyEntry{user("go"), call("r1", "read", `{"path":"secrets/key"}`), result("r1", "OK hunter2"), call("r2", "read", `{"path":"src/a"}`), result("r2", "OK open")}
				if a := door(mustJSON(in.request(false, k.tools, history))); a.status != 200 {
					t.Fatal(a.status, a.body)
				}
				mustContain(t, heard, "result_withheld", "OK open")
				mustLack(t, heard, "hunter2")
				if after, _ := store.Facts(context.Background(), owner, 0, 100); len(after) != len(before) {
					t.Errorf("%d facts became %d", len(before), len(after))
				}
				open := mustJSON(in.request(false, k.tools, history[3:]))
				if door(open); heard != open {
					t.Errorf("changed:\n%s\n%s", open, heard)
				}
				if a := door(`{"model":"m","messages":[],"messages":[{"role":"user","content":"hunter2"}]}`); a.status != 400 || heard != "" {
					t.Errorf("status %d, the provider heard %q", a.status, heard)
				}
			})
		}
	}
}

// Proves V3-11, F16: event policies also apply to requests that only count.
func TestSideDoorPolicies(t *testing.T) {
	redact, err := events.Redact(events.Redaction{Name: "keys", Patterns: []string{"sk-[a-z]+"}, Request: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, in := range tongues() {
		for _, path := range sideDoors[in.name] {
			k := newTalk(t, in, allowAll, with(redact))
			var heard string
			k.model.door = func(body string) { heard = body }
			k.send("POST", path, mustJSON(in.request(false, k.tools, []historyEntry{user("the key is sk-abc")})), nil)
			mustContain(t, heard, "the key is")
			mustLack(t, heard, "sk-abc")
		}
	}
	refusing := onRequest(func(*events.Exchange, *events.Request) error { return &events.Rejection{Status: 403, Message: "no"} })
	k := newTalk(t, tongues()[2], allowAll, with(refusing))
	if a := k.send("POST", "/v1/messages/count_tokens", mustJSON(k.request(false, k.tools, []historyEntry{user("x")})), nil); a.status != 403 {
		t.Error(a.status, a.body)
	}
}

// Proves W47: a count of a conversation that is continued by id uses the provider's history.
func TestSideDoorRestores(t *testing.T) {
	k := newTalk(t, tongues()[1], denying("a"), nil)
	k.tools = []string{"a"}
	k.converse([]pastCall{{"x1", "a", `{}`}}, user("go"))
	var heard string
	k.model.door = func(body string) { heard = body }
	k.send("POST", "/v1/responses/input_tokens", `{"model":"m","previous_response_id":"answer_1","input":"and now?"}`, nil)
	mustContain(t, heard, `{"type":"function_call_output","call_id":"x1"`)
}
