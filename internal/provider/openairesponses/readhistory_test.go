package openairesponses_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
)

// Proves W50: the calls and results in an input, for every kind of call, and the replacements of
// results.
func TestHistory(t *testing.T) {
	for _, c := range []struct{ name, input, want, replaced string }{
		{"function", `{"type":"function_call","call_id":"c1","name":"a","arguments":"{\"n\":1}"},{"type":"function_call_output","call_id":"c1","output":"ok"}`,
			`c1:a{"n":1}="ok"`, `"output":"no"`},
		{"namespace, parts", `{"type":"function_call","call_id":"c1","namespace":"n","name":"a","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"x"}]}`,
			`c1:n.a{}="x"`, `"output":"no"`},
		{"custom", `{"type":"custom_tool_call","call_id":"c1","name":"a","input":"x"},{"type":"custom_tool_call_output","call_id":"c1","output":"ok"}`,
			`c1:a{"input":"x"}="ok"`, `"output":"no"`},
		{"local shell by its id", `{"type":"local_shell_call","id":"l1","call_id":"c1","action":{"type":"exec","command":["ls"]}},{"type":"local_shell_call_output","id":"l1","output":"ok"}`,
			`c1:openai.local_shell{"type":"exec","command":["ls"]}="ok"`, `"output":"no"`},
		{"shell", `{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}},{"type":"shell_call_output","call_id":"c1","output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]}`,
			`c1:openai.shell{"commands":["ls"]}=ok flagged`, `"output":[{"stdout":"","stderr":"no"`},
		{"shell that failed", `{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}},{"type":"shell_call_output","call_id":"c1","output":[{"outcome":{"type":"exit","exit_code":2}}]}`,
			`c1:openai.shell{"commands":["ls"]}=failed flagged`, `"stderr":"no"`},
		{"shell that took too long", `{"type":"shell_call","call_id":"c1","action":{"commands":["ls"]}},{"type":"shell_call_output","call_id":"c1","output":[{"outcome":{"type":"timeout"}}]}`,
			`c1:openai.shell{"commands":["ls"]}=failed flagged`, `"stderr":"no"`},
		{"patch", `{"type":"apply_patch_call","call_id":"c1","operation":{"type":"delete_file","path":"a"}},{"type":"apply_patch_call_output","call_id":"c1","status":"failed","output":"x"}`,
			`c1:openai.apply_patch{"type":"delete_file","path":"a"}=failed flagged`, `"output":"no"`},
		{"only a result", `{"type":"function_call_output","call_id":"c1","output":"ok"}`, `c1:="ok"`, `"output":"no"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := []byte(`{"input":[` + c.input + `]}`)
			r, err := openairesponses.Dialect{}.Request(body)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			var edits provider.Edits
			for i := range r.History {
				p := &r.History[i]
				text := fmt.Sprintf("%s:%s", p.Call, p.Tool)
				if p.HasArgs() {
					text += string(p.Args())
				}
				for j := range p.Results {
					switch res := &p.Results[j]; {
					case res.HasStatus && res.Failed:
						text += "=failed flagged"
					case res.HasStatus:
						text += "=ok flagged"
					default:
						text += fmt.Sprintf("=%q", res.Text())
					}
					p.Results[j].Replace(&edits, []byte("no"))
				}
				list = append(list, text)
			}
			if got := strings.Join(list, " "); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if got := string(edits.AppendTo(nil, body, 0, len(body))); !strings.Contains(got, c.replaced) {
				t.Errorf("replaced: %s", got)
			}
		})
	}
}
