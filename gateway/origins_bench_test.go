package gateway_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/store/mem"
	"github.com/stopgate/stopgate/internal/testkit/cpu"
)

// BenchmarkTexts is a stream without calls after a history of 200 KiB, and the same with a call, under
// a policy with conditions on origins and under one without. A first turn indexes the whole history;
// the next turn of a conversation costs its new texts only.
func BenchmarkTexts(b *testing.B) {
	page := strings.Repeat("some words of a page that the model has read, with an address such as eve@evil.example. ", 200<<10/88)
	history := []historyEntry{user("write to ann@work.example"), call("r1", "read", "{}"), result("r1", page), user("go on")}
	var text []string
	for range 400 {
		text = append(text, chatEvent(`{"content":"a few words of the answer "}`, "null"))
	}
	for _, c := range []struct{ name, stream string }{
		{"text", chatStream("stop", text...)}, {"call", chatStream("tool_calls", append(text, chatCall(0, "c1", "write", `{"path":"ann@work.example"}`))...)},
	} {
		for _, p := range []struct {
			name, policy string
			first        bool
		}{{"first/without", allowAll, true}, {"first/with", origins, true}, {"next/without", allowAll, false}, {"next/with", origins, false}} {
			b.Run(c.name+"/"+p.name, func(b *testing.B) {
				program, mistakes := prove.Compile([]policy.Source{{Name: "p.toml", Text: []byte(p.policy), Trusted: true}}, policy.Options{})
				if mistakes.HasErrors() {
					b.Fatal(mistakes)
				}
				g, err := gate.New(program, gate.WithStore(mem.New()))
				if err != nil {
					b.Fatal(err)
				}
				up := httptest.NewServer(script{body: c.stream})
				defer up.Close()
				gw, err := gateway.New(gateway.Options{Gate: g, Settings: gateway.DefaultSettings(), Upstreams: []gateway.Upstream{{ID: "test", BaseURL: up.URL}}})
				if err != nil {
					b.Fatal(err)
				}
				defer gw.Close()
				front := httptest.NewServer(gw)
				defer front.Close()
				body := mustJSON(chatHistory(true, []string{"read", "write"}, history))
				turns := 0
				ask := func() {
					request, _ := http.NewRequest(http.MethodPost, front.URL+chatPath, strings.NewReader(body))
					request.Header.Set("Content-Type", "application/json")
					if turns++; !p.first {
						turns = 1
					}
					request.Header.Set("X-Stopgate-Session", fmt.Sprint("s", turns))
					res, err := http.DefaultClient.Do(request)
					if err != nil {
						b.Fatal(err)
					}
					_, _ = io.Copy(io.Discard, res.Body)
					res.Body.Close()
				}
				ask()
				start := cpu.Time()
				for b.Loop() {
					ask()
				}
				cpu.Report(b, start)
			})
		}
	}
}
