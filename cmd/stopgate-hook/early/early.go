// Package early asks the resident about the event of a hook before the rest of the program
// is initialised, and ends the process if it answers.
//
// Go initialises packages in the order of their import paths, each after those that it
// imports (language specification, "Program initialization"). This one has few imports, and
// only main imports it, so that it is initialised before the policy, the store and their
// dependencies, which take longer than asking. A test checks the order.
package early

import (
	"os"

	"github.com/stopgate/stopgate/internal/hook/ask"
)

// Asked is the result if the resident did not answer.
var Asked = first()

func first() ask.Asked {
	a := ask.Resident(os.Args[1:])
	if a.Answered() {
		os.Exit(a.Write(os.Stdout, os.Stderr))
	}
	return a
}
