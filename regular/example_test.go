package regular_test

import (
	"fmt"

	"github.com/stopgate/stopgate/regular"
)

func Example() {
	p, err := regular.Compile(`^git (status|log)( --oneline)?$`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Match([]byte("git log --oneline")), p.Match([]byte("git status; rm x")), p.AnchoredBothEnds())

	_, err = regular.Compile(`^(?!rm)`)
	fmt.Println(err)
	// Output:
	// true false true
	// pattern: negative lookaround is not supported at byte 1 (describe what is allowed, or put a restrictive rule above)
}
