package gateway_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/corpus"
)

// receivedCall is a call as a client assembles it.
type receivedCall struct {
	choice, index int
	name, args    string
}

// received is a Chat stream as a client parses it, independently of the codec.
type received struct {
	calls  []receivedCall
	text   string
	finish map[int]string
	done   bool
	failed bool
	late   int // events after the end
}

func readChat(t *testing.T, body string) received {
	h := received{finish: map[int]string{}}
	at := map[[2]int]int{}
	for _, frame := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n\n") {
		var data []string
		for _, line := range strings.Split(frame, "\n") {
			if value, ok := strings.CutPrefix(line, "data:"); ok {
				data = append(data, strings.TrimPrefix(value, " "))
			}
		}
		payload := strings.TrimSpace(strings.Join(data, "\n"))
		if payload == "" {
			continue
		}
		if h.done {
			h.late++
		}
		if payload == "[DONE]" {
			h.done = true
			continue
		}
		var chunk struct {
			Error   json.RawMessage
			Choices []struct {
				Index int
				Delta struct {
					Content      any
					FunctionCall struct{ Name, Arguments string } `json:"function_call"`
					ToolCalls    []struct {
						Index    *int
						Function struct {
							Name      string
							Arguments any
						}
					} `json:"tool_calls"`
				}
				FinishReason string `json:"finish_reason"`
			}
		}
		if err := json.Unmarshal([]byte(payload), &chunk); err != nil {
			t.Logf("unreadable event: %v", err)
			continue
		}
		h.failed = h.failed || len(chunk.Error) > 0 && string(chunk.Error) != "null"
		for _, c := range chunk.Choices {
			if text, ok := c.Delta.Content.(string); ok {
				h.text += text
			}
			if f := c.Delta.FunctionCall; f.Name != "" || f.Arguments != "" {
				key := [2]int{c.Index, -2}
				if _, known := at[key]; !known {
					at[key] = len(h.calls)
					h.calls = append(h.calls, receivedCall{choice: c.Index, index: -2, name: f.Name})
				}
				h.calls[at[key]].args += f.Arguments
			}
			for _, tc := range c.Delta.ToolCalls {
				index := -1
				if tc.Index != nil {
					index = *tc.Index
				}
				key := [2]int{c.Index, index}
				n, known := at[key]
				if !known || tc.Function.Name != "" && h.calls[n].args != "" && json.Valid([]byte(h.calls[n].args)) {
					n = len(h.calls)
					at[key] = n
					h.calls = append(h.calls, receivedCall{choice: c.Index, index: index, name: tc.Function.Name})
				}
				if args, ok := tc.Function.Arguments.(string); ok {
					h.calls[n].args += args
				}
				if h.calls[n].name == "" {
					h.calls[n].name = tc.Function.Name
				}
			}
			if c.FinishReason != "" {
				h.finish[c.Index] = c.FinishReason
			}
		}
	}
	return h
}

// value returns JSON text as a value, for comparison; empty arguments are {}.
func value(text string) string {
	if strings.TrimSpace(text) == "" {
		text = "{}"
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return "broken: " + text
	}
	out, _ := json.Marshal(v)
	return string(out)
}

// Proves I24, L2, L4 on recorded streams: under a policy that allows everything each recorded Chat
// stream has the same content after the gateway, in one random split; truncated calls never appear.
func TestRecordedChatStreams(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "streams", "openai-chat"), "*.sse"))
	if err != nil || len(files) == 0 {
		t.Fatal("no recordings", err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	provider := script{}
	r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { provider.ServeHTTP(w, r) }), nil)
	withCalls, refused := 0, 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		before := readChat(t, string(text))
		provider = script{body: string(text), split: func(s string) []string {
			var pieces []string
			for len(s) > 0 {
				n := min(len(s), 1+rng.IntN(2000))
				pieces = append(pieces, s[:n])
				s = s[n:]
			}
			return pieces
		}}
		a := r.post(chatPath, declaring(before.calls))
		after := readChat(t, a.body)
		name := filepath.Base(file)
		if len(before.calls) == 0 {
			// A stream may lack the blank line after its end; the gateway's never does.
			if a.err == nil && strings.TrimRight(a.body, "\n") != strings.TrimRight(string(text), "\n") && after.done == before.done {
				t.Errorf("%s: no call in it, and it changed", name)
			}
			continue
		}
		withCalls++
		complete := !before.failed
		for _, c := range before.calls {
			reason := before.finish[c.choice]
			if reason != "tool_calls" && reason != "stop" && reason != "function_call" || strings.HasPrefix(value(c.args), "broken") || c.name == "" || !strings.HasPrefix(value(c.args), "{") {
				complete = false
			}
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
		if a.err != nil || after.failed {
			t.Errorf("%s: ended with %v\n%s", name, a.err, a.body[max(0, len(a.body)-300):])
			continue
		}
		if got, want := content(after), content(before); got != want {
			t.Errorf("%s: the client received\n%s\nthe provider sent\n%s", name, got, want)
		}
	}
	t.Logf("%d recordings, %d with calls, %d of them incomplete", len(files), withCalls, refused)
}

// content returns the text and calls, independent of numbering.
func content(h received) string {
	var calls []string
	for _, c := range h.calls {
		calls = append(calls, fmt.Sprint(c.choice, " ", c.name, " ", value(c.args)))
	}
	sort.Strings(calls)
	return fmt.Sprint(calls, h.text, h.finish)
}

// declaring returns a request that declares the tools of some calls.
func declaring(calls []receivedCall) string {
	seen := map[string]bool{}
	var tools []string
	for _, c := range calls {
		if !seen[c.name] && c.name != "" {
			seen[c.name] = true
			name, _ := json.Marshal(c.name)
			tools = append(tools, `{"type":"function","function":{"name":`+string(name)+`,"parameters":{"type":"object"}}}`)
		}
	}
	return `{"model":"m","stream":true,"messages":[],"tools":[` + strings.Join(tools, ",") + `]}`
}
