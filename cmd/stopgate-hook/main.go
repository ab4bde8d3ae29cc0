// Command stopgate-hook answers the hooks of coding agents, as `stopgate hook` does:
//
//	stopgate-hook claude-code < event.json
//
// An agent starts it once for every call of a tool and waits for its answer, so it links
// only what almost every call needs. It belongs beside the stopgate of the same version,
// to which it leaves the rest; see package hook/process.
package main

import (
	"os"

	"github.com/stopgate/stopgate/hook/process"
)

func main() {
	os.Exit(process.Small(os.Args[1:], process.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
