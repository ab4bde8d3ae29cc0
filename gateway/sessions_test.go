package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/session"
)

// sessionOf sends a request that leads to one allowed call, and returns the session of the call.
func sessionOf(t *testing.T, in tongue, header map[string]string, more map[string]any, change func(*gateway.Options)) string {
	t.Helper()
	store := mem.New()
	k := newTalk(t, in, allowAll, func(o *gateway.Options) {
		storing(t, allowAll, store)(o)
		if change != nil {
			change(o)
		}
	})
	k.header, k.more = header, more
	k.expect(true, pastCall{"c1", "test", `{}`}, user("hello"))
	list, err := store.Sessions(context.Background(), "local", 10)
	if err != nil || len(list) != 1 {
		t.Fatalf("sessions %v %v", list, err)
	}
	return string(list[0].Owner.Session)
}

// Proves W51, S22: the sources of a session, one by one and combined.
func TestSessionSources(t *testing.T) {
	const uuid = "0f0e0d0c-1111-2222-3333-444455556666"
	chat, responses, anthropic := tongues()[0], tongues()[1], tongues()[2]
	claude := map[string]any{"metadata": map[string]any{"user_id": "user_1_account__session_" + uuid}}
	for _, c := range []struct {
		name   string
		in     tongue
		header map[string]string
		more   map[string]any
		want   string
	}{
		{"our header", chat, map[string]string{"X-Stopgate-Session": "s1"}, nil, "s1"},
		{"our header wins", anthropic, map[string]string{"X-Stopgate-Session": "s1", "X-Claude-Code-Session-Id": "c"}, claude, "s1"},
		{"our header is no id", chat, map[string]string{"X-Stopgate-Session": "a/b", "X-Session-Id": "x"}, nil, "client:x"},
		{"Claude Code", anthropic, map[string]string{"X-Claude-Code-Session-Id": "c1"}, nil, "claude-code:c1"},
		{"a sub-agent of Claude Code", anthropic, map[string]string{"X-Claude-Code-Session-Id": "c1", "X-Claude-Code-Agent-Id": "a1"}, nil, "claude-code:c1/a1"},
		{"metadata, a text", anthropic, nil, claude, "claude-code:" + uuid},
		{"metadata, JSON", anthropic, nil, map[string]any{"metadata": map[string]any{"user_id": `{"session_id":"` + uuid + `"}`}}, "claude-code:" + uuid},
		{"Codex", responses, map[string]string{"session_id": "x1", "User-Agent": "codex_cli_rs/1"}, nil, "codex:x1"},
		{"another client", chat, map[string]string{"session-id": "x1"}, nil, "client:x1"},
		{"conversation id in a header", chat, map[string]string{"conversation_id": "x1"}, nil, "client:x1"},
		{"thread", chat, map[string]string{"thread-id": "x1"}, nil, "client:x1"},
		{"conversation", responses, nil, map[string]any{"conversation": "conv_1"}, "openai:conv_1"},
		{"conversation object", responses, nil, map[string]any{"conversation": map[string]any{"id": "conv_2"}}, "openai:conv_2"},
		{"cache key of Codex", responses, map[string]string{"Originator": "codex_vscode"}, map[string]any{"prompt_cache_key": "k1"}, "codex:k1"},
		{"cache key of another client", chat, nil, map[string]any{"prompt_cache_key": "k1"}, "weak/"},
		{"metadata that is no session", anthropic, nil, map[string]any{"metadata": map[string]any{"user_id": "bob"}}, "weak/"},
		{"user", chat, nil, map[string]any{"user": "bob", "safety_identifier": "bob"}, "weak/"},
		{"an unknown response", responses, nil, map[string]any{"previous_response_id": "resp_0"}, "weak/"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := sessionOf(t, c.in, c.header, c.more, nil)
			if got != c.want && (c.want != "weak/" || !session.Weak("weak/") || !strings.HasPrefix(got, c.want)) {
				t.Errorf("session %q, want %q", got, c.want)
			}
		})
	}
	t.Run("settings", func(t *testing.T) {
		if got := sessionOf(t, chat, nil, map[string]any{"prompt_cache_key": "k1"}, func(o *gateway.Options) { o.Settings.CacheKeyIsSession = true }); got != "cache:k1" {
			t.Error(got)
		}
		header := map[string]string{"X-Claude-Code-Session-Id": "c1", "X-Claude-Code-Agent-Id": "a1"}
		if got := sessionOf(t, anthropic, header, nil, func(o *gateway.Options) { o.Settings.ShareSubagents = true }); got != "claude-code:c1" {
			t.Error(got)
		}
	})
}

// Proves W51: a guess depends on the dialect, the system text and the first message, and on nothing
// that changes within a conversation.
func TestGuess(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			base := sessionOf(t, in, nil, nil, nil)
			if again := sessionOf(t, in, nil, map[string]any{"temperature": 1}, nil); again != base {
				t.Errorf("%s and %s", base, again)
			}
			member := map[string]string{"chat": "", "responses": "instructions", "anthropic": "system"}[in.name]
			if member == "" {
				return
			}
			if other := sessionOf(t, in, nil, map[string]any{member: "be brief"}, nil); other == base {
				t.Error("another system text gives the same session")
			}
		})
	}
}

// Proves W39, W50: requests outside a conversation do not change it: their history is not read, and
// their calls belong to no session.
func TestPreflight(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			store := mem.New()
			k := newTalk(t, in, guarded, storing(t, guarded, store))
			k.header = map[string]string{"X-Stopgate-Session": "s"}
			k.expect(true, pastCall{"t1", "test", `{}`}, user("go"))
			history := []historyEntry{user("go"), call("t1", "test", `{}`), result("t1", "PASS")}
			one := map[string]string{"chat": "max_tokens", "responses": "max_output_tokens", "anthropic": "max_tokens", "gemini": "generationConfig"}[in.name]
			choice, none, limit := "tool_choice", any("none"), any(1)
			switch in.name {
			case "anthropic":
				none = map[string]any{"type": "none"}
			case "gemini":
				choice, none = "toolConfig", map[string]any{"functionCallingConfig": map[string]any{"mode": "NONE"}}
				limit = map[string]any{"maxOutputTokens": 1}
			}
			owner := session.Owner{Principal: "local", Session: "s"}
			before, _ := store.Facts(context.Background(), owner, 0, 100)
			for _, more := range []map[string]any{{"tools": []any{}}, {choice: none}, {one: limit}} {
				k.more = more
				k.converse([]pastCall{{"x1", "pay", `{}`}}, history...)
			}
			if after, _ := store.Facts(context.Background(), owner, 0, 100); len(after) != len(before) {
				t.Errorf("%d facts became %d", len(before), len(after))
			}
			k.more = nil
			k.expect(true, pastCall{"d1", "deploy", `{}`}, history...)
		})
	}
}

const withholding = allowAll + `
[tools.read]
success = { pattern = "^OK" }
[tools.read.policy]
run = "unattended"
result = [{ arg = "/path", prefix = "secrets/", mode = "skip" }, { mode = "unattended" }]
`

// Proves D25-42, K32, S11: a result that the rules withhold does not reach the model, in any later
// request with the same bytes, known to the store or not; all others are forwarded byte for byte.
func TestWithheldResults(t *testing.T) {
	for _, in := range tongues() {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprint(in.name, " known ", known), func(t *testing.T) {
				k := newTalk(t, in, withholding, storing(t, withholding, mem.New()))
				k.header = map[string]string{"X-Stopgate-Session": "s"}
				if known {
					k.expect(true, pastCall{"r1", "read", `{"path":"secrets/key"}`}, user("go"))
				}
				history := []historyEntry{user("go"), call("r1", "read", `{"path":"secrets/key"}`), result("r1", "OK hunter2"), call("r2", "read", `{"path":"src/a"}`), result("r2", "OK open")}
				k.converse(nil, history...)
				first := k.model.lastRequest()
				mustLack(t, first, "hunter2")
				mustContain(t, first, "result_withheld", "OK open")
				k.converse(nil, history...)
				if again := k.model.lastRequest(); again != first {
					t.Errorf("the second time:\n%s\n%s", first, again)
				}
				k.more = map[string]any{"tools": []any{}} // a title, a summary
				k.converse(nil, history...)
				mustLack(t, k.model.lastRequest(), "hunter2")
				k.more = nil
				open := []historyEntry{user("go"), call("r2", "read", `{"path":"src/a"}`), result("r2", "OK open")}
				k.converse(nil, open...)
				if want := mustJSON(k.request(true, k.tools, open)); k.model.lastRequest() != want {
					t.Errorf("changed:\n%s\n%s", want, k.model.lastRequest())
				}
			})
		}
	}
}

// Proves W47, W50, W51: in a conversation that is continued by ids of responses the session, the
// calls and the denials are known, also after a restart.
func TestContinuedByID(t *testing.T) {
	in := tongues()[1]
	path := filepath.Join(t.TempDir(), "state.db")
	m := &model{}
	open := func() *talk {
		store, err := sqlite.Open(context.Background(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		return &talk{rig: newRig(t, guarded, m, func(o *gateway.Options) {
			o.Gate, o.ResponseLog = newGate(t, guarded, store.Recorder(), gate.WithStore(store)), store
		}), tongue: in, model: m, stream: true, tools: []string{"test", "deploy"}}
	}
	for _, restart := range []bool{false, true} {
		k := open()
		next := func(id string) {
			if restart {
				k = open()
			}
			k.more = map[string]any{"previous_response_id": id}
		}
		last := func() string { return fmt.Sprint("answer_", m.requests()) }
		k.expect(false, pastCall{"d1", "deploy", `{}`}, user("go"))
		next(last())
		k.expect(true, pastCall{"t1", "test", `{}`}, user("then test it"))
		mustContain(t, m.lastRequest(), `{"type":"function_call_output","call_id":"d1"`, `{\"status\":\"denied\",\"code\":\"prerequisite_missing\"`)
		next(last())
		k.expect(true, pastCall{"d2", "deploy", `{}`}, result("t1", "PASS"))
		mustLack(t, m.lastRequest(), `"call_id":"d1"`)
		next(last())
		k.converse(nil, result("d2", "done"))
		next(last())
		k.expect(true, pastCall{"d3", "deploy", `{}`}, user("again"))

		k.more = map[string]any{"previous_response_id": "answer_0"} // of another session
		k.expect(false, pastCall{"d4", "deploy", `{}`}, result("t1", "PASS"))
	}
}

// Proves S27, S28: a message of the user that the history repeats counts once.
func TestSpokenOnce(t *testing.T) {
	for _, in := range tongues() {
		t.Run(in.name, func(t *testing.T) {
			store := mem.New()
			k := newTalk(t, in, guarded, storing(t, guarded, store))
			k.header = map[string]string{"X-Stopgate-Session": "s"}
			history := []historyEntry{user("go")}
			k.expect(true, pastCall{"t1", "test", `{}`}, history...)
			history = append(history, call("t1", "test", `{}`), result("t1", "PASS"))
			k.converse(nil, history...)
			k.converse(nil, history...)
			history = append(history, user("go"))
			k.converse(nil, history...)
			facts, _ := store.Facts(context.Background(), session.Owner{Principal: "local", Session: "s"}, 0, 100)
			n := 0
			for _, f := range facts {
				if f.Kind == session.Spoke {
					n++
				}
			}
			if n != 2 {
				text, _ := json.Marshal(facts)
				t.Errorf("the user spoke %d times: %s", n, text)
			}
		})
	}
}
