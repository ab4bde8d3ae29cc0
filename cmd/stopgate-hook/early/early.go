// Package early asks the resident about the event of a hook before the rest of the program
// is initialised, and ends the process if it answers.
//
// Go initialises packages in the order of their import paths, each after those that it
// imports (language specification, "Program initialization"). This one imports almost
// nothing and nothing imports it but main, so that it comes before the policy, the store
// and what they link, whose initialisation takes longer than asking. A test holds that.
package early

import (
	"os"

	"github.com/stopgate/stopgate/internal/hook/ask"
)

// Asked is what came of it, where that was no answer.
var Asked = first()

func first() ask.Asked {
	a := ask.Resident(os.Args[1:])
	if a.Answered() {
		os.Exit(a.Write(os.Stdout, os.Stderr))
	}
	return a
}
