package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An answer without a call whose events do not add up passes the built program byte for byte,
// and its record names the event; nothing is added to a stream that ends without its mark.
func TestStrangeAnswersPass(t *testing.T) {
	dir := liveIn(t, guardsOnly)
	event := func(name, data string) string { return "event: " + name + "\ndata: " + data + "\n\n" }
	start := event("message_start", `{"type":"message_start","message":{"id":"m1","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}`)
	messages := start + start + event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`) +
		event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello."}}`) +
		event("content_block_stop", `{"type":"content_block_stop","index":0}`) +
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}`) + event("message_stop", `{"type":"message_stop"}`)
	chat := "data: " + `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hello."},"finish_reason":null}]}` + "\n\n" +
		"data: " + `{"id":"c1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n"
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		if strings.HasSuffix(r.URL.Path, "/messages") {
			_, _ = io.WriteString(w, messages)
			return
		}
		_, _ = io.WriteString(w, chat)
	}))
	t.Cleanup(model.Close)
	s := startUp(t, dir, "--policy", "p.toml", "--store", "memory", "--audit", "rows.jsonl", "--openai-upstream", model.URL+"/v1", "--anthropic-upstream", model.URL)
	for path, want := range map[string]string{"/v1/messages": messages, "/v1/chat/completions": chat} {
		status, got := post(t, s.url+path, `{"model":"m","max_tokens":100,"stream":true,"messages":[{"role":"user","content":"go"}]}`)
		if status != http.StatusOK || got != want {
			t.Errorf("%s: status %d: %q, want %q", path, status, got, want)
		}
	}
	rows, err := os.ReadFile(filepath.Join(dir, "rows.jsonl"))
	if err != nil || strings.Count(string(rows), `"code":"envelope_mismatch"`) != 1 || !strings.Contains(string(rows), `"cause":"message_start`) {
		t.Errorf("%v: %s", err, rows)
	}
}
