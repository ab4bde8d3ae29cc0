package anthropic_test

import (
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/internal/provider/anthropic"
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
	var d anthropic.Dialect
	req, err := d.Request([]byte(`{"model":"m","max_tokens":1024,"messages":[{"role":"user","content":"tidy up"}],"tools":[{"name":"erase","input_schema":{"type":"object"}}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	body := d.Body(req, printed{}, provider.Options{})
	need, err := body.Decode([]byte(`{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Gladly."},{"type":"tool_use","id":"toolu_1","name":"erase","input":{"path":"src"}}],"stop_reason":"tool_use","usage":{"output_tokens":9}}`))
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
	// {"id":"msg_1","type":"message","role":"assistant","content":[{"type":"text","text":"Gladly."},{"type":"text","text":"[stopgate] The tool call `erase` was not run: Nothing is erased here (rule_matched)."}],"stop_reason":"end_turn","usage":{"output_tokens":9}}
}
