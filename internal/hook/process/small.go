package process

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate/internal/hook"
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

// Small runs the small program: it answers an event, or prints its help. spent is the elapsed part
// of the deadline.
func Small(args []string, spent time.Duration, s Streams) int {
	if len(args) == 1 && args[0] == "--version" {
		fmt.Fprintln(s.Out, release.Line(SmallName))
		return 0
	}
	if code, ok := (Program{Full: siblingProgram, Spent: spent}).Main(args, s); ok {
		return code
	}
	var f Flags
	set := pflag.NewFlagSet(SmallName, pflag.ContinueOnError)
	f.Add(set)
	fmt.Fprintf(s.Out, "%[1]s answers the hook of a coding agent, as stopgate hook does.\n\n"+About+"\n\n"+
		"Usage:\n  %[1]s HOST [flags]\n  %[1]s --version\n\nHosts: %[2]s\n\nFlags:\n%[3]s", SmallName, diag.OneOf(hook.Names()), set.FlagUsages())
	return 0
}

// siblingProgram returns the path of stopgate in the directory of this program.
func siblingProgram() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find stopgate in the directory of this program: %w", err)
	}
	return filepath.Join(filepath.Dir(own), "stopgate"+filepath.Ext(own)), nil
}
