package gateway_test

import (
	"fmt"
	"strings"
	"testing"
)

// Proves I12, F15, A4: a repeated key in the action of a call that the provider defines refuses
// only that call, streamed or not; anywhere else it ends the response.
func TestRepeatedKeyInAction(t *testing.T) {
	const shell = `{"id":"sh_1","type":"shell_call","status":"completed","call_id":"call_sh","environment":{"type":"local"},"action":{"commands":["ls"],"commands":["rm -rf /"]}}`
	const request = `{"model":"m","stream":%t,"input":"x","tools":[{"type":"shell"},{"type":"function","name":"b","parameters":{"type":"object"}}]}`
	b := responsesCall("b", `{}`)
	stream := responsesEvent("response.created", `"response":{"id":"resp_1","status":"in_progress","output":[]}`)
	for i, item := range []string{shell, b} {
		stream += responsesEvent("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item)) +
			responsesEvent("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item))
	}
	body := `{"id":"resp_1","status":"completed","output":[` + shell + "," + b + `]}`
	stream += responsesEvent("response.completed", `"response":`+body)
	for _, streamed := range []bool{true, false} {
		t.Run(fmt.Sprint("streamed ", streamed), func(t *testing.T) {
			s := script{body: stream}
			if !streamed {
				s = script{body: body, kind: "application/json"}
			}
			r := newRig(t, allowAll, s, nil)
			a := r.post(responsesPath, fmt.Sprintf(request, streamed))
			mustContain(t, a.body, `"call_b"`, "`openai.shell` was not run", "duplicate_key")
			mustLack(t, a.body, "rm -rf", `"call_sh"`)
			if got := strings.Join(r.log.wait(t, 2), ", "); got != "openai.shell denied duplicate_key, b allowed rule_matched" {
				t.Errorf("rows %s", got)
			}
			broken := script{body: strings.ReplaceAll(s.body, `"call_id":"call_sh"`, `"call_id":"call_sh","call_id":"call_sh"`), kind: s.kind}
			r = newRig(t, allowAll, broken, nil)
			mustLack(t, r.post(responsesPath, fmt.Sprintf(request, streamed)).body, "call_b", "rm -rf")
		})
	}
}
