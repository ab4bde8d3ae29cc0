package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/visible"
)

func newInit(s streams) *cobra.Command {
	var kind string
	var force bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "write a first policy, with tests",
		Long: `init writes a commented policy, the cases that test it and the tool definitions that
the cases use into a directory, by default here. It overwrites nothing.`,
		Example: `  stopgate init
  stopgate init --for coding ~/project`,
		Args: atMostOne,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	cmd.Flags().StringVar(&kind, "for", "coding", "`KIND` of work: "+strings.Join(config.Kinds(), ", "))
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that are there")
	_ = cmd.RegisterFlagCompletionFunc("for", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return config.Kinds(), cobra.ShellCompDirectiveNoFileComp
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		files, err := config.StarterFor(kind)
		if err != nil {
			return usagef("--for: %w", err)
		}
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		if !force {
			if err := vacant(dir, files); err != nil {
				return err
			}
		}
		for _, f := range files {
			path := filepath.Join(dir, f.Name)
			if err := putFile(path, f.Text, force); err != nil {
				return fmt.Errorf("init: %w", err)
			}
			fmt.Fprintf(s.out, "wrote %s\n", visible.Text(path))
		}
		_, err = fmt.Fprint(s.err, nextSteps(dir))
		return err
	}
	return cmd
}

// vacant makes sure that none of the files is there, before any is written.
func vacant(dir string, files []config.StarterFile) error {
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		_, err := os.Lstat(path)
		if err == nil {
			return hintedError{fmt.Errorf("init: %s is there already; nothing was written", path), "move it away, or overwrite it with --force"}
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("init: %w", err)
		}
	}
	return nil
}

// putFile writes a new file, or with force over an old one.
func putFile(path string, text []byte, force bool) error {
	if force {
		if _, err := os.Lstat(path); err == nil {
			return replaceFile(path, text)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// nextSteps says what to do with a new policy in a directory.
func nextSteps(dir string) string {
	enter := ""
	if dir != "." {
		enter = "  cd " + visible.ShellWord(dir) + "\n"
	}
	return "\nnext:\n" + enter +
		"  stopgate test --coverage   see what it decides\n" +
		"  stopgate trust             let this project's file loosen as well as tighten; again after every change\n" +
		"  stopgate install HOST      put it into the coding agent that you have\n" +
		"  stopgate up                or in front of a model\n"
}
