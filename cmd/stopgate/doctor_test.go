package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// fakeAgent is a coding agent as far as doctor can tell: it asks a model, asks its hook
// before it runs the model's command, and tells the model what came of it. With DEAF in
// its settings it does not listen to the hook.
func fakeAgent() {
	if slices.Contains(os.Args, "--version") {
		fmt.Println("qwen 9.9.9")
		return
	}
	base := os.Args[slices.Index(os.Args, "--openai-base-url")+1]
	text, err := os.ReadFile(filepath.Join(os.Getenv("HOME"), ".qwen/settings.json"))
	mustWork(err)
	var settings struct {
		Deaf  bool
		Hooks map[string][]struct{ Hooks []struct{ Command string } }
	}
	mustWork(json.Unmarshal(text, &settings))
	type call struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	type message struct {
		Role       string `json:"role"`
		Content    string `json:"content"`
		ToolCalls  []call `json:"tool_calls,omitempty"`
		ToolCallID string `json:"tool_call_id,omitempty"`
	}
	messages := []message{{Role: "user", Content: "go"}}
	for {
		body, _ := json.Marshal(map[string]any{"model": os.Args[slices.Index(os.Args, "--model")+1], "messages": messages,
			"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "run_shell_command", "parameters": map[string]any{"type": "object"}}}}})
		resp, err := http.Post(base+"/chat/completions", "application/json", bytes.NewReader(body))
		mustWork(err)
		answer, err := io.ReadAll(resp.Body)
		mustWork(err)
		var a struct{ Choices []struct{ Message message } }
		if err := json.Unmarshal(answer, &a); err != nil || len(a.Choices) == 0 {
			mustWork(fmt.Errorf("the model says %s", answer))
		}
		m := a.Choices[0].Message
		messages = append(messages, m)
		if len(m.ToolCalls) == 0 {
			return
		}
		for _, c := range m.ToolCalls {
			event, _ := json.Marshal(map[string]any{"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": c.Function.Name, "tool_input": json.RawMessage(c.Function.Arguments), "tool_use_id": c.ID})
			hook := exec.Command("/bin/sh", "-c", settings.Hooks["PreToolUse"][0].Hooks[0].Command)
			hook.Stdin = bytes.NewReader(event)
			said, err := hook.CombinedOutput()
			if err == nil || settings.Deaf {
				var args struct{ Command string }
				mustWork(json.Unmarshal([]byte(c.Function.Arguments), &args))
				said, _ = exec.Command("/bin/sh", "-c", args.Command).CombinedOutput()
			}
			messages = append(messages, message{Role: "tool", ToolCallID: c.ID, Content: string(said)})
		}
	}
}

func mustWork(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
