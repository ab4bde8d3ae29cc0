package history_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/gateway/history"
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
	"github.com/stopgate/stopgate/session"
)

// Proves W51, S22: the sources of a session id are used in their order. A request without any
// of them has a guessed session, or one of its own.
func TestFindUsesSourcesInOrder(t *testing.T) {
	const uuid = "0b5c0c5e-4b3c-4f1e-9a33-2f6a1f6c7d10"
	turn := func(h provider.Hints) *provider.Request { return &provider.Request{Conversational: true, Hints: h} }
	for _, c := range []struct {
		name    string
		req     *provider.Request
		header  map[string]string
		session string // for a guess: its prefix
		source  string
		guessed bool
	}{
		{"the gateway's own header comes first", turn(provider.Hints{Conversation: "c"}), map[string]string{"X-Stopgate-Session": "mine", "X-Session-Id": "x", "X-Claude-Code-Session-Id": "cc"}, "mine", "header", false},
		{"a header with an invalid name", turn(provider.Hints{}), map[string]string{"X-Stopgate-Session": "a b"}, "weak", "none", true},
		{"Claude Code and its sub-agent", turn(provider.Hints{}), map[string]string{"X-Claude-Code-Session-Id": "cc", "X-Claude-Code-Agent-Id": "a1"}, "claude-code:cc/a1", "claude-code", false},
		{"metadata with a session", turn(provider.Hints{UserID: "user_x_account__session_" + uuid}), nil, "claude-code:" + uuid, "claude-code", false},
		{"metadata as JSON", turn(provider.Hints{UserID: `{"session_id":"` + uuid + `"}`}), nil, "claude-code:" + uuid, "claude-code", false},
		{"metadata of another form", turn(provider.Hints{UserID: "ann"}), nil, "weak", "none", true},
		{"a client's header", turn(provider.Hints{Conversation: "c"}), map[string]string{"Thread-Id": "t"}, "client:t", "client", false},
		{"Codex", turn(provider.Hints{}), map[string]string{"Session_id": "s", "Originator": "codex_cli_rs"}, "codex:s", "client", false},
		{"a conversation", turn(provider.Hints{Conversation: "conv_1", CacheKey: "k"}), nil, "openai:conv_1", "conversation", false},
		{"a known response", turn(provider.Hints{PreviousResponse: "resp_1", CacheKey: "k"}), nil, "s1", "response", false},
		{"an unknown response", turn(provider.Hints{PreviousResponse: "resp_2", OpeningHash: "o"}), nil, "weak", "none", true},
		{"a cache key of Codex", turn(provider.Hints{CacheKey: "k"}), map[string]string{"User-Agent": "codex_cli_rs/1"}, "codex:k", "cache_key", false},
		{"a cache key of another client", turn(provider.Hints{CacheKey: "k", OpeningHash: "o"}), nil, "weak", "guess", true},
		{"a request that is not a turn", &provider.Request{Hints: provider.Hints{OpeningHash: "o"}}, map[string]string{"X-Stopgate-Session": "mine"}, "weak", "none", true},
	} {
		log := responselog.New(nil)
		if err := log.Save(t.Context(), "p", "resp_1", responselog.Response{Session: "s1"}, nil); err != nil {
			t.Fatal(err)
		}
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		o := history.Options{Log: log, Dialect: openairesponses.Dialect{}, Principal: "p", Upstream: "u"}
		got := history.Find(t.Context(), c.req, h, o)
		if got.Source != c.source || got.Guessed != c.guessed || !strings.HasPrefix(string(got.Session), c.session) || !c.guessed && string(got.Session) != c.session {
			t.Errorf("%s: session %s of %s, guessed %v", c.name, got.Session, got.Source, got.Guessed)
		}
		again := history.Find(t.Context(), c.req, h, o)
		if same := again.Session == got.Session; same != (c.source != "none") {
			t.Errorf("%s: the same request again has the same session: %v", c.name, same)
		}
		o.Principal = "q"
		if other := history.Find(t.Context(), c.req, h, o); c.guessed && other.Session == got.Session {
			t.Errorf("%s: two principals share a guess", c.name)
		}
	}
}

// codec implements provider.CallReplacer with fixed values.
type codec struct {
	id     string
	denied []provider.ReplacedCall
}

func (c codec) Replaced() (string, []provider.ReplacedCall) { return c.id, c.denied }

// failing is a store whose operations fail.
type failing struct{}

func (failing) PutLogEntries(context.Context, stopgate.Principal, map[string][]byte) error {
	return errors.New("down")
}

func (failing) LogEntry(context.Context, stopgate.Principal, string) ([]byte, error) {
	return nil, errors.New("down")
}

// Proves S6, W47: a client that continues a round of a response continues its end. A response is
// saved once. Errors of the store are reported, and then the response is unknown.
func TestSaveAndContinue(t *testing.T) {
	for _, down := range []bool{false, true} {
		var store responselog.Store
		if down {
			store = failing{}
		}
		failures := 0
		o := history.Options{Log: responselog.New(store), Dialect: openairesponses.Dialect{}, Principal: "p", Failed: func(string, error) { failures++ }}
		req := &provider.Request{Conversational: true, Hints: provider.Hints{OpeningHash: "o"}}
		c := history.Find(t.Context(), req, http.Header{}, o)
		c.SaveRound(t.Context(), req, codec{id: "resp_1"})
		calls := func() []responselog.Call { return []responselog.Call{{ID: "c1", Tool: "a", Proposal: "p1"}} }
		c.Save(t.Context(), req, codec{"resp_2", []provider.ReplacedCall{{Message: "msg_stopgate_1", Call: "c2", Output: []byte(`{"type":"function_call_output"}`)}}}, calls, nil)
		c.Save(t.Context(), req, codec{id: "resp_3"}, calls, nil)
		next := &provider.Request{Conversational: true, Hints: provider.Hints{PreviousResponse: "resp_1"}}
		n := history.Find(t.Context(), next, http.Header{}, o)
		body := string(n.Restore(t.Context(), []byte(`{"previous_response_id":"resp_1","input":[]}`)))
		if down {
			if failures < 3 || n.Session == c.Session || strings.Contains(body, "resp_2") {
				t.Errorf("%d failures, session %s, %s", failures, n.Session, body)
			}
			continue
		}
		if failures > 0 || n.Session != c.Session || !session.Weak(n.Session) || body != `{"previous_response_id":"resp_2","input":[{"type":"function_call_output"}]}` {
			t.Errorf("%d failures, session %s instead of %s, %s", failures, n.Session, c.Session, body)
		}
	}
	o := history.Options{Log: responselog.New(nil), Dialect: openaichat.Dialect{}, Principal: "p"}
	c := history.Find(t.Context(), &provider.Request{}, http.Header{}, o)
	if got := string(c.Restore(t.Context(), []byte("x"))); got != "x" {
		t.Errorf("a dialect without a response log: %s", got)
	}
}
