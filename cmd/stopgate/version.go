package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/release"
)

// versionJSON is what version writes for programs; it changes only by addition.
type versionJSON struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func newVersion(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "print the version", Args: cli.NoArgs}
	format := cli.FormatFlag(cmd, "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *format == "json" {
			return cli.WriteJSON(s.Out, versionJSON{release.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH})
		}
		printVersion(s.Out)
		return nil
	}
	return cmd
}

// printVersion is version for people.
func printVersion(w io.Writer) { fmt.Fprintln(w, release.Line("stopgate")) }
