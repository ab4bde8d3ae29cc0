package hosts

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/textdiff"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/visible"
)

// installFlags are the location of a hook and its flags.
type installFlags struct {
	user, project, dry bool
	fewer, observe     bool
	program, store     string
	policies           []string
	format             *cli.Format
}

func (f *installFlags) add(cmd *cobra.Command) {
	f.format = cli.FormatFlag(cmd)
	cmd.Flags().BoolVar(&f.user, "user", false, "in the user's settings, for all projects (default)")
	cmd.Flags().BoolVar(&f.project, "project", false, "in the settings of the project in the working directory")
	cmd.Flags().BoolVar(&f.dry, "dry-run", false, "show the change and make none")
	cmd.MarkFlagsMutuallyExclusive("user", "project")
}

func NewInstall(s cli.Streams) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:   "install HOST",
		Short: "put the hook into the settings of a coding agent",
		Long: `install adds the hook to the settings of a coding agent: it shows the change, keeps
everything else as it is, byte for byte, and leaves a copy of the file beside it.
Installing again changes nothing, or what other flags say.

Hosts: ` + diag.OneOf(hook.Names()),
		Example:   "  stopgate install claude-code --dry-run\n  stopgate install codex --project",
		ValidArgs: hook.Names(),
		Args:      cobra.ArbitraryArgs,
	}
	f.add(cmd)
	cmd.Flags().BoolVar(&f.fewer, "fewer-prompts", false, "the hook answers \"allow\" for what the policy lets run, which skips the host's own question")
	cmd.Flags().BoolVar(&f.observe, "observe", false, "the hook holds nothing back, also when something fails")
	cmd.Flags().StringArrayVar(&f.policies, "policy", nil, "the hook takes this policy `FILE`, instead of looking for files")
	cmd.Flags().StringVar(&f.store, "store", "", "the hook keeps its state in the store at `URL`")
	cmd.Flags().StringVar(&f.program, "program", "", "`PATH` of the stopgate or stopgate-hook that the host starts (default: the stopgate-hook beside this program, else this one)")
	cmd.RunE = func(_ *cobra.Command, args []string) error { return changeSettings(s, args, &f, true) }
	return cmd
}

func NewUninstall(s cli.Streams) *cobra.Command {
	var f installFlags
	cmd := &cobra.Command{
		Use:       "uninstall HOST",
		Short:     "take the hook out of the settings of a coding agent",
		Long:      "uninstall takes out what install put in, and nothing else. --list shows all that there is\nto take out, in your settings and in those of the project here.",
		Example:   "  stopgate uninstall claude-code --dry-run\n  stopgate uninstall --list",
		ValidArgs: hook.Names(),
		Args:      cobra.ArbitraryArgs,
	}
	f.add(cmd)
	list := cmd.Flags().Bool("list", false, "list the hooks of all hosts, the programs that they start and how to take them out")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if !*list {
			return changeSettings(s, args, &f, false)
		}
		if len(args) > 0 {
			return cli.Usagef("uninstall --list lists the hooks of every host: leave out %s", args[0])
		}
		return printHooks(s, f.format)
	}
	return cmd
}

// place returns the location of the settings.
func (f *installFlags) place() (at install.Location, err error) {
	at.Scope, at.Getenv = install.User, os.Getenv
	if f.project {
		at.Scope = install.Project
	}
	at.Home, _ = os.UserHomeDir()
	at.Dir, err = os.Getwd()
	return at, err
}

// at returns the plan of a location, whatever hook is there.
func (f *installFlags) at(host string) (*install.Plan, error) {
	at, err := f.place()
	if err != nil {
		return nil, err
	}
	return install.Make(host, at, install.Command{Program: process.SmallName})
}

// plan returns the plan of the hook that the flags describe.
func (f *installFlags) plan(host string) (*install.Plan, error) {
	at, err := f.place()
	if err != nil {
		return nil, err
	}
	c, err := f.command()
	if err != nil {
		return nil, err
	}
	for _, p := range f.policies {
		if p, err = filepath.Abs(p); err != nil {
			return nil, err
		}
		c.Flags = append(c.Flags, "--policy", p)
	}
	if f.store != "" {
		c.Flags = append(c.Flags, "--store", f.store)
	}
	if f.fewer {
		c.Flags = append(c.Flags, "--fewer-prompts")
	}
	if f.observe {
		c.Flags = append(c.Flags, "--observe")
	}
	return install.Make(host, at, c)
}

// hostArgument is the one argument of the commands about hosts.
func hostArgument(args []string) (*hook.Host, error) {
	if len(args) != 1 {
		found := "none is found here"
		if here := hostsHere(); len(here) > 0 {
			found = "found here: " + strings.Join(here, ", ")
		}
		return nil, cli.Usagef("want the name of one host, %s; %s", diag.OneOf(hook.Names()), found)
	}
	h, err := hook.Lookup(args[0])
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	return h, nil
}

// hostsHere lists the hosts that are found, as text.
func hostsHere() (names []string) {
	for _, f := range FindHosts() {
		name := f.Host.Name
		if f.Installed {
			name += " (installed)"
		}
		names = append(names, name)
	}
	return names
}

// settingsChange is one file and its change.
type settingsChange struct {
	*install.Plan
	before, after []byte
}

// changesOf reads the files of a plan and returns their changes. A further file that is not
// stopgate's stays.
func changesOf(s cli.Streams, p *install.Plan, in bool) (changes []settingsChange, err error) {
	for i, q := range append([]*install.Plan{p}, p.Also...) {
		c := settingsChange{Plan: q}
		if c.before, err = readSettings(q.File); err != nil {
			return nil, err
		}
		change := q.Uninstall
		if in {
			change = q.Install
		}
		c.after, err = change(c.before)
		switch {
		case err != nil && i > 0:
			fmt.Fprintf(s.Err, "stopgate: the gate does not hear of this event: %s\n", visible.Text(err.Error()))
		case err != nil && q.Content != nil:
			return nil, err
		case err != nil:
			return nil, fmt.Errorf("%s is left alone: %w", q.File, err)
		case !bytes.Equal(c.before, c.after):
			changes = append(changes, c)
		}
	}
	return changes, nil
}

// settingsJSON is the report of install and uninstall; it changes only by addition.
type settingsJSON struct {
	Host    string         `json:"host"`
	File    string         `json:"file"`
	DryRun  bool           `json:"dry_run"`
	Changes []fileDiffJSON `json:"changes"`
}

type fileDiffJSON struct {
	File string `json:"file"`
	Diff string `json:"diff"`
}

func settingsReport(host string, p *install.Plan, changes []settingsChange, dry bool) settingsJSON {
	report := settingsJSON{Host: host, File: p.File, DryRun: dry, Changes: []fileDiffJSON{}}
	for _, c := range changes {
		report.Changes = append(report.Changes, fileDiffJSON{c.File, textdiff.Unified(c.File, string(c.before), string(c.after))})
	}
	return report
}

func changeSettings(s cli.Streams, args []string, f *installFlags, in bool) error {
	h, err := hostArgument(args)
	if err != nil {
		return err
	}
	p, err := f.plan(h.Name)
	if err != nil {
		return err
	}
	changes, err := changesOf(s, p, in)
	if err != nil {
		return err
	}
	if *f.format == "json" {
		if err := cli.WriteJSON(s.Out, settingsReport(h.Name, p, changes, f.dry)); err != nil {
			return err
		}
	} else if len(changes) == 0 {
		fmt.Fprintf(s.Out, "%s: nothing to change\n", visible.Text(p.File))
	}
	if len(changes) == 0 {
		return nil
	}
	for _, c := range changes {
		if *f.format == "json" {
			break
		}
		for line := range strings.Lines(textdiff.Unified(c.File, string(c.before), string(c.after))) {
			fmt.Fprintln(s.Out, visible.Text(strings.TrimSuffix(line, "\n")))
		}
	}
	if f.dry {
		return nil
	}
	for _, c := range changes {
		if err := replaceSettings(c.Plan, c.before, c.after); err != nil {
			return err
		}
	}
	if in {
		fmt.Fprintf(s.Err, "stopgate: installed for %s; try it with: stopgate doctor %s\n", h.Title, h.Name)
		if hint := h.TrustHint; hint != "" {
			fmt.Fprintf(s.Err, "stopgate: nothing is guarded before you trusted it in %s, which passes over any other hook without a word: %s\n", h.Title, hint)
		}
		warnOfPolicy(s.Err, f.policies)
		return nil
	}
	fmt.Fprintf(s.Err, "stopgate: uninstalled for %s\n", h.Title)
	return nil
}

// warnOfPolicy warns of a policy here that stops every call, that is not trusted, or that is
// only the built-in one.
func warnOfPolicy(w io.Writer, policies []string) {
	l, err := (&inputs.Policy{Files: policies}).Load(io.Discard)
	var mistakes config.MistakesError
	switch {
	case errors.As(err, &mistakes):
		io.WriteString(w, visible.Lines(diag.Text(mistakes.List.Errors(), mistakes.Set.Text)))
		fmt.Fprintln(w, "stopgate: until that is mended, every call from this directory is blocked")
		return
	case err != nil:
		fmt.Fprintf(w, "stopgate: every call from this directory is blocked: %s\n", visible.Text(err.Error()))
		return
	}
	for _, file := range l.Set.Files {
		switch {
		case !file.Trusted:
			fmt.Fprintf(w, "stopgate: %s is not trusted yet, so what it lets run is asked; read it, then run: stopgate trust %s\n",
				visible.Text(file.Path), visible.ShellWord(file.Path))
		case file.Scope == config.Embedded && len(l.Set.Files) == 1:
			fmt.Fprintln(w, "stopgate: there is no policy here yet, so the built-in one holds: reading is free, everything else is asked; stopgate init writes one")
		}
	}
}
