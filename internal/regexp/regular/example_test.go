package regular_test

import (
	"fmt"

	"github.com/stopgate/stopgate/internal/regexp/regular"
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

func ExampleLanguage() {
	p, err := regular.Compile(`^[a-z]+$`)
	if err != nil {
		fmt.Println(err)
		return
	}
	words, git := p.Language(), regular.Prefix("git ")
	yes, _ := words.Includes(regular.OneOf("status", "log"), regular.DefaultBudget)
	fmt.Println(yes)
	fmt.Println(words.Includes(regular.OneOf("status", "git log"), regular.DefaultBudget))
	fmt.Println(regular.Intersect(words, git).Empty(regular.DefaultBudget))
	// Output:
	// yes
	// no git log
	// yes
}

func ExampleJoin() {
	a := regular.Join(regular.Prefix("rm"), regular.OneOf("rmdir", "ls"))
	s := a.Start()
	for text := []byte("rm -rf"); len(text) > 0; {
		n, changed := a.Feed(&s, text)
		text = text[n:]
		if changed {
			fmt.Printf("accepted %b, rejected %b, left %q\n", a.Accepted(&s), a.Rejected(&s), text)
		}
	}
	// Output:
	// accepted [1], rejected [0], left " -rf"
	// accepted [1], rejected [10], left "-rf"
}
