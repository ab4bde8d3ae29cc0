package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/policy"
)

// policyFlags choose and load the policy; every command that decides has them.
type policyFlags struct {
	files []string
	tools string
	dir   string // where files are looked for, "" for the working directory
	again bool   // they were read before: see [config.Where]
}

func (f *policyFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.files, "policy", nil, "policy `FILE`; without it: the project's, the user's and the system's stopgate.toml")
	cmd.Flags().StringVar(&f.tools, "tools", "", "tool definitions as JSON `FILE`: a list of OpenAI, Anthropic or MCP tools")
	_ = cmd.MarkFlagFilename("policy", "toml")
	_ = cmd.MarkFlagFilename("tools", "json")
}

// loaded is a compiled policy and what it came from.
type loaded struct {
	set     config.Set
	program *policy.Program
	tools   []stopgate.ToolDefinition
}

// load finds, reads and compiles the policy and says on talk what holds. A policy
// with mistakes is a config.MistakesError.
func (f *policyFlags) load(talk io.Writer) (loaded, error) {
	return f.loadAt(talk, func(config.Set) policy.Options { return policy.Options{} })
}

// loadAt is load for a surface that knows where relative paths begin (K19).
func (f *policyFlags) loadAt(talk io.Writer, at func(config.Set) policy.Options) (loaded, error) {
	l, err := f.find(talk)
	if err != nil {
		return l, err
	}
	options := at(l.set)
	options.Definitions = l.tools
	return l, l.compile(options)
}

// find finds and reads the policy.
func (f *policyFlags) find(talk io.Writer) (l loaded, err error) {
	dir := f.dir
	if dir == "" {
		if dir, err = os.Getwd(); err != nil {
			return l, fmt.Errorf("load policy: %w", err)
		}
	}
	where := config.Standard(dir)
	where.Policy, where.Again = f.files, f.again
	if l.set, err = config.Discover(where); err != nil {
		return l, unread(err)
	}
	if l.tools, err = readTools(f.tools); err != nil {
		return l, err
	}
	l.set.Say(talk)
	return l, nil
}

// compile makes the program of what was read.
func (l *loaded) compile(o policy.Options) error {
	o.Known = knowntools.Recognise
	program, mistakes := policy.Compile(l.set.Sources(), o)
	if program == nil || mistakes.HasErrors() {
		return config.MistakesError{List: mistakes, Set: l.set}
	}
	l.program = program
	return nil
}

// mistakes returns what a list finds wrong in the files that were read, nil for nothing but
// warnings.
func (l *loaded) mistakes(list diag.List) error {
	if !list.HasErrors() {
		return nil
	}
	return config.MistakesError{List: list, Set: l.set}
}

// unread adds the way out to an error of reading a policy.
func unread(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return hinted(err, "write one with stopgate init, or name another one")
	}
	return err
}
