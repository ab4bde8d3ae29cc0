package author

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/packs"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
	"github.com/stopgate/stopgate/internal/visible"
)

// packChange is how a pack differs from an earlier text of it.
type packChange struct {
	name     string
	old, new packs.Pack // without a version: there is none
	calls    *diff.Difference
}

func newPacksDiff(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "diff OLD [NAME...]",
		Short: "show which calls another version of a pack decides in another way",
		Long: `diff compares packs of this program with earlier ones by what they decide, as
stopgate diff does for policy files, and by what they say that they permit. OLD is a file
that stopgate packs show of another version of the program printed, with the NAME of the
pack, or a directory of such files, named go.toml and mcp-github.toml, for all packs or
those that are named. The directory internal/packs/data of a release is one.

It writes Markdown, a section for each pack that changed, and nothing if none did.`,
		Example: `  stopgate packs show git > old.toml    # with the earlier program
  stopgate packs diff old.toml git
  git archive v1.0.0 internal/packs/data | tar -x -C old && stopgate packs diff old/internal/packs/data`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("packs diff wants the earlier text of a pack, a file or a directory, and names of packs")
			}
			return nil
		},
	}
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		changes, err := packChanges(args[0], args[1:])
		if err != nil {
			return err
		}
		var text strings.Builder
		list := make([]packChangeJSON, len(changes))
		for i, c := range changes {
			text.WriteString(c.section())
			list[i] = c.json()
		}
		return format.Print(s.Out, list, text.String())
	}
	return cmd
}

// packChangeJSON is a change for programs; it changes only by addition.
type packChangeJSON struct {
	Pack    string   `json:"pack"`
	Old     int      `json:"old,omitempty"` // versions; absent: there is none
	New     int      `json:"new,omitempty"`
	Permits []string `json:"permits"`     // sentences of the new version only
	Not     []string `json:"not_permits"` // sentences of the old version only
	Calls   any      `json:"calls,omitempty"`
}

func (c packChange) json() packChangeJSON {
	out := packChangeJSON{Pack: c.name, Old: c.old.Version, New: c.new.Version, Permits: without(c.new.Permits, c.old.Permits), Not: without(c.old.Permits, c.new.Permits)}
	if c.calls != nil {
		out.Calls = differenceJSON(c.calls)
	}
	return out
}

// without returns the sentences of a list that another one lacks.
func without(list, other []string) []string {
	return slices.DeleteFunc(append([]string{}, list...), func(s string) bool { return slices.Contains(other, s) })
}

// packChanges compares packs with an earlier text, or with a directory of them.
func packChanges(old string, names []string) (changes []packChange, err error) {
	info, err := os.Stat(old)
	if err != nil {
		hint := ""
		if name, _, pinned := strings.Cut(old, "@"); pinned && slices.Contains(packs.Names(), name) {
			hint = fmt.Sprintf("a program has one version of a pack: write `stopgate packs show %s` of the earlier program to a file", name)
		}
		return nil, cli.Hinted(inputs.Unread(fmt.Errorf("read the earlier packs: %w", err)), hint)
	}
	read := func(string) string { return old }
	switch {
	case info.IsDir():
		read = func(name string) string { return filepath.Join(old, packs.FileName(name)) }
		if len(names) == 0 {
			if names, err = packNamesIn(old); err != nil {
				return nil, err
			}
		}
	case len(names) != 1:
		return nil, cli.Usagef("packs diff FILE wants the name of one pack, which the file is an earlier text of")
	}
	for _, name := range names {
		text, err := config.ReadFile(read(name), config.MaxFile)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, inputs.Unread(fmt.Errorf("read the earlier pack %s: %w", name, err))
		}
		c := packChange{name: name, old: packs.Parse(name, text)}
		if c.new, err = packNamed(name); err != nil && c.old.Version == 0 {
			return nil, err
		}
		if string(c.old.Text) == string(c.new.Text) {
			continue
		}
		if c.old.Version > 0 && c.new.Version > 0 {
			before, after := policy.Source{Name: packs.Prefix + read(name), Text: text}, policy.Source{Name: c.new.File(), Text: c.new.Text}
			var wrong, now diag.List
			if c.calls, wrong, now = diff.Files(before, after, policy.Options{}, nil); c.calls == nil {
				files := []config.File{{Path: before.Name, Text: before.Text}, {Path: after.Name, Text: after.Text}}
				return nil, config.MistakesError{List: append(wrong, now...), Set: config.Set{Files: files}}
			}
		}
		changes = append(changes, c)
	}
	return changes, nil
}

// packNamesIn lists the packs of this program and those of a directory.
func packNamesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, inputs.Unread(fmt.Errorf("read the earlier packs: %w", err))
	}
	names := packs.Names()
	for _, e := range entries {
		if name, ok := packs.NameOf(e.Name()); ok && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// section is a change as a section of release notes.
func (c packChange) section() string {
	var b strings.Builder
	switch {
	case c.old.Version == 0:
		fmt.Fprintf(&b, "## %s: new\n\n%s\n", c.name, c.new.About)
	case c.new.Version == 0:
		fmt.Fprintf(&b, "## %s: removed\n", visible.Text(c.name))
	case c.old.Version == c.new.Version:
		fmt.Fprintf(&b, "## %s: another text of version %d\n", c.name, c.new.Version)
	default:
		fmt.Fprintf(&b, "## %s: version %d to %d\n", c.name, c.old.Version, c.new.Version)
	}
	for _, p := range without(c.new.Permits, c.old.Permits) {
		fmt.Fprintf(&b, "\n- permits %s\n", p)
	}
	for _, p := range without(c.old.Permits, c.new.Permits) {
		fmt.Fprintf(&b, "\n- no longer permits %s\n", visible.Text(p))
	}
	if c.calls != nil {
		fmt.Fprintf(&b, "\n```\n%s```\n", differenceText(c.calls))
	}
	return b.String() + "\n"
}
