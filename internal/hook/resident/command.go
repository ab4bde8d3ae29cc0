package resident

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/process"
)

// DefaultIdle is the time without events after which a resident ends.
const DefaultIdle = 30 * time.Minute

// Flags are the flags of `serve`.
type Flags struct {
	Idle   time.Duration
	Status bool
}

// Add declares the flags.
func (f *Flags) Add(set *pflag.FlagSet) {
	set.DurationVar(&f.Idle, "idle", DefaultIdle, "end when there was no event for this long; 0 for never")
	set.BoolVar(&f.Status, "status", false, "say whether one answers, and of which version")
}

// Words returns an equivalent command line of the small program.
func (f *Flags) Words() []string {
	words := []string{"serve", "--idle", f.Idle.String()}
	if f.Status {
		words = append(words, "--status")
	}
	return words
}

// About is the help text of serve.
const About = `serve answers the hooks of this user's coding agents until it is stopped. It keeps
the compiled policy and the open store, so that stopgate-hook need not make them anew
for every call: while serve runs, it asks, and otherwise it decides itself. Nothing
else changes: policy files are read for each call, and every answer is the same.

stopgate-hook believes only a process that runs its very own file as the same user
and sees the same files (Linux). What it does not believe, or what does not answer in
time, it does without.`

// Program runs the small program: asked is the result of asking the resident.
func Program(args []string, asked ask.Asked, s process.Streams) int {
	if asked.Answered() {
		return asked.Write(s.Out, s.Err)
	}
	if len(args) > 0 && args[0] == "serve" {
		return command(args[1:], s)
	}
	s.In = asked.Input()
	return process.Small(args, asked.Spent, s)
}

// command is `serve`.
func command(args []string, s process.Streams) int {
	const trouble, usage = 1, 64
	var f Flags
	set := pflag.NewFlagSet("serve", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	f.Add(set)
	err := set.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(s.Out, "%s\n\nUsage:\n  %s serve [flags]\n\nFlags:\n%s", About, process.SmallName, set.FlagUsages())
		return 0
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("serve takes no argument: %q", set.Arg(0))
	}
	if err != nil {
		fmt.Fprintf(s.Err, "stopgate: %v\n", err)
		return usage
	}
	if f.Status {
		text, ok := ask.Status()
		if !ok {
			fmt.Fprintf(s.Err, "stopgate: no resident answers hooks: %s\n", text)
			return trouble
		}
		fmt.Fprint(s.Out, text)
		return 0
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := Serve(ctx, Options{Idle: f.Idle, Log: s.Err}); err != nil {
		fmt.Fprintf(s.Err, "stopgate: hook serve: %v\n", err)
		return trouble
	}
	return 0
}
