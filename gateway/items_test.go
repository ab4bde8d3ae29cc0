package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/store/mem"
)

// shellFirst is a policy that requires a successful shell call before a deployment.
const shellFirst = allowAll + `
[tools."openai.local_shell"]
success = { pattern = "^PASS" }

[[session]]
type = "require"
before = ["deploy"]
requires = ["openai.local_shell"]
`

// aShell returns the item of a local shell call.
func aShell(item, call string) string {
	return fmt.Sprintf(`{"id":%q,"type":"local_shell_call","status":"completed","call_id":%q,"action":{"type":"exec","command":["make"],"env":{}}}`, item, call)
}

// inForms returns a response with these items, as a stream and as a body.
func inForms(id string, items ...string) map[bool]script {
	list := strings.Join(items, ",")
	stream := responsesEvent("response.created", fmt.Sprintf(`"response":{"id":%q,"status":"in_progress","output":[]}`, id))
	for i, item := range items {
		stream += responsesEvent("response.output_item.added", fmt.Sprintf(`"output_index":%d,"item":%s`, i, strings.Replace(item, "completed", "in_progress", 1))) +
			responsesEvent("response.output_item.done", fmt.Sprintf(`"output_index":%d,"item":%s`, i, item))
	}
	body := fmt.Sprintf(`{"id":%q,"status":"completed","output":[%s]}`, id, list)
	return map[bool]script{true: {body: stream + responsesEvent("response.completed", `"response":`+body)}, false: {body: body, kind: "application/json"}}
}

// Proves W50: the result of a local shell call may contain only the id of the call's item, and the
// call may be a reference, or in the previous response: it is found. An ambiguous result, or one of
// a call that was never released, belongs to no call.
func TestResultsByItem(t *testing.T) {
	const ref, by = `{"type":"item_reference","id":"lsh_1"}`, `{"type":"local_shell_call_output","id":%q,"output":%q}`
	pass := fmt.Sprintf(by, "lsh_1", "PASS")
	one := []string{aShell("lsh_1", "call_1")}
	for _, c := range []struct {
		name    string
		items   []string // items of the first response
		more    string   // members of the second request
		allowed bool
	}{
		{"by the item", one, `"input":[` + ref + `,` + pass + `]`, true},
		{"by the call", one, `"input":[` + ref + `,` + fmt.Sprintf(by, "call_1", "PASS") + `]`, true},
		{"by the item, with the call itself", one, `"input":[` + one[0] + `,` + pass + `]`, true},
		{"by the item, continued by id", one, `"previous_response_id":"resp_1","input":[` + pass + `]`, true},
		{"a failure", one, `"input":[` + ref + `,` + fmt.Sprintf(by, "lsh_1", "FAIL") + `]`, false},
		{"an item that nobody knows", one, `"input":[` + ref + `,` + fmt.Sprintf(by, "lsh_2", "PASS") + `]`, false},
		{"a call id that is an item's", one, `"input":[` + ref + `,{"type":"function_call_output","call_id":"lsh_1","output":"PASS"}]`, false},
		{"two calls of one item", []string{one[0], aShell("lsh_1", "call_2")}, `"input":[` + ref + `,` + pass + `]`, false},
		{"two calls of one item, continued by id", []string{one[0], aShell("lsh_1", "call_2")}, `"previous_response_id":"resp_1","input":[` + pass + `]`, false},
		{"a call that is called like the item", []string{one[0], aShell("lsh_2", "lsh_1")}, `"input":[` + ref + `,` + pass + `]`, false},
		{"the same, continued by id", []string{one[0], aShell("lsh_2", "lsh_1")}, `"previous_response_id":"resp_1","input":[` + pass + `]`, false},
	} {
		for _, session := range []string{"s", ""} {
			for stream, first := range inForms("resp_1", c.items...) {
				t.Run(fmt.Sprintf("%s, session %q, streamed %t", c.name, session, stream), func(t *testing.T) {
					answers := []script{first, inForms("resp_2", responsesCall("deploy", `{}`))[stream]}
					provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						answers[0].ServeHTTP(w, r)
						answers = answers[1:]
					})
					r := newRig(t, shellFirst, provider, storing(t, shellFirst, mem.New()))
					ask := func(input string) string {
						header := map[string]string{"Content-Type": "application/json"}
						if session != "" {
							header["X-Stopgate-Session"] = session
						} else if !strings.Contains(input, "previous_response_id") {
							input = strings.Replace(input, `"input":[`, `"input":[{"role":"user","content":"go"},`, 1)
						}
						return r.send("POST", responsesPath, fmt.Sprintf(`{"model":"m","stream":%t,%s,"tools":[{"type":"local_shell"},{"type":"function","name":"deploy","parameters":{"type":"object"}}]}`, stream, input), header).body
					}
					mustContain(t, ask(`"input":[{"role":"user","content":"go"}]`), `"lsh_1"`)
					if second := ask(c.more); strings.Contains(second, `"call_deploy"`) != c.allowed {
						t.Errorf("deploy runs: %t\n%s", !c.allowed, second)
					}
				})
			}
		}
	}
}
