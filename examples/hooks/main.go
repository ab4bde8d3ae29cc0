// Command hooks runs event policies of a gateway on one response of a model: some text and three
// calls. For each policy it prints what the client reads, and what the policy reports.
//
//	go run ./examples/hooks
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"

	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/gateway/events"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy"
)

func main() {
	if err := run(os.Stdout, true); err != nil {
		log.Fatal(err)
	}
}

// run prints the table.
func run(out io.Writer, streamed bool) error {
	for _, p := range []events.Policy{noOp{}, contentOnly{}, judge{review, 0.6}, patient{judge{review, 0.6}}, contentTransform{}, enough{}, report{}} {
		if err := show(out, p, streamed); err != nil {
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	return nil
}

const rules = `version = 1
[tools.run.policy]
run = "unattended"
`

// The calls of the model, as a stream and whole.
var (
	commands = []string{"ls", "rm -rf build", "pwd"}
	request  = `{"model":"m","stream":%t,"messages":[{"role":"user","content":"tidy up"}],"tools":[{"type":"function","function":{"name":"run","parameters":{"type":"object"}}}]}`
)

// show runs one policy.
func show(out io.Writer, p events.Policy, streamed bool) error {
	program, found := policy.Compile([]policy.Source{{Name: "stopgate.toml", Text: []byte(rules), Trusted: true}}, policy.Options{})
	if program == nil {
		return found.Err()
	}
	g, err := gate.New(program, gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return err
	}
	var mu sync.Mutex
	var reports []string
	gw, err := gateway.New(gateway.Options{
		Gate: g, Settings: gateway.DefaultSettings(), Policies: []events.Policy{p},
		Upstreams: []gateway.Upstream{{ID: "model", Transport: model{}}},
		Events: func(_ context.Context, e events.Event) {
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, fmt.Sprintf("  %s %s: %s\n", e.Type, e.Severity, e.Summary))
		},
	})
	if err != nil {
		return err
	}
	srv := httptest.NewServer(gw)
	answer, err := http.Post(srv.URL+"/v1/chat/completions", "application/json", strings.NewReader(fmt.Sprintf(request, streamed)))
	if err != nil {
		return err
	}
	body, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	srv.Close() // waits for the end of the exchange
	gw.Close()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "%s: %s\n", p.Name(), read(string(body)))
	for _, r := range reports {
		fmt.Fprint(out, r)
	}
	return nil
}

// model is a provider with one response.
type model struct{}

func (model) RoundTrip(r *http.Request) (*http.Response, error) {
	asked, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	var calls []string
	for i, c := range commands {
		calls = append(calls, fmt.Sprintf(`"id":"c%d","type":"function","function":{"name":"run","arguments":"{\"command\":\"%s\"}"}}`, i, c))
	}
	kind, body := "application/json", `{"id":"x","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Tidying up. ","tool_calls":[{`+strings.Join(calls, ",{")+`]},"finish_reason":"tool_calls"}]}`
	if strings.Contains(string(asked), `"stream":true`) {
		chunk := func(delta, finish string) string {
			return `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{` + delta + `},"finish_reason":` + finish + "}]}\n\n"
		}
		kind, body = "text/event-stream", chunk(`"role":"assistant","content":"Tidying "`, "null")+chunk(`"content":"up. "`, "null")
		for i, c := range calls {
			body += chunk(fmt.Sprintf(`"tool_calls":[{"index":%d,%s]`, i, c), "null")
		}
		body += chunk("", `"tool_calls"`) + "data: [DONE]\n\n"
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// read returns what a client reads: text, calls and the reason of the end.
func read(body string) string {
	text, reason := "", ""
	arguments := map[int]string{}
	for _, line := range strings.Split(body, "\n") {
		v, err := jsonstream.Parse([]byte(strings.TrimPrefix(line, "data: ")), jsonstream.Options{ObjectRoot: true})
		if err != nil {
			continue
		}
		choices, _ := v.Get("choices")
		for choice := range choices.Elements() {
			part, ok := choice.Get("delta")
			if !ok {
				part, _ = choice.Get("message")
			}
			content, _ := part.Get("content")
			text += content.Text()
			list, _ := part.Get("tool_calls")
			n := -1
			for call := range list.Elements() {
				n++
				index := n
				if at, ok := call.Get("index"); ok { // of a stream
					if _, err := fmt.Sscan(string(at.Raw()), &index); err != nil {
						continue
					}
				}
				function, _ := call.Get("function")
				args, _ := function.Get("arguments")
				arguments[index] += args.Text()
			}
			if r, _ := choice.Get("finish_reason"); r.Kind() == jsonstream.String {
				reason = r.Text()
			}
		}
	}
	out := fmt.Sprintf("%q", text)
	for i := range len(arguments) {
		out += " " + arguments[i]
	}
	return out + " " + reason
}
