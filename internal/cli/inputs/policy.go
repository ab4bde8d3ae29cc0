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
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/system/realpath"
)

// WorkingIn is what is known where servers work in dir, which may be below the root.
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
}

func (f *Policy) Add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.Files, "policy", nil, "policy `FILE`; without it: the project's, the user's and the system's stopgate.toml")
	cmd.Flags().StringVar(&f.Tools, "tools", "", "tool definitions as JSON `FILE`: a list of OpenAI, Anthropic or MCP tools")
	_ = cmd.MarkFlagFilename("policy", "toml")
	_ = cmd.MarkFlagFilename("tools", "json")
}

// Loaded is a compiled policy and what it came from.
type Loaded struct {
	Set     config.Set
	Program *policy.Program
	Tools   []stopgate.ToolDefinition
}

// Load finds, reads and compiles the policy and says on talk what holds. A policy
// with mistakes is a config.MistakesError.
func (f *Policy) Load(talk io.Writer) (Loaded, error) {
	return f.LoadAt(talk, func(config.Set) policy.Options { return policy.Options{} })
}

// LoadAt is load for a surface that knows where relative paths begin (K19).
func (f *Policy) LoadAt(talk io.Writer, at func(config.Set) policy.Options) (Loaded, error) {
	l, err := f.Find(talk)
	if err != nil {
		return l, err
	}
	options := at(l.Set)
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
	if l.Tools, err = ReadTools(f.Tools); err != nil {
		return l, err
	}
	l.Set.Say(talk)
	return l, nil
}

// Compile makes the program of what was read.
func (l *Loaded) Compile(o policy.Options) error {
	o.Known = knowntools.Recognise
	program, mistakes := prove.Compile(l.Set.Sources(), o)
	if program == nil || mistakes.HasErrors() {
		return config.MistakesError{List: mistakes, Set: l.Set}
	}
	l.Program = program
	return nil
}

// Mistakes returns what a list finds wrong in the files that were read, nil for nothing but
// warnings.
func (l *Loaded) Mistakes(list diag.List) error {
	if !list.HasErrors() {
		return nil
	}
	return config.MistakesError{List: list, Set: l.Set}
}

// Unread adds the way out to an error of reading a policy.
func Unread(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return cli.Hinted(err, "write one with stopgate init, or name another one")
	}
	return err
}
