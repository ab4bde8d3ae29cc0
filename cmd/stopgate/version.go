package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/stopgate/stopgate/internal/release"
)

// versionJSON is what version writes for programs; it changes only by addition.
type versionJSON struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func newVersion(s streams) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "print the version", Args: noArgs}
	format := formatFlag(cmd, "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		if *format == "json" {
			return writeJSON(s.out, versionJSON{release.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH})
		}
		printVersion(s.out)
		return nil
	}
	return cmd
}

// printVersion is version for people.
func printVersion(w io.Writer) { fmt.Fprintln(w, release.Line("stopgate")) }
