package author

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/packs"
)

// packJSON is a pack as packs writes it; it changes only by addition.
type packJSON struct {
	Name    string   `json:"name"`
	Version int      `json:"version"`
	About   string   `json:"about"`
	Permits []string `json:"permits"`
	Text    string   `json:"text,omitempty"` // only of show
}

func newPackJSON(p packs.Pack) packJSON {
	return packJSON{Name: p.Name, Version: p.Version, About: p.About, Permits: append([]string{}, p.Permits...)}
}

func NewPacks(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "packs",
		Short: "list the packs of rules that policies can use",
		Long: `packs lists the packs of rules that are part of this program. A policy file uses them
with use = ["coding", "git"]; use = ["git@1"] is an error with a program that has
another version. stopgate packs show prints the rules.`,
		Example: `  stopgate packs
  stopgate packs show coding`,
		Args: cli.NoArgs,
	}
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		var table strings.Builder
		w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
		for _, name := range packs.Names() {
			p, _ := packs.Lookup(name)
			if *format == "json" {
				if err := cli.WriteJSON(s.Out, newPackJSON(p)); err != nil {
					return err
				}
				continue
			}
			fmt.Fprintf(w, "%s\t%d\t%s\n", p.Name, p.Version, p.About)
		}
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := io.WriteString(s.Out, cli.Fit(s.Out, table.String()))
		return err
	}
	cmd.AddCommand(newShowPack(s), newPacksDiff(s))
	return cmd
}

func newShowPack(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "show NAME",
		Short:   "print a pack",
		Long:    `show prints a pack as it is used: a policy file, which begins with everything that it permits.`,
		Example: `  stopgate packs show git`,
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return packs.Names(), cobra.ShellCompDirectiveNoFileComp
		},
	}
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		p, err := packNamed(args[0])
		if err != nil {
			return err
		}
		if *format == "json" {
			shown := newPackJSON(p)
			shown.Text = string(p.Text)
			return cli.WriteJSON(s.Out, shown)
		}
		_, err = s.Out.Write(p.Text)
		return err
	}
	return cmd
}

// packNamed returns a pack of this program.
func packNamed(name string) (packs.Pack, error) {
	p, ok := packs.Lookup(name)
	if !ok {
		hint := diag.DidYouMean(name, packs.Names())
		if hint == "" {
			hint = "stopgate packs lists them"
		}
		return p, cli.Hinted(fmt.Errorf("there is no pack %q", name), hint)
	}
	return p, nil
}
