package inputs

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/realpath"
	"github.com/stopgate/stopgate/internal/visible"
)

// WorkingIn returns the options where servers, or the agent, work in dir, which may be below
// the root. Without a home directory fewer rules permit.
func WorkingIn(set config.Set, dir, store string) policy.Options {
	o := policy.Options{Root: cmp.Or(set.Root, dir), Dir: dir}
	o.Links = &condition.Links{Real: realpath.From(o.Root), Walk: realpath.Walk(o.Root), Files: realpath.Files(realpath.Enough), Has: realpath.Has}
	o.Home, _ = os.UserHomeDir()
	o.Settings = process.Settings(config.Account{}, o.Root, store)
	return o
}

// Policy choose and load the policy; every command that decides has them.
type Policy struct {
	Files []string
	Tools string
	Dir   string // where files are looked for, "" for the working directory
	Again bool   // they were read before: see [config.Where]

	keeper *bundles.Keeper // of the bundle that the files name; nil before it is known
}

// Add adds --policy and --tools.
func (f *Policy) Add(cmd *cobra.Command) {
	f.AddFiles(cmd)
	ToolsFlag(cmd, &f.Tools, ": a list of OpenAI, Anthropic or MCP tools")
}

// AddFiles adds --policy.
func (f *Policy) AddFiles(cmd *cobra.Command) {
	PolicyFlag(cmd, &f.Files, "; without it: the project's, the user's and the system's stopgate.toml")
}

// PolicyFlag adds --policy, which names policy files; usage goes on after "policy FILE".
func PolicyFlag(cmd *cobra.Command, files *[]string, usage string) {
	cmd.Flags().StringArrayVar(files, "policy", nil, "policy `FILE`"+usage)
	_ = cmd.MarkFlagFilename("policy", "toml")
}

// ToolsFlag adds --tools, which names a file of tool definitions; usage goes on after "tool
// definitions as JSON FILE".
func ToolsFlag(cmd *cobra.Command, file *string, usage string) {
	cmd.Flags().StringVar(file, "tools", "", "tool definitions as JSON `FILE`"+usage)
	_ = cmd.MarkFlagFilename("tools", "json")
}

// Loaded is a compiled policy and its sources.
type Loaded struct {
	Set     config.Set
	Program *policy.Program
	Tools   []stopgate.ToolDefinition

	keeper *bundles.Keeper // of the bundle in the set, nil for none
}

// Load finds, reads and compiles the policy and reports on talk which files apply. A policy
// with mistakes is a config.MistakesError.
func (f *Policy) Load(talk io.Writer) (Loaded, error) {
	return f.LoadAt(talk, func(config.Set) policy.Options { return policy.Options{} })
}

// LoadAt is Load for a surface that knows where relative paths begin (K19).
func (f *Policy) LoadAt(talk io.Writer, at func(config.Set) policy.Options) (Loaded, error) {
	l, err := f.Find(talk)
	if err != nil {
		return l, err
	}
	options := at(l.Set)
	options.Definitions = l.Tools
	candidate := l.keeper != nil && l.keeper.Candidate()
	if err = l.Compile(options); err == nil || !candidate || f.Again {
		return l, err
	}
	// The newest bundle is no good: a program that begins takes the last good one.
	fmt.Fprintf(talk, "stopgate: %s: refused the newest bundle: %s\n", visible.Text(l.keeper.Channel), visible.Text(err.Error()))
	refused := err
	if l, err = f.Find(talk); err != nil {
		return l, refused
	}
	options = at(l.Set)
	options.Definitions = l.Tools
	return l, l.Compile(options)
}

// Find finds and reads the policy.
func (f *Policy) Find(talk io.Writer) (l Loaded, err error) {
	dir := f.Dir
	if dir == "" {
		if dir, err = os.Getwd(); err != nil {
			return l, fmt.Errorf("load policy: %w", err)
		}
	}
	where := config.Standard(dir)
	where.Policy, where.Again = f.Files, f.Again
	if l.Set, err = config.Discover(where); err != nil {
		return l, Unread(err)
	}
	if err := f.addBundle(talk, &l); err != nil {
		return l, err
	}
	if l.Tools, err = f.tools(l.Set); err != nil {
		return l, err
	}
	l.Set.Say(cli.Fitting(talk))
	return l, nil
}

// Compile compiles the policy. A bundle that was not in force before is then the last good one, or
// refused.
func (l *Loaded) Compile(o policy.Options) error {
	err := l.compile(o)
	if l.keeper != nil {
		err = l.keeper.Conclude(err)
	}
	return err
}

func (l *Loaded) compile(o policy.Options) error {
	o.Known = knowntools.Recognise
	program, err := compileRollout(l.Set, o)
	if err != nil {
		return err
	}
	if l.Set.Rollout == nil && program.Settings().Tables["policy"] != nil {
		return errors.New("[policy] is written in a way that was not read: write its keys plainly, without escapes")
	}
	l.Program = program
	return nil
}

// Mistakes returns the errors of a list as a config.MistakesError; it is nil for warnings only.
func (l *Loaded) Mistakes(list diag.List) error {
	if !list.HasErrors() {
		return nil
	}
	return config.MistakesError{List: list, Set: l.Set}
}

// Unread adds a remedy to an error of reading a policy.
func Unread(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Hinted(err, "write one with stopgate init, or name another one")
	}
	return err
}
