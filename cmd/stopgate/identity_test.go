package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/testkit/issuer"
)

// identityPolicy is a policy with an identity provider; %s is the issuer.
const identityPolicy = `version = 1
[identity.oidc]
issuer = "%s"
audience = "stopgate"
principal = "email"
groups = "groups"
[api]
listen = "127.0.0.1:0"
[api.groups.leads]
scopes = ["decide", "operate"]
[api.tokens.ci]
scopes = ["decide", "approve"]
groups = ["people"]
env = "CI_TOKEN"
[tools.fs_create_file.policy]
run = [{ when = { group = "leads" }, mode = "unattended" }, { mode = "deny", reason = "leads only" }]
[tools.echo.policy]
run = [{ when = { group = "leads" }, mode = "unattended" }, { mode = "deny", reason = "leads only" }]
`

// sent sends a request with headers and returns its status and answer.
func sent(t *testing.T, url, body string, headers map[string][]string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, values := range headers {
		r.Header[name] = values
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func bearer(tokens ...string) map[string][]string {
	var values []string
	for _, token := range tokens {
		values = append(values, "Bearer "+token)
	}
	return map[string][]string{"Authorization": values}
}

// Proves G10: the gateway, MCP over HTTP and the decision API refuse the same tokens, with the reason in the log
// and not in the answer, and decide by the groups of those that they accept. With an identity provider
// nobody is anonymous.
func TestIdentityOnEverySurface(t *testing.T) {
	i := issuer.New(t)
	dir := t.TempDir()
	policy := filepath.Join(dir, "p.toml")
	if err := os.WriteFile(policy, fmt.Appendf(nil, identityPolicy, i.URL), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CI_TOKEN", "sg_continuous-integration")
	s := startUp(t, dir, "--policy", "p.toml", "--audit", "records.jsonl")
	c := startMCP(t, dir, "--policy", policy, "--http", "127.0.0.1:0", "--", "fake-mcp-server")
	var ready struct{ MCP, Token string }
	if line, err := c.out.ReadString('\n'); err != nil || json.Unmarshal([]byte(line), &ready) != nil || ready.MCP == "" || ready.Token != "" {
		t.Fatalf("%q: %v", line, err)
	}
	surfaces := map[string]func(headers map[string][]string) (int, string){
		"gateway": func(h map[string][]string) (int, string) {
			return sent(t, s.url+"/v1/chat/completions", storeCredentials, h)
		},
		"mcp": func(h map[string][]string) (int, string) { return sent(t, ready.MCP, mcpHello, h) },
		"api": func(h map[string][]string) (int, string) {
			return sent(t, s.api+"/v1/calls", `{"tool":"fs_create_file","args":{}}`, h)
		},
	}
	ann := func(groups ...string) string {
		return i.Token(map[string]any{"email": "ann@example.com", "groups": groups, "sid": "s1"})
	}
	for name, send := range surfaces {
		for _, bad := range i.Refusals() {
			status, answer := send(bearer(bad.Token))
			if status != http.StatusUnauthorized {
				t.Errorf("%s: %s: status %d: %s", name, bad.Name, status, answer)
			}
			if bad.Reason != "" && strings.Contains(answer, bad.Reason) && bad.Reason != "key" {
				t.Errorf("%s: %s: the answer tells why: %s", name, bad.Name, answer)
			}
		}
		for what, headers := range map[string]map[string][]string{
			"nothing": nil, "two headers": bearer(ann("leads"), ann("leads")), "another scheme": {"Authorization": {"Basic " + ann("leads")}},
		} {
			if status, answer := send(headers); status != http.StatusUnauthorized {
				t.Errorf("%s: %s: status %d: %s", name, what, status, answer)
			}
		}
	}
	if status, answer := surfaces["gateway"](bearer(ann("leads"))); status != http.StatusOK || strings.Contains(answer, "was not run") {
		t.Errorf("gateway: a lead: %d %s", status, answer)
	}
	if status, answer := surfaces["gateway"](bearer(ann("people"))); status != http.StatusOK || !strings.Contains(answer, "leads only") {
		t.Errorf("gateway: a person: %d %s", status, answer)
	}
	if status, answer := surfaces["api"](bearer(ann("leads"))); status != http.StatusOK || !strings.Contains(answer, `"allowed"`) {
		t.Errorf("api: a lead: %d %s", status, answer)
	}
	if status, answer := surfaces["api"](bearer(ann("people"))); status != http.StatusForbidden {
		t.Errorf("api: a person without a scope: %d %s", status, answer)
	}
	if status, answer := surfaces["api"](bearer("sg_continuous-integration")); status != http.StatusOK || strings.Contains(answer, `"allowed"`) {
		t.Errorf("api: a token of the file: %d %s", status, answer)
	}
	if status, answer := surfaces["mcp"](bearer(ann("leads"))); status != http.StatusOK {
		t.Errorf("mcp: a lead: %d %s", status, answer)
	}
	token := ann("leads")
	form := map[string][]string{"Content-Type": {"application/x-www-form-urlencoded"}}
	if status, answer := sent(t, s.api+"/v1/logout", "logout_token="+i.Logout(map[string]any{"sid": "s1"}), form); status != http.StatusOK {
		t.Fatalf("logout: %d %s", status, answer)
	}
	for name, send := range surfaces {
		if status, answer := send(bearer(token)); name != "mcp" && status != http.StatusUnauthorized {
			t.Errorf("%s: after the logout: %d %s", name, status, answer)
		}
	}
	s.stop(t)
	log := s.stderr.String()
	for _, bad := range i.Refusals() {
		if !strings.Contains(log, bad.Reason) {
			t.Errorf("%s: the log lacks %q", bad.Name, bad.Reason)
		}
	}
	if !strings.Contains(log, "logged out") {
		t.Error("the log lacks the logout")
	}
	rows, err := os.ReadFile(filepath.Join(dir, "records.jsonl"))
	if err != nil || !strings.Contains(string(rows), `"principal":"ann@example.com","groups":["leads"]`) {
		t.Errorf("records %s, %v", rows, err)
	}
}
