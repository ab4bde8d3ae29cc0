package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/jsonstream"
)

// Local is a command that the policy file declares as a tool. It receives the arguments as
// one JSON object on standard input; its output is the result. The words are executed
// without a shell and without substitution.
type Local struct {
	Definition stopgate.ToolDefinition
	Command    []string
}

// commands returns the tools that start processes.
func (s *Set) commands() []tool {
	list := []tool{define("run_command",
		"Run a command line with sh in the working tree. It has no terminal and no standard input. Prints what it wrote and how it ended.",
		`{"type":"object","properties":{"command":{"type":"string","x-stopgate-type":"command"},"timeout_seconds":{"type":"integer","minimum":1,"maximum":1800}},"required":["command"],"additionalProperties":false}`,
		(*view).runCommand, nil)}
	for _, l := range s.o.Local {
		list = append(list, tool{definition: l.Definition, run: local(l)})
	}
	return list
}

func (s *view) runCommand(ctx context.Context, args jsonstream.Value) (agent.Result, error) {
	if err := s.unenforced(); err != nil {
		return agent.Result{}, err
	}
	line, err := text(args, "command", true)
	if err != nil {
		return agent.Result{}, err
	}
	seconds, err := whole(args, "timeout_seconds")
	if err != nil {
		return agent.Result{}, err
	}
	limit := s.o.Timeout
	if seconds > 0 {
		limit = min(time.Duration(seconds)*time.Second, MaxTimeout)
	}
	return s.process(ctx, []string{"sh", "-c", line}, nil, limit)
}

func local(l Local) func(*view, context.Context, jsonstream.Value) (agent.Result, error) {
	return func(s *view, ctx context.Context, args jsonstream.Value) (agent.Result, error) {
		if err := s.unenforced(); err != nil {
			return agent.Result{}, err
		}
		return s.process(ctx, l.Command, args.Raw(), s.o.Timeout)
	}
}

// process runs a program in its own process group, which is killed at the timeout or when
// ctx ends.
func (s *Set) process(ctx context.Context, words []string, input []byte, limit time.Duration) (agent.Result, error) {
	errLate := fmt.Errorf("ended after %s, as its time was over", limit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, errLate)
	defer cancel()
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = s.dir, append([]string{}, s.o.Env...)
	if input != nil {
		cmd.Stdin = bytes.NewReader(input)
	}
	out := &output{limit: s.o.Output}
	cmd.Stdout, cmd.Stderr = out, out
	group(cmd)
	cmd.WaitDelay = grace // for descendants that left the group and keep the output open
	err := cmd.Start()
	if err == nil {
		release := s.o.Hold(cmd.Process.Pid)
		err = cmd.Wait()
		end(cmd) // kill descendants
		release()
	}
	var exit *exec.ExitError
	text := strings.TrimRight(strings.ToValidUTF8(out.String(), "\uFFFD"), "\n")
	if text != "" {
		text += "\n"
	}
	switch {
	case ctx.Err() != nil:
		why := context.Cause(ctx)
		if !errors.Is(why, errLate) {
			why = errors.New("ended: the person interrupted it")
		}
		return agent.Result{Text: fmt.Sprintf("%s[%v]", text, why), Failed: true}, nil
	case errors.As(err, &exit):
		return agent.Result{Text: fmt.Sprintf("%s[%s]", text, exit.ProcessState), Failed: true}, nil
	case errors.Is(err, exec.ErrWaitDelay):
		return agent.Result{Text: text + "[exit status 0; what it left running in the background was ended]"}, nil
	case err != nil:
		return agent.Result{}, fmt.Errorf("start %s: %w", words[0], err)
	}
	return agent.Result{Text: text + "[exit status 0]"}, nil
}

// grace is how long a process may take to exit after it was signalled.
const grace = 2 * time.Second
