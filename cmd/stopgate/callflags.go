package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/jsonstream"
)

// callFlags describe one call; decide and explain share them.
type callFlags struct {
	policyFlags
	surfaceFlags
	tool, session, agent string
	args, argsFile       string
	data, root           string
}

func (f *callFlags) add(cmd *cobra.Command) {
	f.policyFlags.add(cmd)
	f.surfaceFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.tool, "tool", "", "`NAME` of the tool")
	flags.StringVar(&f.args, "args", "", "the arguments as `JSON`")
	flags.StringVar(&f.argsFile, "args-file", "", "read the arguments from `FILE`; a lone - reads standard input")
	flags.StringVar(&f.session, "session", "", "`ID` of the session")
	flags.StringVar(&f.agent, "agent", "", "`NAME` of the agent")
	flags.StringVar(&f.data, "session-data", "", "the session's data as a `JSON` object, for conditions on it (default: conditions are in doubt)")
	flags.StringVar(&f.root, "root", "", "`DIR` is the root of the project, and paths lead through its files, as for a hook that works there (default: unknown, so that no absolute path is certain; of a surface that knows it, the working directory)")
	_ = cmd.MarkFlagDirname("root")
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

// sessionData parses the flag --session-data. Without the flag there is no value, which
// leaves conditions on the data in doubt.
func sessionData(text string) (jsonstream.Value, error) {
	if text == "" {
		return jsonstream.Value{}, nil
	}
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{ObjectRoot: true})
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
		Agent: stopgate.AgentName(f.agent), Server: stopgate.ServerID(f.server),
	}, nil
}

// judged is a call and what the policy says of it.
type judged struct {
	proposal
	data    jsonstream.Value // the session's, not valid if nobody gave them
	program *policy.Program  // nil: the surface could not read the call
	answer
	objections []objection // of session policies
}

// evaluate says what the rules alone say of the call.
func (p proposal) evaluate(program *policy.Program, data jsonstream.Value) *eval.Evaluation {
	e := program.BindUnder(p.call, eval.Circumstances{Situation: program.Situation(data)}).Evaluate()
	e.Feed(p.args)
	e.Close(stopgate.Ended)
	return e
}

// explain says rule by rule what the policy alone says of the call.
func (c *judged) explain() eval.Explanation {
	if c.program == nil {
		return eval.Explanation{}
	}
	return c.evaluate(c.program, c.data).Explain()
}

// judge reads the call that the flags describe and decides it.
func (f *callFlags) judge(cmd *cobra.Command, s streams, args []string) (c judged, err error) {
	at, err := f.surface(f.root)
	if err != nil {
		return c, err
	}
	call, err := f.call()
	if err != nil {
		return c, err
	}
	text, err := f.arguments(cmd, args, s.in)
	if err != nil {
		return c, err
	}
	l, err := at.find(s.err, &f.policyFlags)
	if err != nil {
		return c, err
	}
	if c.proposal, err = at.proposes(call, text, l.tools); err != nil {
		return c, err
	}
	c.fresh, c.told = true, f.data != ""
	if err := at.compile(&l, c.proposal); err != nil {
		return c, err
	}
	if c.unread != nil {
		c.answer = at.unreadable(c.proposal, len(text))
		return c, nil
	}
	c.program = l.program
	at.hide(&c.proposal, l.program)
	if c.data, err = sessionData(f.data); err != nil {
		return c, err
	}
	j, err := newJudge(l)
	if err != nil {
		return c, err
	}
	if f.data != "" {
		if err := j.tell(cmd.Context(), &c.call, c.data.Raw()); err != nil {
			return c, usagef("--session-data: %w", err)
		}
	}
	verdict, err := j.decide(cmd.Context(), c.call, c.args)
	if err != nil {
		return c, err
	}
	c.answer = at.answers(j.answer(c.call, verdict, len(text)).explained(c.explain()), c.proposal, verdict, c.data, c.program)
	c.objections = j.said.objections()
	return c, nil
}
