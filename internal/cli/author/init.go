package author

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/system/tty"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewInit(s cli.Streams) *cobra.Command {
	var kind string
	var force bool
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "write a first policy, with tests",
		Long: `init writes a commented policy, the cases that test it and the tool definitions that
the cases use into a directory, by default here. It overwrites nothing. At a terminal it
asks whether the file may loosen too, as stopgate trust would. stopgate start writes a
policy for this very project, and installs it.`,
		Example: `  stopgate init
  stopgate init --for coding ~/project`,
		Args: cli.AtMostOne,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	cmd.Flags().StringVar(&kind, "for", "coding", "`KIND` of work: "+strings.Join(config.Kinds(), ", "))
	cmd.Flags().BoolVar(&force, "force", false, "overwrite files that are there")
	format := cli.FormatFlag(cmd)
	cli.CompleteFlag(cmd, "for", config.Kinds()...)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		files, err := config.StarterFor(kind)
		if err != nil {
			return cli.Usagef("--for: %w", err)
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
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("init: %w", err)
		}
		written := initJSON{Files: []string{}}
		for _, f := range files {
			path := filepath.Join(dir, f.Name)
			if err := writeNew(path, f.Text, force); err != nil {
				return fmt.Errorf("init: %w", err)
			}
			written.Files = append(written.Files, path)
			if *format == "text" {
				fmt.Fprintf(s.Out, "wrote %s\n", visible.Text(path))
			}
		}
		policy := filepath.Join(dir, config.FileName)
		if written.Trusted, err = offerTrust(s, policy, files); err != nil {
			return err
		}
		if *format == "json" {
			return cli.WriteJSON(s.Out, written)
		}
		if written.Trusted {
			fmt.Fprintf(s.Out, "trusted %s\n", visible.Text(policy))
		}
		_, err = fmt.Fprint(s.Err, nextSteps(dir, written.Trusted))
		return err
	}
	return cmd
}

// writeNew creates a file, or with force rewrites one that exists.
func writeNew(path string, text []byte, force bool) error {
	if force {
		if _, err := os.Lstat(path); err == nil {
			return atomicfile.Rewrite(path, text)
		}
	}
	return atomicfile.Create(path, text, 0o644)
}

// initJSON is the report of init; it changes only by addition.
type initJSON struct {
	Files   []string `json:"files"` // the policy first
	Trusted bool     `json:"trusted"`
}

// vacant makes sure that none of the files is there, before any is written.
func vacant(dir string, files []config.StarterFile) error {
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		_, err := os.Lstat(path)
		if err == nil {
			return cli.Hinted(fmt.Errorf("init: %s is there already; nothing was written", path), "move it away, or overwrite it with --force")
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("init: %w", err)
		}
	}
	return nil
}

// offerTrust asks the person at the terminal, if there is one, whether the policy that was just
// written may loosen too; otherwise it may only tighten (H20). Input from before the question is
// dropped.
func offerTrust(s cli.Streams, path string, files []config.StarterFile) (trusted bool, err error) {
	in, ok := s.In.(*os.File)
	if !ok || !tty.Is(in) {
		return false, nil
	}
	t, err := tty.Open()
	if err != nil {
		return false, nil // there is no terminal
	}
	defer func() { err = errors.Join(err, t.Close()) }()
	t.Drain()
	fmt.Fprint(t, "\nMay this file also let calls run, or only hold them back? A project's file loosens nothing\nuntil you trust its bytes. Trust them? [Y/n] ")
	answer, err := t.Line()
	if err != nil {
		return false, nil
	}
	if answer = strings.ToLower(strings.TrimSpace(answer)); answer != "" && answer != "y" && answer != "yes" {
		return false, nil
	}
	set, err := config.Discover(config.Where{Policy: []string{path}})
	if err != nil {
		return false, err
	}
	written := slices.IndexFunc(files, func(f config.StarterFile) bool { return f.Name == config.FileName })
	if written < 0 || !bytes.Equal(set.Files[0].Text, files[written].Text) {
		return false, fmt.Errorf("init: %s is not what was written: it was not trusted", visible.Text(path))
	}
	if err := config.Trust(config.Standard(".").UserDir, set.Files[0]); err != nil {
		return false, err
	}
	return true, nil
}

// nextSteps lists the next commands after init in a directory.
func nextSteps(dir string, trusted bool) string {
	enter := ""
	if dir != "." {
		enter = "  cd " + visible.ShellWord(dir) + "\n"
	}
	trust := "  stopgate trust             let this project's file loosen as well as tighten; again after every change\n"
	if trusted {
		trust = "  stopgate trust             again after every change of the file\n"
	}
	return "\nnext:\n" + enter +
		"  stopgate test --coverage   see what it decides\n" +
		trust +
		"  stopgate start             put it into the coding agents and before the MCP servers that are here\n" +
		"  stopgate install HOST      or into one agent\n" +
		"  stopgate up                or in front of a model\n"
}
