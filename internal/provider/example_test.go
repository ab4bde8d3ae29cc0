package provider_test

import (
	"fmt"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openaichat"
	"github.com/stopgate/stopgate/internal/provider/sse"
)

// tally is a sink that collects the calls of a response. The sink of the gateway passes
// them to the gate.
type tally struct{ calls []proposed }

type proposed struct {
	tool stopgate.ToolName
	args []byte
}

func (t *tally) Event(e *stopgate.Event) {
	switch e.Kind {
	case stopgate.CallStarted:
		t.calls = append(t.calls, proposed{tool: e.Tool})
	case stopgate.CallArguments:
		t.calls[e.Call].args = append(t.calls[e.Call].args, e.Args...)
	}
}

// outcomes allows every call except those of one tool.
func (t *tally) outcomes(denied stopgate.ToolName) []provider.CallOutcome {
	var all []provider.CallOutcome
	for i, c := range t.calls {
		all = append(all, provider.CallOutcome{
			Call: i, Allowed: c.tool != denied, Args: c.args,
			Text: provider.DenialText(c.tool, true, "Nothing is erased here.", stopgate.CodeRuleMatched),
		})
	}
	return all
}

// A model streams two calls, one of which is denied: the client receives the other call and
// a text for the denied one.
func Example() {
	dialect := openaichat.Dialect{}
	req, err := dialect.Request([]byte(`{"model":"m","stream":true,"messages":[{"role":"user","content":"tidy up"}],
		"tools":[{"type":"function","function":{"name":"list"}},{"type":"function","function":{"name":"erase"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := strings.NewReader(`data: {"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"Gladly."},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"erase","arguments":"{\"path\":\"src\"}"}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"b","type":"function","function":{"name":"list","arguments":"{"}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"function":{"arguments":"}"}}]},"finish_reason":null}]}

data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

`)
	var calls tally
	stream := dialect.Stream(req, &calls, provider.Options{})
	decoder := sse.NewDecoder(make([]byte, 8<<10), sse.Limits{})
	defer decoder.Close()
	var ev sse.Event
	var out []byte
	for {
		n, eof := answer.Read(decoder.Space())
		decoder.Filled(n)
		for {
			ok, err := decoder.Next(&ev)
			if err != nil {
				out = stream.Abort(out, stopgate.CodeLimitExceeded, "")
				break
			}
			if !ok {
				break
			}
			var need provider.Need
			if out, need, err = stream.Event(out, &ev); err != nil {
				out = stream.Abort(out, stopgate.CodeProtocolViolation, "")
				break
			}
			if need == provider.Resolve {
				if out, err = stream.Release(out, calls.outcomes("erase"), nil); err != nil {
					fmt.Println(err)
					return
				}
			}
		}
		if eof != nil {
			break
		}
	}
	fmt.Println(strings.TrimSpace(string(out)))
	// Output:
	// data: {"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":"Gladly."},"finish_reason":null}]}
	//
	// data: {"id":"x","choices":[{"index":0,"delta":{"content":"\n\n[stopgate] The tool call `erase` was not run: Nothing is erased here (rule_matched)."},"finish_reason":null}]}
	//
	// data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"b","type":"function","function":{"name":"list","arguments":""}}]},"finish_reason":null}]}
	//
	// data: {"id":"x","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":null}]}
	//
	// data: {"id":"x","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
	//
	// data: [DONE]
}
