package openaichat_test

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// tool is a call as a client assembles it.
type tool struct {
	id, name, args string
	kind           string // function, custom, legacy
}

// answer is one choice as a client assembles it.
type answer struct {
	content string
	tools   []tool
	finish  []string
}

// read is a client of the dialect, written independently of the codec. The error is about the form
// of the stream; strict adds the requirements on the gate's output.
func read(stream string, strict bool) (map[int]*answer, error) {
	if strict && strings.Contains(strings.ReplaceAll(stream, "\r\n", ""), "\r") {
		return nil, fmt.Errorf("a lone CR")
	}
	answers := map[int]*answer{}
	index := map[[2]int]int{} // (choice, index) to position
	over := ""
	for _, block := range strings.Split(strings.ReplaceAll(stream, "\r\n", "\n"), "\n\n") {
		var data []string
		for _, line := range strings.Split(block, "\n") {
			if v, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(v, " "))
			}
		}
		if data == nil {
			continue
		}
		text := strings.Join(data, "\n")
		if strict && over == "[DONE]" {
			return nil, fmt.Errorf("behind the end: %s", text)
		}
		if strings.TrimSpace(text) == "[DONE]" {
			over = "[DONE]"
			continue
		}
		if strict && over != "" {
			return nil, fmt.Errorf("behind an error: %s", text)
		}
		var chunk struct {
			Error   json.RawMessage
			Choices []struct {
				Index        int
				FinishReason any `json:"finish_reason"`
				Delta        struct {
					Content      any
					FunctionCall *struct{ Name, Arguments string } `json:"function_call"`
					ToolCalls    []struct {
						Index    int
						ID, Type string
						Function *struct{ Name, Arguments string }
						Custom   *struct{ Name, Input string }
					} `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &chunk); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		if len(chunk.Error) > 0 && string(chunk.Error) != "null" {
			over = "error"
		}
		for _, c := range chunk.Choices {
			a := answers[c.Index]
			if a == nil {
				a = &answer{}
				answers[c.Index] = a
			}
			content, _ := c.Delta.Content.(string)
			if parts, ok := c.Delta.Content.([]any); ok {
				content = fmt.Sprint(parts)
			}
			says := content != "" || len(c.Delta.ToolCalls) > 0 || c.Delta.FunctionCall != nil
			if strict && len(a.tools) > 0 && len(a.finish) > 0 && says {
				return nil, fmt.Errorf("choice %d goes on behind its finish: %s", c.Index, text)
			}
			a.content += content
			if f := c.Delta.FunctionCall; f != nil {
				if f.Name != "" {
					a.tools = append(a.tools, tool{name: f.Name, kind: "legacy"})
				}
				if len(a.tools) == 0 {
					return nil, fmt.Errorf("arguments without a name: %s", text)
				}
				a.tools[len(a.tools)-1].args += f.Arguments
			}
			for _, call := range c.Delta.ToolCalls {
				key := [2]int{c.Index, call.Index}
				at, known := index[key]
				if !known {
					at = len(a.tools)
					index[key] = at
					a.tools = append(a.tools, tool{kind: call.Type})
					if strict && (at != call.Index || call.ID == "" || call.Type == "" || call.Function == nil && call.Custom == nil) {
						return nil, fmt.Errorf("call %d of choice %d begins badly: %s", at, c.Index, text)
					}
				} else if strict && (call.ID != "" || call.Type != "" || call.Function != nil && call.Function.Name != "") {
					return nil, fmt.Errorf("call %d of choice %d begins twice: %s", at, c.Index, text)
				}
				t := &a.tools[at]
				if call.ID != "" {
					t.id = call.ID
				}
				if call.Function != nil {
					t.args += call.Function.Arguments
					if call.Function.Name != "" {
						t.name = call.Function.Name
					}
				}
				if call.Custom != nil {
					t.args += call.Custom.Input
					if call.Custom.Name != "" {
						t.name = call.Custom.Name
					}
				}
			}
			if c.FinishReason != nil && c.FinishReason != "" {
				a.finish = append(a.finish, fmt.Sprint(c.FinishReason))
			}
		}
	}
	if !strict {
		return answers, nil
	}
	if over == "" && !finished(answers) { // some providers send no end marker
		return nil, fmt.Errorf("no terminal event")
	}
	for i, a := range answers {
		ids := map[string]bool{}
		for _, t := range a.tools {
			if t.kind != "custom" && !json.Valid([]byte(t.args)) {
				return nil, fmt.Errorf("choice %d: call %s has arguments %q", i, t.name, t.args)
			}
			if t.kind != "legacy" && ids[t.id] {
				return nil, fmt.Errorf("choice %d: id %q twice", i, t.id)
			}
			ids[t.id] = true
		}
		if len(a.tools) > 0 && len(a.finish) != 1 && over != "error" {
			return nil, fmt.Errorf("choice %d has calls and the finishes %q", i, a.finish)
		}
	}
	return answers, nil
}

// truthful checks L8 against the calls of the upstream.
func truthful(got map[int]*answer, upstream map[int]bool) error {
	for i, a := range got {
		for _, f := range a.finish {
			if upstream[i] && (f == "tool_calls" || f == "function_call") && len(a.tools) == 0 {
				return fmt.Errorf("choice %d finishes with %q and has no call", i, f)
			}
		}
	}
	return nil
}

// show formats answers for comparison, arguments as values.
func show(answers map[int]*answer) string {
	var keys []int
	for i := range answers {
		keys = append(keys, i)
	}
	sort.Ints(keys)
	var b strings.Builder
	for _, i := range keys {
		a := answers[i]
		fmt.Fprintf(&b, "choice %d: %q %q\n", i, a.content, a.finish)
		for _, t := range a.tools {
			fmt.Fprintf(&b, "  %s %q %s %s\n", t.kind, t.id, t.name, canonical(t.args))
		}
	}
	return b.String()
}

// canonical returns the arguments as a value, without regard to spaces and escapes.
func canonical(args string) string {
	var v any
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return args
	}
	out, _ := json.Marshal(v)
	return string(out)
}

func quote(s string) string {
	out, _ := json.Marshal(s)
	return string(out)
}

// finished reports whether every answer has its end.
func finished(answers map[int]*answer) bool {
	for _, a := range answers {
		if len(a.finish) == 0 {
			return false
		}
	}
	return len(answers) > 0
}
