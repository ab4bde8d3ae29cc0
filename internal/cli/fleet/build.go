package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
)

type buildFlags struct {
	keyFlags
	channelFlags
	out, after, created, canary string
	generation                  uint64
}

func newBuild(s cli.Streams) *cobra.Command {
	var f buildFlags
	cmd := &cobra.Command{
		Use:   "build DIR|FILE... -o FILE",
		Short: "make a bundle of policy files",
		Long: `build makes a bundle of policy files: the files that are named, or those of a directory
and below it that end with .toml, but not with .test.toml, and its tools.json. The files are
checked first. The same files make the same bytes, whoever builds them and wherever.

The generation is the number after that of --after, else 1. With --canary only that share of
the sessions gets the new rules, and all others those of --after.

Exit: 0, or 3 if a file has mistakes.`,
		Example: `  stopgate bundle build policies -o prod.bundle
  stopgate bundle build policies -o prod.bundle --after https://policies.example/prod --public-key fleet.pub --canary 10%`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVarP(&f.out, "output", "o", "", "`FILE` of the bundle")
	cmd.Flags().StringVar(&f.after, "after", "", "the bundle before: a `FILE`, or the URL of a channel")
	cmd.Flags().Uint64Var(&f.generation, "generation", 0, "the `NUMBER` of the generation")
	cmd.Flags().StringVar(&f.created, "created", "", "the `TIME` of the bundle (RFC 3339; default: SOURCE_DATE_EPOCH, else that of the newest file)")
	cmd.Flags().StringVar(&f.canary, "canary", "", "the `SHARE` of the sessions that get the new rules, such as 10%")
	f.keyFlags.add(cmd)
	f.channelFlags.add(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := f.build(cmd, args)
		if err != nil {
			return err
		}
		if err := atomicfile.Replace(f.out, b.Archive, 0o644); err != nil {
			return fmt.Errorf("write bundle: %w", err)
		}
		return format.Print(s.Out, answerOf(b), line(b)+"\n")
	}
	return cmd
}

func (f *buildFlags) build(cmd *cobra.Command, args []string) (*bundle.Bundle, error) {
	if f.out == "" {
		return nil, cli.Usagef("build wants the file of the bundle: -o FILE")
	}
	keys, err := f.parse()
	if err != nil {
		return nil, err
	}
	c := bundle.Content{Generation: max(f.generation, 1)}
	var last *bundle.Bundle
	if f.after != "" {
		if last, err = before(cmd.Context(), f.after, keys, &f.channelFlags); err != nil {
			return nil, err
		}
		if last != nil && f.generation == 0 {
			c.Generation = last.Generation + 1
		}
	}
	if f.canary != "" {
		if c.Canary, err = bundle.ParseShare(f.canary); err != nil {
			return nil, cli.Usagef("--canary: %w", err)
		}
		if last == nil {
			return nil, cli.Usagef("--canary needs the rules of the other sessions: --after FILE or URL")
		}
		if c.Previous = last; last.Previous != nil {
			c.Previous = last.Previous // the next step of the same roll-out
		}
	}
	newest, err := collect(args, &c)
	if err != nil {
		return nil, err
	}
	if c.Created, err = f.time(newest); err != nil {
		return nil, err
	}
	b, err := bundle.Build(c)
	if err != nil {
		return nil, err
	}
	return b, check(b)
}

// time returns the time of the bundle.
func (f *buildFlags) time(newest time.Time) (time.Time, error) {
	if f.created != "" {
		at, err := time.Parse(time.RFC3339, f.created)
		if err != nil {
			return at, cli.Usagef("--created: %q is not a time such as 2026-11-27T14:00:00Z", f.created)
		}
		return at, nil
	}
	if epoch := os.Getenv("SOURCE_DATE_EPOCH"); epoch != "" {
		n, err := strconv.ParseInt(epoch, 10, 64)
		if err != nil {
			return time.Time{}, cli.Usagef("SOURCE_DATE_EPOCH is not a number of seconds: %q", epoch)
		}
		return time.Unix(n, 0), nil
	}
	return newest, nil
}

// collect reads the files, and returns the time of the newest one.
func collect(args []string, c *bundle.Content) (newest time.Time, err error) {
	add := func(name, path string) error {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		data, err := config.ReadFile(path, config.MaxFile)
		if err != nil {
			return err
		}
		if info.ModTime().After(newest) {
			newest = info.ModTime()
		}
		c.Files = append(c.Files, bundle.File{Name: filepath.ToSlash(name), Data: data})
		return nil
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err == nil && !info.IsDir() {
			err = add(filepath.Base(arg), arg)
		} else if err == nil {
			err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
				name := d.Name()
				switch {
				case err != nil:
					return err
				case path != arg && strings.HasPrefix(name, "."):
					if d.IsDir() {
						return filepath.SkipDir
					}
					return nil
				case d.IsDir():
					return nil
				}
				below, err := filepath.Rel(arg, path)
				if err != nil {
					return err
				}
				if strings.HasSuffix(name, ".toml") && !strings.HasSuffix(name, ".test.toml") || below == bundle.ToolsFile {
					return add(below, path)
				}
				return nil
			})
		}
		if err != nil {
			return newest, fmt.Errorf("build bundle: %w", err)
		}
	}
	if len(c.Files) == 0 {
		return newest, cli.Hinted(errors.New("build bundle: no policy files found"), "policy files end with .toml")
	}
	return newest, nil
}

// check compiles the files as a gate does.
func check(b *bundle.Bundle) error {
	l := inputs.Loaded{Set: config.Set{}.WithBundle(config.Rollout{Bundle: b})}
	var o policy.Options
	if text, ok := b.File(bundle.ToolsFile); ok {
		tools, err := inputs.ParseTools(bundle.ToolsFile, text)
		if err != nil {
			return err
		}
		o.Definitions = tools
	}
	return l.Compile(o)
}
