package gateway_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// A request that makes the provider run a tool, by a member or by the name of the model, does not
// reach the provider unless the operator listed the tool.
func TestToolSwitchesAreRefused(t *testing.T) {
	asked := 0
	provider := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, map[string]string{
			chatPath:        `{"choices":[]}`,
			"/v1/responses": `{"id":"r","object":"response","output":[]}`,
			anthropicPath:   `{"type":"message","role":"assistant","content":[]}`,
		}[r.URL.Path])
	})
	for _, listed := range []bool{false, true} {
		r := newRig(t, allowAll, provider, func(o *gateway.Options) {
			if listed {
				o.Settings.ServerTools = []string{"data_sources", "extra_body.*", "model:*", "connectors", "enable_*", "something_search"}
			}
		})
		for _, path := range []string{chatPath, "/v1/responses", anthropicPath} {
			for _, member := range []string{
				`"data_sources":[{"type":"azure_search"}]`, `"extra_body":{"enable_search":true}`, `"connectors":[{"id":"web-search"}]`,
				`"enable_web":true`, `"something_search":{}`, `"model":"openai/gpt-4o:online"`,
			} {
				asked = 0
				a := r.post(path, `{"max_tokens":9,"messages":[],"input":"x",`+member+`}`)
				if listed {
					if a.status != 200 || asked != 1 {
						t.Errorf("%s %s: status %d, asked %d times: %s", path, member, a.status, asked, a.body)
					}
				} else if a.status != 400 || asked != 0 || !strings.Contains(a.body, "server_tool") && !strings.Contains(a.body, "runs at the provider") {
					t.Errorf("%s %s: status %d, asked %d times: %s", path, member, a.status, asked, a.body)
				}
			}
		}
	}
}
