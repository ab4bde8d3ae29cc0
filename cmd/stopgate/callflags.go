package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/hook/process"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/realpath"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/policy/eval"
	"github.com/stopgate/stopgate/policy/match"
)

// callFlags describe one call; decide and explain share them.
type callFlags struct {
	policyFlags
	tool, session, agent string
	args, argsFile       string
	data, root           string
}

func (f *callFlags) add(cmd *cobra.Command) {
	f.policyFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "`NAME` of the tool")
	flags.StringVar(&f.args, "args", "", "the arguments as `JSON`")
	flags.StringVar(&f.argsFile, "args-file", "", "read the arguments from `FILE`; a lone - reads standard input")
	flags.StringVar(&f.session, "session", "", "`ID` of the session")
	flags.StringVar(&f.agent, "agent", "", "`NAME` of the agent")
	flags.StringVar(&f.data, "session-data", "", "the session's data as a `JSON` object, for conditions on it (default: conditions are in doubt)")
	flags.StringVar(&f.root, "root", "", "`DIR` is the root of the project, and paths lead through its files, as for a hook that works there (default: unknown, so that no absolute path is certain)")
	_ = cmd.MarkFlagDirname("root")
}

// loadCall is load with what the flags say of where the call begins.
func (f *callFlags) loadCall(talk io.Writer) (loaded, error) {
	if f.root == "" {
		return f.load(talk)
	}
	o, err := f.paths()
	if err != nil {
		return loaded{}, err
	}
	return f.loadAt(talk, func(config.Set) policy.Options { return o })
}

func (f *callFlags) paths() (o policy.Options, err error) {
	if o.Root, err = filepath.Abs(f.root); err != nil {
		return o, fmt.Errorf("find the root: %w", err)
	}
	if info, err := os.Stat(o.Root); err != nil || !info.IsDir() {
		return o, usagef("--root %s is no directory", f.root)
	}
	o.Home, _ = os.UserHomeDir() // without one, fewer rules permit
	o.Settings = process.Settings(config.Account{}, o.Root, "")
	o.Links = &match.Links{Real: realpath.From(o.Root)}
	return o, nil
}

// arguments returns the argument text exactly as it was given. A lone "-" as
// positional argument, or as the file, means standard input.
func (f *callFlags) arguments(cmd *cobra.Command, positional []string, in io.Reader) ([]byte, error) {
	sources := 0
	for _, given := range []bool{cmd.Flags().Changed("args"), f.argsFile != "", len(positional) > 0} {
		if given {
			sources++
		}
	}
	switch {
	case sources > 1:
		return nil, usagef("give the arguments once: --args, --args-file or -")
	case sources == 0:
		return nil, usagef("give the call's arguments with --args JSON, --args-file FILE, or - for standard input")
	case len(positional) > 0 && positional[0] != "-":
		return nil, usagef("unexpected argument %q; a lone - reads the call's arguments from standard input", positional[0])
	case len(positional) > 0 || f.argsFile == "-":
		text, err := io.ReadAll(io.LimitReader(in, maxLine+1))
		if err == nil && len(text) > maxLine {
			err = fmt.Errorf("longer than %d bytes", maxLine)
		}
		if err != nil {
			return nil, fmt.Errorf("read arguments: %w", err)
		}
		return text, nil
	case f.argsFile != "":
		text, err := config.ReadFile(f.argsFile, maxLine)
		if err != nil {
			return nil, fmt.Errorf("read arguments: %w", err)
		}
		return text, nil
	}
	return []byte(f.args), nil
}

// situation is the session's data as the flag gives it; without, no value, which
// leaves conditions on it in doubt.
func (f *callFlags) situation() (jsonstream.Value, error) {
	if f.data == "" {
		return jsonstream.Value{}, nil
	}
	v, err := jsonstream.Parse([]byte(f.data), jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return v, usagef("--session-data: %w", err)
	}
	return v, nil
}

// call is the call without its arguments and its definition.
func (f *callFlags) call() (stopgate.Call, error) {
	if f.tool == "" {
		return stopgate.Call{}, usagef("name the tool with --tool NAME")
	}
	session := stopgate.SessionID(f.session)
	if session == "" && f.data != "" {
		session = "session" // data belong to one
	}
	return stopgate.Call{
		Tool: stopgate.ToolName(f.tool), Session: session,
		Agent: stopgate.AgentName(f.agent), Surface: stopgate.SurfaceDecide,
	}, nil
}

// judged is a call and what the policy says of it.
type judged struct {
	stopgate.Call
	text    []byte           // the arguments as they were given
	data    jsonstream.Value // the session's, not valid if nobody gave them
	program *policy.Program
	answer
	objections []objection // of session policies
}

// explain says rule by rule what the policy alone says of the call.
func (c *judged) explain() eval.Explanation {
	e := c.program.BindUnder(c.Call, eval.Circumstances{Situation: c.program.Situation(c.data)}).Evaluate()
	e.Feed(c.text)
	e.Close(stopgate.Ended)
	return e.Explain()
}

// judge reads the call that the flags describe and decides it.
func (f *callFlags) judge(cmd *cobra.Command, s streams, args []string) (c judged, err error) {
	if c.Call, err = f.call(); err != nil {
		return c, err
	}
	if c.text, err = f.arguments(cmd, args, s.in); err != nil {
		return c, err
	}
	l, err := f.loadCall(s.err)
	if err != nil {
		return c, err
	}
	c.program, c.Definition = l.program, definitionOf(l.tools, c.Call.Tool)
	if c.data, err = f.situation(); err != nil {
		return c, err
	}
	j, err := newJudge(l)
	if err != nil {
		return c, err
	}
	if f.data != "" {
		if err := j.tell(cmd.Context(), &c.Call, c.data.Raw()); err != nil {
			return c, usagef("--session-data: %w", err)
		}
	}
	verdict, err := j.decide(cmd.Context(), c.Call, c.text)
	if err != nil {
		return c, err
	}
	c.answer, c.objections = j.answer(c.Call, verdict, len(c.text)).explained(c.explain()), j.said.objections()
	return c, nil
}
