package decide_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/policy"
)

// A program that serves the decision API next to its own pages.
func ExampleNew() {
	program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Trusted: true, Text: []byte("version = 1\n[tools.ping.policy]\nrun = \"unattended\"\n")}}, policy.Options{})
	if program == nil {
		panic(found)
	}
	g, err := gate.New(program, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		panic(err)
	}
	api, err := decide.New(decide.Options{Gate: g})
	if err != nil {
		panic(err)
	}
	defer api.Close(context.Background())
	server := httptest.NewServer(api.Handler(true)) // true: the socket is this user's only
	defer server.Close()
	resp, err := http.Post(server.URL+"/v1/calls", "application/json", strings.NewReader(`{"tool":"ping","args":{}}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, strings.Contains(string(text), `"status":"allowed"`), err)
	// Output: 200 true <nil>
}
