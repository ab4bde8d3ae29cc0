package inspect

import (
	"runtime"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/release"
)

// versionJSON is the answer of version; it changes only by addition.
type versionJSON struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func NewVersion(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{Use: "version", Short: "print the version", Args: cli.NoArgs}
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		return format.Print(s.Out, versionJSON{release.Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH}, release.Line("stopgate")+"\n")
	}
	return cmd
}
