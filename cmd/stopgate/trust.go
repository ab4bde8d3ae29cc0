package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/visible"
)

func newTrust(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "trust [FILE]",
		Short: "let a project's policy file loosen as well as tighten",
		Long: `A policy file found in a project is content of that project: it may only tighten
what your own file says. trust accepts exactly the bytes that the file has now;
after any change it has to be trusted again. A file with mistakes is not trusted.`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			path := config.FileName
			if len(args) == 1 {
				path = args[0]
			}
			dir, err := os.Getwd()
			if err != nil {
				return fmt.Errorf("trust: %w", err)
			}
			// What cannot be read loosens nothing: it would only stop every command.
			if _, err := (&policyFlags{files: []string{path}}).load(io.Discard); err != nil {
				return err
			}
			f, err := config.Trust(config.Standard(dir).UserDir, path)
			if err != nil {
				return unread(err)
			}
			fmt.Fprintf(s.out, "trusted %s (sha256 %s)\n", visible.Text(f.Path), f.Hash)
			return nil
		},
	}
}
