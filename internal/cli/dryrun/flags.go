package dryrun

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/trial"
	"github.com/stopgate/stopgate/jsonstream"
)

// Flags describe one call; decide and explain share them.
type Flags struct {
	inputs.Policy
	surfaceFlags
	textFlags
	Tool, Session, Agent string
	Args, ArgsFile       string
	Data, Root           string
	Groups               []string
}

func (f *Flags) Add(cmd *cobra.Command) {
	f.Policy.Add(cmd)
	f.surfaceFlags.add(cmd)
	f.textFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.Tool, "tool", "", "`NAME` of the tool")
	flags.StringVar(&f.Args, "args", "", "the arguments as `JSON`")
	flags.StringVar(&f.ArgsFile, "args-file", "", "read the arguments from `FILE`; a lone - reads standard input")
	flags.StringVar(&f.Session, "session", "", "`ID` of the session")
	flags.StringVar(&f.Agent, "agent", "", "`NAME` of the agent")
	flags.StringArrayVar(&f.Groups, "group", nil, "`NAME` of a group of the caller, several times for several; an empty name is no group (default: conditions on groups are in doubt)")
	flags.StringVar(&f.Data, "session-data", "", "the session's data as a `JSON` object, for conditions on it (default: conditions are in doubt)")
	flags.StringVar(&f.Root, "root", "", "`DIR` is the root of the project, and paths lead through its files, as for a hook that works there (default: unknown, so that no absolute path is certain; of a surface that knows it, the working directory)")
	_ = cmd.MarkFlagDirname("root")
	f.Policy.CompleteTools(cmd, "tool")
}

// arguments returns the argument text exactly as it was given. A lone "-" as
// positional argument, or as the file, means standard input.
func (f *Flags) arguments(cmd *cobra.Command, positional []string, in io.Reader) ([]byte, error) {
	sources := 0
	for _, given := range []bool{cmd.Flags().Changed("args"), f.ArgsFile != "", len(positional) > 0} {
		if given {
			sources++
		}
	}
	switch {
	case sources > 1:
		return nil, cli.Usagef("give the arguments once: --args, --args-file or -")
	case sources == 0:
		return nil, cli.Usagef("give the call's arguments with --args JSON, --args-file FILE, or - for standard input")
	case len(positional) > 0 && positional[0] != "-":
		return nil, cli.Usagef("unexpected argument %q; a lone - reads the call's arguments from standard input", positional[0])
	case len(positional) > 0 || f.ArgsFile == "-":
		text, err := io.ReadAll(io.LimitReader(in, inputs.MaxLine+1))
		if err == nil && len(text) > inputs.MaxLine {
			err = fmt.Errorf("longer than %d bytes", inputs.MaxLine)
		}
		if err != nil {
			return nil, fmt.Errorf("read arguments: %w", err)
		}
		return text, nil
	case f.ArgsFile != "":
		text, err := config.ReadFile(f.ArgsFile, inputs.MaxLine)
		if err != nil {
			return nil, fmt.Errorf("read arguments: %w", err)
		}
		return text, nil
	}
	return []byte(f.Args), nil
}

// SessionData parses the flag --session-data. Without the flag there is no value, which
// leaves conditions on the data in doubt.
func SessionData(text string) (jsonstream.Value, error) {
	if text == "" {
		return jsonstream.Value{}, nil
	}
	v, err := jsonstream.Parse([]byte(text), jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return v, cli.Usagef("--session-data: %w", err)
	}
	return v, nil
}

// call is the call without its arguments and its definition.
func (f *Flags) call() (stopgate.Call, error) {
	if f.Tool == "" {
		return stopgate.Call{}, cli.Usagef("name the tool with --tool NAME")
	}
	session := stopgate.SessionID(f.Session)
	if session == "" && (f.Data != "" || f.given()) {
		session = "session" // data and texts belong to one
	}
	groups, err := f.KnownGroups()
	return stopgate.Call{
		Tool: stopgate.ToolName(f.Tool), Session: session, Groups: groups,
		Agent: stopgate.AgentName(f.Agent), Server: stopgate.ServerID(f.Server),
	}, err
}

// KnownGroups parses the flags --group. Without one the groups are not known.
func (f *Flags) KnownGroups() (stopgate.Groups, error) {
	if len(f.Groups) == 0 {
		return stopgate.Groups{}, nil
	}
	names := f.Groups
	if len(names) == 1 && names[0] == "" {
		names = nil
	}
	groups, err := stopgate.GroupsOf(names...)
	if err != nil {
		return groups, cli.Usagef("--group: %w", err)
	}
	return groups, nil
}

// Call is a call and its verdict.
type Call struct {
	Proposal
	data    jsonstream.Value // the session's, not valid if none was given
	Program *policy.Program  // nil: the surface could not read the call
	Answer
	Objections []trial.Objection // of session policies
}

// evaluate evaluates the call by the rules alone.
func (p Proposal) evaluate(program *policy.Program, data jsonstream.Value) *eval.Evaluation {
	e := program.BindUnder(p.Call, eval.Circumstances{Situation: program.Situation(p.Call.Groups, data, p.texts)}).EvaluateWith(p.texts)
	e.Feed(p.Args)
	e.Close(stopgate.Ended)
	return e
}

// Explain returns the evaluation of the call by the rules alone, rule by rule.
func (c *Call) Explain() eval.Explanation {
	if c.Program == nil {
		return eval.Explanation{}
	}
	return c.evaluate(c.Program, c.data).Explain()
}

// Decide reads the call that the flags describe and decides it.
func (f *Flags) Decide(cmd *cobra.Command, s cli.Streams, args []string) (c Call, err error) {
	at, err := f.Surface(f.Root)
	if err != nil {
		return c, err
	}
	call, err := f.call()
	if err != nil {
		return c, err
	}
	text, err := f.arguments(cmd, args, s.In)
	if err != nil {
		return c, err
	}
	l, err := at.Find(s.Err, &f.Policy)
	if err != nil {
		return c, err
	}
	if c.Proposal, err = at.Proposes(call, text, l.Tools); err != nil {
		return c, err
	}
	c.fresh, c.told = true, f.Data != ""
	if err := at.Compile(&l, c.Proposal); err != nil {
		return c, err
	}
	if c.Unread != nil {
		c.Answer = at.Unreadable(c.Proposal, len(text))
		return c, nil
	}
	c.Program = l.Program
	at.Hide(&c.Proposal, l.Program)
	if c.data, err = SessionData(f.Data); err != nil {
		return c, err
	}
	j, err := NewDecider(l)
	if err != nil {
		return c, err
	}
	if f.Data != "" {
		if err := j.SetData(cmd.Context(), &c.Call, c.data.Raw()); err != nil {
			return c, cli.Usagef("--session-data: %w", err)
		}
	}
	if f.given() {
		list, err := f.read()
		if err != nil {
			return c, err
		}
		if err := j.AddTexts(cmd.Context(), &c.Call, list, true); err != nil {
			return c, err
		}
		c.texts = trial.ViewOf(l.Program.Reader(), list)
	}
	verdict, err := j.Decide(cmd.Context(), c.Call, c.Args)
	if err != nil {
		return c, err
	}
	c.Answer = at.Answers(Answer{j.Decider.Answer(c.Call, verdict, len(text)).Explained(c.Explain())}, c.Proposal, verdict, c.data, c.Program)
	c.Objections = j.Objections()
	return c, nil
}
