package operate

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/hook/resident"
)

func newHookServe() *cobra.Command {
	var f resident.Flags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "answer the hooks of this user until it is stopped",
		Long:  resident.About,
		Example: `  stopgate hook serve --idle 2h
  stopgate hook serve --status`,
		Args: cobra.NoArgs,
	}
	f.Add(cmd.Flags())
	// The small program serves: it believes only its own file.
	cmd.RunE = func(*cobra.Command, []string) error {
		own, err := os.Executable()
		if err == nil {
			program := filepath.Join(filepath.Dir(own), process.SmallName+filepath.Ext(own))
			err = syscall.Exec(program, append([]string{process.SmallName}, f.Words()...), os.Environ())
		}
		return cli.Hinted(fmt.Errorf("start %s: %w", process.SmallName, err), "it belongs beside stopgate: go install .../cmd/... makes both")
	}
	return cmd
}
