package chat

import (
	"encoding/json"
	"testing"

	"github.com/stopgate/stopgate/internal/agent/provider"
)

// message is one message of a request, in the forms of two APIs; item is one of the third.
type message struct {
	Role      string
	Content   any
	ToolCalls []struct {
		ID       string
		Function struct{ Name, Arguments string }
	} `json:"tool_calls"`
	ToolCallID string `json:"tool_call_id"`
}

type item struct {
	Type, Role, Arguments string
	CallID                string `json:"call_id"`
}

// Legal checks the history of a request: every call is answered once, directly behind
// its message, and nothing is answered that was not called.
func Legal(t testing.TB, api provider.API, body string) {
	t.Helper()
	var req struct {
		Messages []message
		Input    []item
	}
	if err := json.Unmarshal([]byte(body), &req); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	h := &history{t: t, body: body, open: map[string]bool{}}
	last := ""
	for i, m := range req.Messages {
		if api == provider.Messages {
			if m.Role == last || i == 0 && m.Role != "user" {
				t.Errorf("%s behind %q", m.Role, last)
			}
			h.blocks(m)
		} else {
			h.message(m)
		}
		last = m.Role
	}
	for _, i := range req.Input {
		h.item(i)
	}
}

// history is what a request has said so far.
type history struct {
	t    testing.TB
	body string
	open map[string]bool // calls without a result
}

func (h *history) call(id, args string) {
	h.t.Helper()
	var object map[string]any
	if id == "" || h.open[id] || json.Unmarshal([]byte(args), &object) != nil {
		h.t.Errorf("call %q with %s", id, args)
	}
	h.open[id] = true
}

func (h *history) answer(id string) {
	h.t.Helper()
	if !h.open[id] {
		h.t.Errorf("a result for %q, which was not called", id)
	}
	delete(h.open, id)
}

// settled checks that no call waits for its result.
func (h *history) settled(where string) {
	h.t.Helper()
	if len(h.open) > 0 {
		h.t.Errorf("before %s the calls %v have no result: %s", where, h.open, h.body)
	}
}

// message takes a message of Chat Completions.
func (h *history) message(m message) {
	h.t.Helper()
	if m.Role == "tool" {
		h.answer(m.ToolCallID)
	} else {
		h.settled(m.Role)
	}
	for _, c := range m.ToolCalls {
		h.call(c.ID, c.Function.Arguments)
	}
}

// blocks takes a message of Anthropic's API.
func (h *history) blocks(m message) {
	h.t.Helper()
	blocks, _ := m.Content.([]any)
	if len(blocks) == 0 {
		h.t.Errorf("a message without content: %s", h.body)
	}
	for _, b := range blocks {
		block, _ := b.(map[string]any)
		switch block["type"] {
		case "tool_use":
			input, _ := json.Marshal(block["input"])
			h.call(block["id"].(string), string(input))
		case "tool_result":
			h.answer(block["tool_use_id"].(string))
		case "text":
			if block["text"] == "" {
				h.t.Error("an empty text")
			}
		}
	}
	if m.Role == "user" {
		h.settled("the next answer")
	}
}

// item takes an item of the Responses API.
func (h *history) item(i item) {
	h.t.Helper()
	switch i.Type {
	case "function_call":
		h.call(i.CallID, i.Arguments)
	case "function_call_output":
		h.answer(i.CallID)
	default:
		h.settled(i.Type)
	}
}
