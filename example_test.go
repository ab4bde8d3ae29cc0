package stopgate_test

import (
	"encoding/json"
	"fmt"

	"github.com/stopgate/stopgate"
)

// The envelope is what a model reads of a call, whichever way it ended.
func ExampleOutcome_Envelope() {
	for _, out := range []stopgate.Outcome{
		{Status: stopgate.Allowed},
		{Verdict: stopgate.Verdict{Code: "no_refunds", Public: "Refunds are closed."}},
	} {
		text, err := json.Marshal(out.Envelope().WithData([]byte(`{"exit":0}`)))
		fmt.Println(string(text), err)
	}
	// Output:
	// {"status":"ok","code":null,"publicReason":null,"data":{"exit":0}} <nil>
	// {"status":"denied","code":"no_refunds","publicReason":"Refunds are closed.","data":null} <nil>
}
