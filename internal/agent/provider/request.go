package provider

import (
	"bytes"
	"strconv"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/jsonstream"
)

// text is a buffer for JSON.
type text []byte

func (t *text) raw(s string)   { *t = append(*t, s...) }
func (t *text) quote(s string) { *t = jsonstream.AppendQuote(*t, s) }

// separate writes a comma between the elements of a list.
func (t *text) separate(first *bool) {
	if !*first {
		t.raw(",")
	}
	*first = false
}

// body returns the request in the format of the API.
func (e *Endpoint) body(r *Request) []byte {
	var t text
	t.raw(`{"model":`)
	t.quote(e.Model)
	t.raw(`,"stream":true`)
	switch e.API {
	case Responses:
		t.raw(`,"store":false,"include":["reasoning.encrypted_content"],"instructions":`)
		t.quote(r.System)
		t.raw(`,"input":[`)
		t.input(r.Messages)
	case Messages:
		t.raw(`,"max_tokens":` + strconv.Itoa(maxTokens) + `,"system":`)
		t.quote(r.System)
		t.raw(`,"messages":[`)
		t.blocks(r.Messages)
	default:
		t.raw(`,"stream_options":{"include_usage":true},"messages":[{"role":"system","content":`)
		t.quote(r.System)
		t.raw("}")
		t.chat(r.Messages)
	}
	t.raw("]")
	t.tools(e.API, r.Tools)
	t.raw("}")
	return t
}

// chat appends messages of Chat Completions.
func (t *text) chat(list []conversation.Message) {
	for _, m := range list {
		switch m.Role {
		case conversation.FromUser:
			t.raw(`,{"role":"user","content":`)
			t.quote(m.Text)
			t.raw("}")
		case conversation.FromModel:
			content, calls := "", ""
			for _, p := range m.Parts {
				switch p.Kind {
				case conversation.Text:
					content += p.Text
				case conversation.Call:
					var c text
					c.raw(`{"id":`)
					c.quote(p.ID)
					c.raw(`,"type":"function","function":{"name":`)
					c.quote(alias(p.Tool))
					c.raw(`,"arguments":`)
					c.quote(p.Args)
					c.raw("}}")
					if calls != "" {
						calls += ","
					}
					calls += string(c)
				}
			}
			t.raw(`,{"role":"assistant","content":`)
			if content == "" {
				t.raw("null")
			} else {
				t.quote(content)
			}
			if calls != "" {
				t.raw(`,"tool_calls":[` + calls + `]`)
			}
			t.raw("}")
		case conversation.FromTools:
			for _, r := range m.Results {
				t.raw(`,{"role":"tool","tool_call_id":`)
				t.quote(r.ID)
				t.raw(`,"content":`)
				t.quote(r.Text)
				t.raw("}")
			}
		}
	}
}

// input appends items of Responses.
func (t *text) input(list []conversation.Message) {
	first := true
	for _, m := range list {
		if m.Role == conversation.FromUser {
			t.separate(&first)
			t.raw(`{"type":"message","role":"user","content":[{"type":"input_text","text":`)
			t.quote(m.Text)
			t.raw("}]}")
		}
		for _, p := range m.Parts {
			switch {
			case p.Kind == conversation.Text:
				t.separate(&first)
				t.raw(`{"type":"message","role":"assistant","content":[{"type":"output_text","annotations":[],"text":`)
				t.quote(p.Text)
				t.raw("}]}")
			case p.Kind == conversation.Call:
				t.separate(&first)
				t.raw(`{"type":"function_call","call_id":`)
				t.quote(p.ID)
				t.raw(`,"name":`)
				t.quote(alias(p.Tool))
				t.raw(`,"arguments":`)
				t.quote(p.Args)
				t.raw("}")
			case p.API == string(Responses):
				t.separate(&first)
				t.raw(p.Raw)
			}
		}
		for _, r := range m.Results {
			t.separate(&first)
			t.raw(`{"type":"function_call_output","call_id":`)
			t.quote(r.ID)
			t.raw(`,"output":`)
			t.quote(r.Text)
			t.raw("}")
		}
	}
}

// blocks appends messages of the Messages API.
func (t *text) blocks(list []conversation.Message) {
	first, block := true, true
	for i, m := range list {
		// Results and the person's message after them are one message of the user.
		if follows := i > 0 && m.Role == conversation.FromUser && list[i-1].Role == conversation.FromTools; !follows {
			t.separate(&first)
			block = true
			role := "user"
			if m.Role == conversation.FromModel {
				role = "assistant"
			}
			t.raw(`{"role":"` + role + `","content":[`)
		}
		if m.Role == conversation.FromUser {
			t.separate(&block)
			t.raw(`{"type":"text","text":`)
			t.quote(m.Text)
			t.raw("}")
		}
		for _, p := range m.Parts {
			switch {
			case p.Kind == conversation.Text:
				t.separate(&block)
				t.raw(`{"type":"text","text":`)
				t.quote(p.Text)
				t.raw("}")
			case p.Kind == conversation.Call:
				t.separate(&block)
				t.raw(`{"type":"tool_use","id":`)
				t.quote(p.ID)
				t.raw(`,"name":`)
				t.quote(alias(p.Tool))
				t.raw(`,"input":` + p.Args + "}")
			case p.API == string(Messages):
				t.separate(&block)
				t.raw(p.Raw)
			}
		}
		for _, r := range m.Results {
			t.separate(&block)
			t.raw(`{"type":"tool_result","tool_use_id":`)
			t.quote(r.ID)
			t.raw(`,"is_error":` + strconv.FormatBool(r.Failed) + `,"content":`)
			t.quote(r.Text)
			t.raw("}")
		}
		if m.Role != conversation.FromTools || i == len(list)-1 || list[i+1].Role != conversation.FromUser {
			t.raw("]}")
		}
	}
}

// tools appends the declarations of the tools.
func (t *text) tools(api API, list []stopgate.ToolDefinition) {
	if len(list) == 0 {
		return
	}
	t.raw(`,"tools":[`)
	first := true
	for _, def := range list {
		t.separate(&first)
		switch api {
		case Messages:
			t.raw(`{"name":`)
		case Responses:
			t.raw(`{"type":"function","strict":false,"name":`)
		default:
			t.raw(`{"type":"function","function":{"name":`)
		}
		t.quote(alias(string(def.Name)))
		t.raw(`,"description":`)
		t.quote(def.Description)
		if api == Messages {
			t.raw(`,"input_schema":`)
		} else {
			t.raw(`,"parameters":`)
		}
		t.raw(plain(def.Schema))
		t.raw("}")
		if api == Chat {
			t.raw("}")
		}
	}
	t.raw("]")
}

// plain returns a schema for models: that of a server unchanged, others without the annotations of
// stopgate.
func plain(source []byte) string {
	if v, err := jsonstream.Parse(source, jsonstream.Options{ObjectRoot: true}); err == nil && !bytes.Contains(source, []byte("x-stopgate-")) {
		return string(v.Raw())
	}
	s, _, err := schema.ParseJSON(source)
	if err != nil || s.Root == nil {
		return `{"type":"object"}`
	}
	return string(s.ToJSONSchema())
}
