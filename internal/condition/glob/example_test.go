package glob_test

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/condition/glob"
)

// One name for all tools of a server.
func ExampleParseName() {
	name, err := glob.ParseName("github__{create,close}_*")
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range []string{"github__create_issue", "github__delete_repo"} {
		fmt.Println(tool, name.Match(tool))
	}
	_, err = glob.ParseName("github__{create")
	fmt.Println(err)
	// Output:
	// github__create_issue true
	// github__delete_repo false
	// glob: an opening brace without a closing one (at byte 8)
}
