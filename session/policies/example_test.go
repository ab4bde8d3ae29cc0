package policies_test

import (
	"fmt"
	"time"

	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// A registry of the three policies.
func Example() {
	registry := session.NewRegistry()
	for _, p := range []session.Policy{
		policies.Require("deploy").After("test").Within(time.Hour),
		policies.ReadBeforeWrite(),
		policies.Limit("transfer").Sum("/amount", "1000").InSession(),
	} {
		if err := registry.Register(p); err != nil {
			fmt.Println(err)
		}
	}
	for _, p := range registry.PoliciesFor("write_file") {
		fmt.Println("write_file:", p.Name())
	}
	fmt.Println(registry.Register(policies.Limit("transfer").Sum("/amount", "a lot")))
	// Output:
	// write_file: read_before_write
	// session policy "limit:transfer": invalid sum "a lot": not a decimal number that is zero or more
}
