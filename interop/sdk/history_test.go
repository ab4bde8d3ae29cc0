package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// strictHistory says what a provider would refuse in the history of a request:
// calls without results, results without calls, messages without content,
// items that the provider never issued.
//
// said are the calls of the response that the request continues by its id.
func strictHistory(api string, body []byte, said []toolCall) error {
	switch api {
	case "chat":
		return strictChat(body)
	case "responses":
		return strictResponses(body, said)
	case "gemini":
		return strictGemini(body)
	default:
		return strictMessages(body)
	}
}

func strictChat(body []byte) error {
	var request struct {
		Messages []struct {
			Role      string `json:"role"`
			Content   any    `json:"content"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
			CallID string `json:"tool_call_id"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	var open []string
	for i, m := range request.Messages {
		if m.Role == "tool" {
			k := slices.Index(open, m.CallID)
			if k < 0 {
				return fmt.Errorf("message %d is the result of a call that nobody made: %q", i, m.CallID)
			}
			open = slices.Delete(open, k, k+1)
			continue
		}
		if len(open) > 0 {
			return fmt.Errorf("message %d comes before the results of %q", i, open)
		}
		if m.Role == "assistant" && len(m.ToolCalls) == 0 && (m.Content == nil || m.Content == "") {
			return fmt.Errorf("message %d of the assistant is empty", i)
		}
		for _, c := range m.ToolCalls {
			if !json.Valid([]byte(c.Function.Arguments)) {
				return fmt.Errorf("the arguments of %q are no JSON", c.ID)
			}
			open = append(open, c.ID)
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no results of %q", open)
	}
	return nil
}

func strictMessages(body []byte) error {
	var request struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	var open []string
	role := "assistant"
	for i, m := range request.Messages {
		if m.Role == role {
			return fmt.Errorf("message %d: two messages of the %s", i, role)
		}
		role = m.Role
		var blocks []struct{ Type, Text, ID, ToolUseID string }
		if text := ""; json.Unmarshal(m.Content, &text) == nil {
			if text == "" {
				return fmt.Errorf("message %d is empty", i)
			}
		} else if err := json.Unmarshal(rename(m.Content), &blocks); err != nil || len(blocks) == 0 {
			return fmt.Errorf("message %d has no blocks: %v", i, err)
		}
		var answered []string
		called := false
		said := false
		for _, b := range blocks {
			thinks := b.Type == "thinking" || b.Type == "redacted_thinking"
			if thinks && said {
				return fmt.Errorf("message %d has thinking that is not where it was", i)
			}
			said = said || !thinks
			switch b.Type {
			case "tool_result":
				answered = append(answered, b.ToolUseID)
			case "tool_use":
				called = true
			case "text":
				if b.Text == "" {
					return fmt.Errorf("message %d has an empty text", i)
				}
				if called && m.Role == "assistant" {
					return fmt.Errorf("message %d has text behind a call", i)
				}
			}
		}
		if !slices.Equal(answered, open) {
			return fmt.Errorf("message %d has the results %q, the calls were %q", i, answered, open)
		}
		open = nil
		for _, b := range blocks {
			if b.Type == "tool_use" {
				open = append(open, b.ID)
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no results of %q", open)
	}
	return nil
}

// rename gives tool_use_id a name that matches the field ToolUseID.
func rename(blocks []byte) []byte {
	var list []map[string]any
	if json.Unmarshal(blocks, &list) != nil {
		return nil
	}
	for _, b := range list {
		b["tooluseid"] = b["tool_use_id"]
	}
	out, _ := json.Marshal(list)
	return out
}

func strictResponses(body []byte, said []toolCall) error {
	var request struct {
		Input []json.RawMessage `json:"input"`
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	var open []string
	for _, c := range said {
		open = append(open, c.ID)
	}
	for i, raw := range request.Input {
		var item struct {
			Type   string `json:"type"`
			ID     string `json:"id"`
			CallID string `json:"call_id"`
		}
		if err := json.Unmarshal(raw, &item); err != nil {
			return err
		}
		switch item.Type {
		case "function_call":
			open = append(open, item.CallID)
		case "function_call_output":
			k := slices.Index(open, item.CallID)
			if k < 0 {
				return fmt.Errorf("item %d is the result of a call that nobody made: %q", i, item.CallID)
			}
			open = slices.Delete(open, k, k+1)
		case "message":
			if item.ID != "" && !strings.HasPrefix(item.ID, "msg_1") {
				return fmt.Errorf("item %d has an id that was never issued: %q", i, item.ID)
			}
		}
	}
	if len(open) > 0 {
		return errors.New(fmt.Sprint("no results of ", open))
	}
	return nil
}
