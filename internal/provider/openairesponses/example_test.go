package openairesponses_test

import (
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/openairesponses"
)

// printed prints the calls of a response.
type printed struct{}

func (printed) Event(e *stopgate.Event) {
	switch e.Kind {
	case stopgate.CallStarted:
		fmt.Println("call of", e.Tool)
	case stopgate.CallArguments:
		fmt.Printf("with %s\n", e.Args)
	}
}

// An unstreamed response with a call that may not run: the client gets the response with a text in
// place of the call. Package provider shows a stream.
func ExampleDialect_Body() {
	var d openairesponses.Dialect
	req, err := d.Request([]byte(`{"model":"m","input":"tidy up","tools":[{"type":"function","name":"erase"}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	body := d.Body(req, printed{}, provider.Options{})
	need, err := body.Decode([]byte(`{"id":"resp_1","object":"response","status":"completed","output":[{"id":"fc_1","type":"function_call","status":"completed","call_id":"call_1","name":"erase","arguments":"{\"path\":\"src\"}"}]}`))
	if err != nil || need != provider.Resolve {
		fmt.Println(need, err)
		return
	}
	denied := provider.CallOutcome{Call: 0, Text: provider.DenialText("erase", true, "Nothing is erased here.", stopgate.CodeRuleMatched)}
	out, err := body.Release(nil, []provider.CallOutcome{denied})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", out)
	// Output:
	// call of erase
	// with {"path":"src"}
	// {"id":"resp_1","object":"response","status":"completed","output":[{"id":"msg_stopgate_fc_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"[stopgate] The tool call `erase` was not run: Nothing is erased here (rule_matched)."}]}]}
}
