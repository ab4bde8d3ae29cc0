package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/replay"
)

// A gateway in front of the built-in model, and a client that requests an operation which the
// policy does not allow.
func Example() {
	program, diags := prove.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte(`
version = 1
[tools.fs_create_file.parameters]
path = { type = "path" }
content = { type = "string" }
[tools.fs_create_file.policy]
run = [
  { arg = "/path", glob = "**/.env*", mode = "deny", reason = "secrets stay out of reach" },
  { arg = "/path", prefix = "src/", mode = "unattended" },
]
`)}}, policy.Options{})
	if diags.HasErrors() {
		fmt.Println(diags)
		return
	}
	g, err := gate.New(program, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		fmt.Println(err)
		return
	}
	model, err := replay.New(replay.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	gw, err := gateway.New(gateway.Options{Gate: g, Settings: gateway.DefaultSettings(), Replay: replay.Transport(model)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gw.Close()
	server := httptest.NewServer(gw) // or gw.Serve with a listener
	defer server.Close()

	res, err := http.Post(server.URL+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"stopgate-denied","stream":true,"messages":[{"role":"user","content":"store the credentials"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("answered by", res.Header.Get("X-Stopgate-Upstream"))
	fmt.Println(regexp.MustCompile(`\[stopgate\][^"]*`).FindString(string(body)))
	fmt.Println("the call reached the client:", strings.Contains(string(body), "tool_calls"))
	// Output:
	// answered by replay
	// [stopgate] The tool call `fs_create_file` was not run: secrets stay out of reach (rule_matched). The answer was stopped at this call: tool calls that would have followed it were not made.
	// the call reached the client: false
}
