package flow_test

import (
	"fmt"

	"github.com/stopgate/stopgate/flow"
)

// A kind is parsed from its name in policy files.
func ExampleParseKind() {
	kind, err := flow.ParseKind("email")
	fmt.Println(kind == flow.Email, err)
	// Output: true <nil>
}
