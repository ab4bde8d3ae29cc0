package author

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/visible"
)

func NewTrust(s cli.Streams) *cobra.Command {
	var list, revoke bool
	cmd := &cobra.Command{
		Use:   "trust [FILE|DIR]",
		Short: "let a project's policy file loosen as well as tighten",
		Long: `A policy file found in a project is content of that project: it may only tighten
what your own file says. trust accepts exactly the bytes that the file has now;
after any change it has to be trusted again. A file with mistakes is not trusted.`,
		Example: `  stopgate trust
  stopgate trust --list
  stopgate trust --revoke ../other/stopgate.toml`,
		Args: cli.AtMostOne,
	}
	cmd.Flags().BoolVar(&list, "list", false, "list what is trusted, and do nothing else")
	cmd.Flags().BoolVar(&revoke, "revoke", false, "take back the trust in FILE: in its bytes, and in all that stood at its path")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path := config.FileName
		if len(args) == 1 {
			path = args[0]
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			path = filepath.Join(path, config.FileName)
		}
		dir, err := os.Getwd()
		if err != nil {
			return fmt.Errorf("trust: %w", err)
		}
		userDir := config.Standard(dir).UserDir
		switch {
		case list && (revoke || len(args) > 0):
			return cli.Usagef("--list takes no file and no --revoke")
		case list:
			grants, err := config.Grants(userDir)
			if err != nil {
				return err
			}
			return cli.PrintList(s, *format, grants, "no policy file of a project is trusted", grantText)
		case revoke:
			gone, err := revokeTrust(userDir, path)
			if err != nil {
				return err
			}
			return cli.PrintList(s, *format, gone, "", func(g config.Grant) string { return "not trusted any more: " + grantText(g) })
		}
		// A file that cannot be read is not trusted: it would stop every command.
		l, err := (&inputs.Policy{Files: []string{path}}).Load(io.Discard)
		if err != nil {
			return err
		}
		file := l.Set.Files[0]
		if err := config.Trust(userDir, file); err != nil {
			return err
		}
		if file.Path, err = filepath.Abs(path); err != nil {
			return fmt.Errorf("trust: %w", err)
		}
		return format.Print(s.Out, config.Grant{Hash: file.Hash, Path: file.Path}, fmt.Sprintf("trusted %s (sha256 %s)\n", visible.Text(file.Path), file.Hash))
	}
	return cmd
}

func grantText(g config.Grant) string {
	return visible.Text(g.Path) + " (sha256 " + visible.Text(g.Hash) + ")"
}

// revokeTrust takes back the trust in a file, which may be gone or changed since.
func revokeTrust(userDir, path string) ([]config.Grant, error) {
	hash := ""
	set, err := config.Discover(config.Where{Policy: []string{path}})
	switch {
	case err == nil:
		hash = set.Files[0].Hash
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	gone, err := config.Revoke(userDir, path, hash)
	if err == nil && len(gone) == 0 {
		err = cli.Hinted(fmt.Errorf("%s was not trusted", visible.Text(path)), "stopgate trust --list shows what is")
	}
	return gone, err
}
