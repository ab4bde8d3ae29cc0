package gateway_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway"
)

// Proves S46: a key of the gate replaces the client's credential, in the form of the API; without
// one the client's own credential is forwarded unchanged.
func TestCredentials(t *testing.T) {
	for _, test := range []struct {
		name, api, key, path string
		client               map[string]string
		want                 string
	}{
		{"passed as it is", "", "", "/v1/embeddings", map[string]string{"Authorization": "Bearer sk-client"}, "Bearer sk-client|"},
		{"passed as it is, key form", "", "", "/v1/messages/count_tokens", map[string]string{"X-Api-Key": "sk-client"}, "|sk-client"},
		{"replaced", "openai", "sk-gate", "/v1/embeddings", map[string]string{"Authorization": "Bearer sk-client"}, "Bearer sk-gate|"},
		{"replaced, key form", "anthropic", "sk-gate", "/v1/messages/count_tokens", map[string]string{"X-Api-Key": "sk-client", "Authorization": "Bearer x"}, "|sk-gate"},
		{"replaced, every form of it", "openai", "sk-gate", "/v1/embeddings", map[string]string{"X-Api-Key": "sk-client", "Api-Key": "sk-other", "Authorization": "Bearer x"}, "Bearer sk-gate|"},
		{"replaced, one upstream for both", "", "sk-gate", "/v1/messages/count_tokens", map[string]string{"Anthropic-Version": "2023-06-01"}, "|sk-gate"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t, allowAll, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, r.Header.Get("Authorization")+"|"+r.Header.Get("X-Api-Key")+r.Header.Get("Api-Key"))
			}), func(o *gateway.Options) {
				o.Upstreams[0].API, o.Upstreams[0].Key = test.api, test.key
				if test.key != "" {
					o.Token = "sg_t"
				}
			})
			header := map[string]string{"X-Stopgate-Token": "sg_t"}
			for name, value := range test.client {
				header[name] = value
			}
			if a := r.send("POST", test.path, "{}", header); a.body != test.want {
				t.Errorf("the provider received %q, want %q", a.body, test.want)
			}
		})
	}
}

// Proves K60: rules see the agent that the client names, and on_deny = "error" ends the response at
// once, while the provider is still sending.
func TestAgentAndEarlyError(t *testing.T) {
	const policy = `version = 1
[tools."*"]
uncovered = "allow"
[tools."*".policy]
run = [{ when = { agent = "intern" }, mode = "deny" }, { mode = "unattended" }]
`
	for agent, denied := range map[string]bool{"intern": true, "senior": false, "": false, "in valid": false} {
		provider := http.Handler(script{body: chatStream("tool_calls", chatCall(0, "call_1", "a", `{}`))})
		gone := make(chan int64, 1)
		if denied {
			provider = endless{begin: chatCall(0, "call_1", "a", `{"path":"x`), more: chatEvent(`{"tool_calls":[{"index":0,"function":{"arguments":"x"}}]}`, "null"), gone: gone}
		}
		r := newRig(t, policy, provider, func(o *gateway.Options) { o.Settings.OnDeny = gateway.DenyError })
		a := r.send("POST", chatPath, chatRequest(true), map[string]string{"X-Stopgate-Agent": agent})
		if got := strings.Contains(a.body, `"code":"rule_matched"`); got != denied {
			t.Errorf("agent %q: denied is %t:\n%s", agent, got, a.body)
		}
		if denied {
			<-gone
		}
		r.log.wait(t, 1)
	}
}
