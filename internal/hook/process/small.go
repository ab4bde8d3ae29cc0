package process

import (
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/release"
)

// SmallName is the name of the program that links only what a hook needs.
const SmallName = "stopgate-hook"

// About is the help text of hooks.
const About = `hook reads one event of a coding agent from standard input, decides, and answers
in the form that this agent enforces. The agent starts it; see stopgate install.

Whatever goes wrong - an event that cannot be read, a policy with mistakes, a store
that is locked, a panic, the deadline - is a denial.`

// Small runs the small program: it writes the answer of the resident, answers an event, or prints its
// help. asked is the result of asking the resident.
func Small(args []string, asked ask.Asked, s Streams) int {
	switch {
	case asked.Answered():
		return asked.Write(s.Out, s.Err)
	case len(args) > 0 && args[0] == "serve":
		return serve(args, s)
	case len(args) == 1 && args[0] == "--version":
		fmt.Fprintln(s.Out, release.Line(SmallName))
		return 0
	}
	s.In = asked.Input()
	if code, ok := (Program{Full: ask.Full, Spent: asked.Spent, Nonce: asked.Nonce}).Main(args, s); ok {
		return code
	}
	var f Flags
	set := pflag.NewFlagSet(SmallName, pflag.ContinueOnError)
	f.Add(set)
	fmt.Fprintf(s.Out, "%[1]s answers the hook of a coding agent, as stopgate hook does.\n\n"+About+"\n\n"+
		"Usage:\n  %[1]s HOST [flags]\n  %[1]s serve [flags]\n  %[1]s --version\n\nHosts: %[2]s\n\nFlags:\n%[3]s", SmallName, diag.OneOf(hook.Names()), set.FlagUsages())
	return 0
}

// serve becomes `stopgate hook serve`. Only its status is of this program: whether it believes the
// process that serves.
func serve(args []string, s Streams) int {
	if slices.Contains(args, "--status") {
		return Status(s)
	}
	full, err := ask.Full()
	if err == nil {
		err = syscall.Exec(full, append([]string{"stopgate", "hook"}, args...), os.Environ())
	}
	fmt.Fprintf(s.Err, "stopgate: start %s: %v; it belongs in the directory of %s\n", full, err, SmallName)
	return exitTrouble
}

// Status prints what the resident reports about itself, or why this program asks none, and returns the
// exit status.
func Status(s Streams) int {
	text, ok := ask.Status()
	if !ok {
		fmt.Fprintf(s.Err, "stopgate: no resident answers hooks: %s\n", text)
		return exitTrouble
	}
	fmt.Fprint(s.Out, text)
	return 0
}
