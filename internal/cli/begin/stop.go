package begin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/system/tty"
	"github.com/stopgate/stopgate/internal/visible"
)

// stopJSON is the report of stop; it changes only by addition.
type stopJSON struct {
	Project string `json:"project"`
	DryRun  bool   `json:"dry_run"`
	Done    []done `json:"done"`
	// Others are projects that need the changes to the user's files, which stay.
	Others []string `json:"others"`
}

// NewStop makes the command stop.
func NewStop(s cli.Streams) *cobra.Command {
	var yes, dry, purge, all bool
	cmd := &cobra.Command{
		Use:   "stop [DIR]",
		Short: "undo all that start did",
		Long: `stop takes out what start put into the settings of coding agents, byte for byte, removes
the policy that it wrote and takes back the trust in it. Where others changed a file
since, only what start put there is taken out; a policy, or test cases, that you changed
stay, unless --purge. Hooks and servers of the user stay as long as another project needs them.`,
		Example: "  stopgate stop --dry-run\n  stopgate stop --all",
		Args:    cli.AtMostOne,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&yes, "yes", false, "do it without the question")
	flags.BoolVar(&dry, "dry-run", false, "show what would be undone, and do nothing")
	flags.BoolVar(&purge, "purge", false, "remove the policy too if it was changed")
	flags.BoolVar(&all, "all", false, "undo it for every project")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir := "."
		if len(args) == 1 {
			dir = args[0]
		}
		root, err := rootOf(dir)
		if err != nil {
			return err
		}
		if !yes && !dry {
			if err := confirmStop(s, root, all); err != nil {
				return err
			}
		}
		report, err := stop(root, purge, dry, all)
		if *format == "json" {
			if werr := cli.WriteJSON(s.Out, report); err == nil {
				err = werr
			}
			return err
		}
		printStopped(s, report)
		return err
	}
	return cmd
}

// rootOf returns the root of the project of a directory, which may be gone.
func rootOf(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("stop: %w", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	j, err := readJournal()
	if err != nil {
		return "", err
	}
	// The nearest project of the journal: the policy that marked its root may be gone.
	for d := dir; ; d = filepath.Dir(d) {
		if _, ok := j.Projects[d]; ok {
			return d, nil
		}
		if filepath.Dir(d) == d {
			break
		}
	}
	root, err := config.ProjectRoot(dir)
	if err != nil || root == "" {
		return dir, nil
	}
	return root, nil
}

// confirmStop asks the person at the terminal.
func confirmStop(s cli.Streams, root string, all bool) error {
	if in, ok := s.In.(*os.File); !ok || !tty.Is(in) {
		return cli.Hinted(fmt.Errorf("stop asks before it takes the gate away, and there is no terminal"), "stopgate stop --dry-run shows what it would do, and --yes does it")
	}
	t, err := cli.OpenTerminal(", or use --yes")
	if err != nil {
		return err
	}
	defer t.Close()
	t.Drain()
	fmt.Fprintf(t, "Take the gate away from %s? [y/N] ", visible.Text(either(all, "every project", root)))
	answer, err := t.Line()
	if answer = strings.ToLower(strings.TrimSpace(answer)); err != nil || answer != "y" && answer != "yes" {
		fmt.Fprintln(s.Err, "stopgate: nothing was changed")
		return cli.Exit(cli.ExitTrouble)
	}
	return nil
}

// stop undoes the steps of a project. It goes on after a step that fails, and returns the first error.
func stop(root string, purge, dry, all bool) (report stopJSON, err error) {
	report = stopJSON{Project: root, DryRun: dry, Done: []done{}, Others: []string{}}
	j, err := readJournal()
	if err != nil {
		return report, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return report, fmt.Errorf("stop: %w", err)
	}
	u := &undoing{journal: j, home: home, userDir: config.Standard(root).UserDir, purge: purge, dry: dry}
	steps, others := u.steps(root, all)
	for _, s := range steps {
		if e := u.undo(s, root); e != nil && err == nil {
			err = e
		}
	}
	if err == nil && !dry {
		for r := range j.Projects {
			if r == root || all {
				delete(j.Projects, r)
			}
		}
	}
	if !dry {
		if e := j.clean(trustFile(u.userDir)); err == nil {
			err = e
		}
	}
	report.Done, report.Others = append(report.Done, u.list...), append(report.Others, others...)
	return report, err
}

func printStopped(s cli.Streams, r stopJSON) {
	home, _ := os.UserHomeDir()
	view := screen{s.Out, columns(s.Out), home}
	if len(r.Done) == 0 {
		fmt.Fprintln(s.Out, "nothing to undo here")
	}
	for _, d := range r.Done {
		view.row(d.Did, view.short(d.File, r.Project)+either(d.Host != "", " ("+d.Host+")", ""), column)
		if d.Did == "kept" {
			view.row("", "it was changed since; stopgate stop --purge removes it", column)
		}
	}
	if len(r.Others) > 0 {
		fmt.Fprintf(s.Err, "stopgate: hooks and servers of the user stay, because other projects need them: %s; stopgate stop --all undoes everything\n", visible.Text(strings.Join(r.Others, ", ")))
	}
}
