// Command stopgate-hook answers the hooks of coding agents, as `stopgate hook` does:
//
//	stopgate-hook claude-code < event.json
//
// An agent starts it once for every call of a tool and waits for its answer, so it links
// only what almost every call needs. It belongs in the directory of the stopgate of the same
// version, to which it leaves the rest; see package internal/hook/process. If that one serves
// (`stopgate hook serve`), it asks it before anything else; see package early.
package main

import (
	"fmt"
	"os"
	"runtime"

	"github.com/stopgate/stopgate/cmd/stopgate-hook/early"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/release"
)

func main() {
	if why := release.Unsupported(runtime.GOOS); why != "" {
		fmt.Fprintf(os.Stderr, "stopgate: %s; the call is blocked\n", why)
		os.Exit(2) // any other status would let the call run
	}
	os.Exit(process.Small(os.Args[1:], early.Asked, process.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
