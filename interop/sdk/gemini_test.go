package sdk

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/interop/gate"
)

// The signature of the first call of a turn, without which the provider refuses the history.
const signature = "c2lnbmF0dXJl"

func geminiPart(i int, c toolCall) string {
	signed := ""
	if i == 0 {
		signed = `,"thoughtSignature":"` + signature + `"`
	}
	return fmt.Sprintf(`{"functionCall":{"id":%s,"name":%s,"args":%s}%s}`, quote(c.ID), quote(c.Name), c.Args, signed)
}

func geminiResponse(parts, finish string) string {
	return `{"candidates":[{"content":{"parts":[` + parts + `],"role":"model"}` + finish +
		`,"index":0}],"usageMetadata":{"promptTokenCount":11,"candidatesTokenCount":42,"totalTokenCount":53},"modelVersion":"gemini","responseId":"r1"}`
}

const geminiStop = `,"finishReason":"STOP"`

func geminiAnswer(text string, calls []toolCall) (list []string) {
	for _, p := range pieces(text, 5) {
		list = append(list, "data: "+geminiResponse(`{"text":`+quote(p)+`}`, "")+"\n\n")
	}
	for i, c := range calls {
		list = append(list, "data: "+geminiResponse(geminiPart(i, c), "")+"\n\n")
	}
	return append(list, "data: "+geminiResponse(`{"text":""}`, geminiStop)+"\n\n")
}

func wholeGemini(text string, calls []toolCall) string {
	parts := []string{`{"text":` + quote(text) + `}`}
	for i, c := range calls {
		parts = append(parts, geminiPart(i, c))
	}
	return geminiResponse(strings.Join(parts, ","), geminiStop)
}

// strictGemini reports what the provider refuses in a history: calls without results, results
// without calls, empty messages, and a turn whose first call has no signature.
func strictGemini(body []byte) error {
	var request struct {
		Contents []struct {
			Role  string
			Parts []struct {
				FunctionCall     *struct{ ID, Name string }
				FunctionResponse *struct{ ID, Name string }
				ThoughtSignature string
			}
		}
	}
	if err := json.Unmarshal(body, &request); err != nil {
		return err
	}
	open := map[string]bool{}
	for i, m := range request.Contents {
		if len(m.Parts) == 0 {
			return fmt.Errorf("content %d has no parts", i)
		}
		first := true
		for _, p := range m.Parts {
			switch {
			case p.FunctionCall != nil:
				if first && p.ThoughtSignature != signature {
					return fmt.Errorf("the call %q has no signature", p.FunctionCall.Name)
				}
				first = false
				open[p.FunctionCall.ID] = true
			case p.FunctionResponse != nil:
				if !open[p.FunctionResponse.ID] {
					return fmt.Errorf("no call %q", p.FunctionResponse.ID)
				}
				delete(open, p.FunctionResponse.ID)
			}
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("no results of %v", open)
	}
	return nil
}

// geminiCases are cases of the API that a library shows.
func geminiCases() []testCase {
	list := common("gemini")
	add := func(name string, w want, events ...string) {
		for i, e := range events {
			events[i] = "data: " + e + "\n\n"
		}
		list = append(list, testCase{name: name, script: &script{api: "gemini", events: events}, want: w})
	}
	text, call := geminiResponse(`{"text":`+quote(preamble)+`}`, ""), geminiResponse(geminiPart(0, callA), "")
	add("gemini-max-tokens", want{texts: []string{preamble, "[stopgate] The tool call `a` was not run: "}, finish: "MAX_TOKENS"}, text, call, geminiResponse(`{"text":""}`, `,"finishReason":"MAX_TOKENS"`))
	add("gemini-no-finish", want{err: true}, text, call)
	add("gemini-error", want{err: true}, text, call, `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`)
	add("gemini-finish-in-every-event", want{texts: []string{preamble, refused("b")}, calls: []toolCall{callA}, finish: "STOP"},
		geminiResponse(`{"text":`+quote(preamble)+`}`, geminiStop), geminiResponse(geminiPart(0, callA), geminiStop), geminiResponse(geminiPart(1, badB), geminiStop))
	add("gemini-thought", want{texts: []string{refused("a")}, calls: []toolCall{callB}, finish: "STOP"},
		geminiResponse(`{"text":"hm","thought":true}`, ""), geminiResponse(geminiPart(0, badA)+","+geminiPart(1, callB), geminiStop))
	return list
}

// What programs see through Google's libraries. Signatures stay where the provider wants them: the
// next turn is accepted.
func TestGemini(t *testing.T) {
	scripts, cases := map[string]*script{}, geminiCases()
	for _, c := range cases {
		scripts[c.name] = c.script
	}
	p := newProvider(t, scripts)
	g := gate.Up(t, gate.Build(t), p.URL, policy, "ANNA_TOKEN="+token)
	for name, library := range map[string]library{"genai-node": node(t, "gemini.mjs"), "genai-python": python(t, "gemini_driver.py")} {
		cl := client{name: name, kind: "gemini", api: "gemini", library: library, next: true}
		t.Run(name, func(t *testing.T) {
			for _, c := range cases {
				cl.judge(t, g.URL, c)
			}
		})
	}
}
