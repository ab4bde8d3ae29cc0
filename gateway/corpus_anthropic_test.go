package gateway_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// readMessages parses an Anthropic stream like a client, independently of the codec.
func readMessages(t *testing.T, body string) received {
	h := received{finish: map[int]string{}}
	at := map[int]int{}
	for _, frame := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		var data []string
		for _, line := range strings.Split(frame, "\n") {
			if value, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, value)
			}
		}
		if len(data) == 0 {
			continue
		}
		var ev struct {
			Type  string
			Index int
			Block struct {
				Type, Name, Text string
				Input            json.RawMessage
			} `json:"content_block"`
			Delta struct {
				Type, Text, Thinking, Signature string
				Partial                         string `json:"partial_json"`
				StopReason                      string `json:"stop_reason"`
			}
		}
		if err := json.Unmarshal([]byte(strings.Join(data, "\n")), &ev); err != nil {
			t.Logf("unreadable event: %v", err)
			continue
		}
		if h.done {
			h.late++
		}
		switch ev.Type {
		case "content_block_start":
			h.text += ev.Block.Text
			if ev.Block.Type == "tool_use" {
				at[ev.Index] = len(h.calls)
				h.calls = append(h.calls, receivedCall{name: ev.Block.Name})
				if in := string(ev.Block.Input); in != "{}" && in != "null" {
					h.calls[at[ev.Index]].args = in
				}
			}
		case "content_block_delta":
			h.text += ev.Delta.Text + ev.Delta.Thinking + ev.Delta.Signature
			if n, ok := at[ev.Index]; ok {
				h.calls[n].args += ev.Delta.Partial
			}
		case "message_delta":
			if ev.Delta.StopReason != "" {
				h.finish[0] = ev.Delta.StopReason
			}
		case "message_stop":
			h.done = true
		case "error":
			h.failed = true
		}
	}
	return h
}

// Proves I24, L2, L4 on recorded streams; see TestRecordedChatStreams.
func TestRecordedAnthropicStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "anthropic-messages"), "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	provider := script{}
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { provider.ServeHTTP(w, r) }), nil)
	withCalls, refused := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before := readMessages(t, string(text))
		provider = script{body: string(text), split: func(s string) []string {
			var pieces []string
			for len(s) > 0 {
				n := min(len(s), 1+rng.IntN(2000))
				pieces = append(pieces, s[:n])
				s = s[n:]
			}
			return pieces
		}}
		seen := map[string]bool{}
		var tools []string
		for _, c := range before.calls {
			if !seen[c.name] {
				seen[c.name] = true
				tools = append(tools, fmt.Sprintf(`{"name":%q,"input_schema":{"type":"object"}}`, c.name))
			}
		}
		a := r.post(anthropicPath, `{"model":"m","max_tokens":99,"stream":true,"messages":[],"tools":[`+strings.Join(tools, ",")+`]}`)
		after := readMessages(t, a.body)
		name := filepath.Base(file)
		if len(before.calls) == 0 {
			if a.err == nil && strings.TrimRight(a.body, "\n") != strings.TrimRight(string(text), "\n") && strings.Contains(string(text), "event: message_start") {
				t.Errorf("%s: no call in it, and it changed", name)
			}
			continue
		}
		withCalls++
		reason := before.finish[0]
		complete := !before.failed && before.done && (reason == "tool_use" || reason == "end_turn" || reason == "pause_turn")
		for _, c := range before.calls {
			complete = complete && strings.HasPrefix(value(c.args), "{")
		}
		if !complete {
			refused++
			for _, c := range after.calls {
				if strings.HasPrefix(value(c.args), "broken") {
					t.Errorf("%s: a broken call came through: %+v", name, c)
				}
			}
			continue
		}
		if a.err != nil || after.failed || !after.done || after.late > 0 {
			t.Errorf("%s: ended with %v\n%s", name, a.err, a.body[max(0, len(a.body)-400):])
			continue
		}
		if got, want := content(after), content(before); got != want {
			t.Errorf("%s: the client received\n%s\nthe provider sent\n%s", name, got, want)
		}
	}
	t.Logf("%d recordings, %d with calls, %d of them incomplete", len(files), withCalls, refused)
}
