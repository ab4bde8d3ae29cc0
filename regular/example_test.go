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

	_, err = regular.Compile(`^(a+) \1$`)
	fmt.Println(err)
	// Output:
	// true false true
	// pattern: backreferences are not supported at byte 6 (list the values with enum, or write several rules)
}
