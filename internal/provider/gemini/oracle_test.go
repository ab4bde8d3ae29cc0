package gemini_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// message is a response as a client assembles it.
type message struct {
	Candidates []struct {
		Index   int
		Content struct {
			Parts []struct {
				Text         string
				Thought      bool
				FunctionCall *struct {
					ID, Name string
					Args     json.RawMessage
				}
				ThoughtSignature string
			}
		}
		FinishReason string
	}
	Error *struct{ Code int }
}

// answer is the result of a stream for a client.
type answer struct {
	calls, texts []string
	other        []string // parts without text and call, and usage
	finish       []string
	failed       bool
}

// read assembles a stream with encoding/json, as clients do.
func read(t testing.TB, stream string) (a answer) {
	t.Helper()
	text := map[int]string{}
	for _, event := range strings.Split(strings.ReplaceAll(stream, "\r\n", "\n"), "\n\n") {
		data, ok := strings.CutPrefix(event, "data: ")
		if !ok {
			continue
		}
		var m message
		if err := json.Unmarshal([]byte(data), &m); err != nil {
			t.Fatalf("the client cannot read %s: %v", data, err)
		}
		a.failed = a.failed || m.Error != nil
		for _, c := range m.Candidates {
			if c.FinishReason != "" {
				a.finish = append(a.finish, c.FinishReason)
			}
			for _, p := range c.Content.Parts {
				if p.FunctionCall != nil {
					var v any
					_ = json.Unmarshal(p.FunctionCall.Args, &v)
					args, _ := json.Marshal(v)
					a.calls = append(a.calls, fmt.Sprintf("%d %s %s %s", c.Index, p.FunctionCall.ID, p.FunctionCall.Name, args))
				} else if !p.Thought {
					text[c.Index] += p.Text
				}
			}
		}
	}
	for i := range 8 {
		a.texts = append(a.texts, text[i])
	}
	return a
}
