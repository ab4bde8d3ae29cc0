package external_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/internal/external"
)

// sink is the output of a policy in a test.
type sink struct {
	events.Stream
	texts    []string
	calls    []string
	finished bool
}

func (s *sink) SendText(text string, _ bool) error {
	s.texts = append(s.texts, text)
	return nil
}

func (s *sink) Send(c events.Chunk) error {
	s.calls = append(s.calls, c.Call.Arguments)
	return nil
}

func (s *sink) IsOutputFinished() bool { return s.finished }
func (s *sink) MarkOutputFinished()    { s.finished = true }

// hooked returns the event policy of a service, and the rows that it writes.
func hooked(t *testing.T, s *service, hooks ...string) (events.Policy, *[]stopgate.Record) {
	t.Helper()
	rows := new([]stopgate.Record)
	p, err := external.New(external.Options{}).Events(&gate.ExternalTable{
		Name: "ext", URL: "unix://" + s.Socket, Timeout: 500, Hooks: hooks, Governs: func(stopgate.ToolName) bool { return true },
	}, func(_ context.Context, r stopgate.Record) { *rows = append(*rows, r) })
	if err != nil {
		t.Fatal(err)
	}
	return p, rows
}

// Proves FM15, FM18: after every failure of a service nothing of the part is sent, no call is
// forwarded, and the row of the exchange has the failure.
func TestFaultsOfEvents(t *testing.T) {
	for _, c := range faults {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, rows := hooked(t, faulty(t, func(w http.ResponseWriter, id string) { c.serve(w, id) }), "content_delta", "tool_call_complete", "request")
			x, out := &events.Exchange{ID: "x", Scratchpad: map[string]any{}}, new(sink)
			if p.(events.OnContentDelta).OnContentDelta(t.Context(), x, out, &events.Content{}, "text") == nil {
				t.Error("no error of content_delta")
			}
			if p.(events.OnToolCallComplete).OnToolCallComplete(t.Context(), x, out, &events.Call{Name: "rm", Arguments: "{}"}) == nil {
				t.Error("no error of tool_call_complete")
			}
			if p.(events.OnRequest).OnRequest(t.Context(), x, events.NewRequest("openai-chat", []byte(`{}`))) == nil {
				t.Error("no error of request")
			}
			if len(out.texts)+len(out.calls) > 0 {
				t.Errorf("sent %q %q", out.texts, out.calls)
			}
			if len(*rows) != 1 || len((*rows)[0].External) != 3 || (*rows)[0].External[0].Fault == "" {
				t.Errorf("rows %+v", *rows)
			}
		})
	}
}

// Proves V3-02, V3-05, V3-11: the scratchpad goes to the service and back, its output replaces a
// part, and members that a hook does not have are a failure.
func TestEvents(t *testing.T) {
	s := serve(t, func(q map[string]any) map[string]any {
		n, _ := q["scratch"].(map[string]any)["n"].(float64)
		out := map[string]any{"scratch": map[string]any{"n": n + 1}}
		switch q["ask"] {
		case "content_delta":
			out["output"] = []any{map[string]string{"text": strings.ToUpper(q["delta"].(string))}}
		case "tool_call_complete":
			out["output"] = []any{map[string]any{"call": true, "arguments": `{"safe":true}`}}
			out["finish"] = n >= 1
		case "request":
			out["reject"] = map[string]any{"status": 429, "message": "Later."}
		case "content_complete":
			out["reject"] = map[string]any{"message": "no"}
		}
		return out
	})
	p, rows := hooked(t, s, "content_delta", "tool_call_complete", "request", "content_complete")
	x, out := &events.Exchange{ID: "x", Scratchpad: map[string]any{}}, new(sink)
	if err := p.(events.OnContentDelta).OnContentDelta(t.Context(), x, out, &events.Content{}, "text"); err != nil || out.texts[0] != "TEXT" {
		t.Errorf("%v %q", err, out.texts)
	}
	if err := p.(events.OnToolCallComplete).OnToolCallComplete(t.Context(), x, out, &events.Call{Name: "rm", Arguments: "{}"}); err != nil || out.calls[0] != `{"safe":true}` || !out.finished {
		t.Errorf("%v %q %v", err, out.calls, out.finished)
	}
	if p.(events.OnContentComplete).OnContentComplete(t.Context(), x, out, &events.Content{}) == nil {
		t.Error("content_complete has no member reject")
	}
	err := p.(events.OnRequest).OnRequest(t.Context(), x, events.NewRequest("openai-chat", []byte(`{}`)))
	if r, ok := err.(*events.Rejection); !ok || r.StatusCode() != 429 || r.Message != "Later." {
		t.Error(err)
	}
	if err := p.(events.OnStreamComplete).OnStreamComplete(t.Context(), x); err != nil || len(*rows) != 1 || time.Since((*rows)[0].External[0].Time) > time.Minute {
		t.Errorf("%v %+v", err, *rows)
	}
	selective := p.(interface{ HasHook(string) bool })
	for hook, want := range map[string]bool{"OnContentDelta": true, "OnStreamStart": false, "OnStreamComplete": true, "OnFinishReason": false} {
		if selective.HasHook(hook) != want {
			t.Errorf("%s: want %v", hook, want)
		}
	}
}
