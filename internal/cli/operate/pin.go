package operate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/textdiff"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/mcp/pin"
	"github.com/stopgate/stopgate/internal/visible"
)

// NewPin is the command that accepts changed tools.
func NewPin(s cli.Streams) *cobra.Command {
	cmd := cli.Group("pin", "show and accept the definitions of MCP tools", newPinList(s))
	cmd.Long = `The first definition of a tool that mcp sees is accepted. A definition that differs
from it disables the tool - its calls are denied tool_definition_changed - until
somebody at a terminal accepts the new one. Without a command, pin lists.`
	cmd.AddCommand(newPinShow(s), newPinApprove(s), newPinForget(s))
	return cmd
}

// pinFlags find the pins.
type pinFlags struct{ inputs.Records }

func (f *pinFlags) add(cmd *cobra.Command) {
	f.AddStore(cmd, "the `URL` of the store whose pins are meant (default: as mcp would use it)")
	inputs.PolicyFlag(cmd, &f.Files, " whose [store] says where the pins are")
}

func (f *pinFlags) open() (*pin.Store, error) {
	settings, err := f.Settings()
	if err != nil {
		return nil, err
	}
	if settings.Store == place.Memory {
		return nil, cli.Usagef("the pins of a store in memory end with it")
	}
	return pin.Open(service.PinsFile(settings.Local)), nil
}

func newPinList(s cli.Streams) *cobra.Command {
	var f pinFlags
	var changed bool
	cmd := &cobra.Command{Use: "list", Short: "list pinned tools", Args: cli.NoArgs}
	f.add(cmd)
	cmd.Flags().BoolVar(&changed, "changed", false, "only tools that changed and wait to be accepted")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		store, err := f.open()
		if err != nil {
			return err
		}
		pins, err := store.List()
		if err != nil {
			return err
		}
		shown := pins[:0:0]
		for _, p := range pins {
			if !changed || p.Changed != nil {
				shown = append(shown, p)
			}
		}
		if *format == "json" {
			return cli.PrintList(s, *format, shown, "", nil)
		}
		if len(shown) == 0 {
			fmt.Fprintln(s.Err, "stopgate: no pins")
		}
		w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
		for _, p := range shown {
			state := "accepted " + p.Accepted.Seen.Format("2006-01-02")
			if p.Changed != nil {
				state = "CHANGED " + p.Changed.Seen.Format("2006-01-02") + ": disabled until it is accepted"
			}
			fmt.Fprintf(w, "%s\t%s\t%.12s\t%s\n", visible.Elide(visible.Text(p.Server), 60), visible.Text(string(p.Tool)), p.Accepted.Hash, state)
		}
		return w.Flush()
	}
	return cmd
}

// twoNames are a server and a tool.
func twoNames(cmd *cobra.Command, args []string) error {
	if len(args) != 2 {
		return cli.Usagef("%s takes a server and a tool, as 'stopgate mcp pin list' prints them", cmd.CommandPath())
	}
	return nil
}

func findPin(store *pin.Store, args []string) (pin.Pin, error) {
	pins, err := store.List()
	if err != nil {
		return pin.Pin{}, err
	}
	for _, p := range pins {
		if p.Server == args[0] && string(p.Tool) == args[1] {
			return p, nil
		}
	}
	return pin.Pin{}, cli.Hinted(fmt.Errorf("no tool %s of the server %s is pinned", visible.Text(args[1]), visible.Text(args[0])), "stopgate mcp pin list prints those that are")
}

func newPinShow(s cli.Streams) *cobra.Command {
	var f pinFlags
	cmd := &cobra.Command{Use: "show SERVER TOOL", Short: "show a tool's definition, and how it changed", Args: twoNames}
	f.add(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		store, err := f.open()
		if err != nil {
			return err
		}
		p, err := findPin(store, args)
		if err != nil {
			return err
		}
		answer := pinnedJSON{Server: p.Server, Tool: string(p.Tool), Accepted: string(p.Accepted.Text)}
		if p.Changed != nil {
			answer.Changed = new(string(p.Changed.Text))
		}
		return format.Print(s.Out, answer, pinText(p))
	}
	return cmd
}

// pinnedJSON is the answer of show; it changes only by addition. The definitions are texts: a
// server may send text that is not JSON.
type pinnedJSON struct {
	Server   string  `json:"server"`
	Tool     string  `json:"tool"`
	Accepted string  `json:"accepted"`
	Changed  *string `json:"changed"`
}

// pinText shows a definition; of one that changed, the difference.
func pinText(p pin.Pin) string {
	if p.Changed == nil {
		return laidOut(p.Accepted.Text)
	}
	return textdiff.Unified(string(p.Tool), laidOut(p.Accepted.Text), laidOut(p.Changed.Text))
}

// laidOut indents a definition; text that could hide is escaped.
func laidOut(text []byte) string {
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") != nil {
		return visible.Text(string(text)) + "\n"
	}
	var out []byte
	for line := range bytes.Lines(b.Bytes()) {
		out = append(out, visible.Text(string(bytes.TrimRight(line, "\n")))...)
		out = append(out, '\n')
	}
	if len(out) == 0 || out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return string(out)
}

func newPinApprove(s cli.Streams) *cobra.Command {
	var f pinFlags
	cmd := &cobra.Command{
		Use:   "approve SERVER TOOL",
		Short: "accept a tool's changed definition, at this terminal",
		Long: `approve shows how a tool changed at the terminal it was started from, together with
a code. Who accepts the change types the code. Without a terminal nothing is accepted.`,
		Args: twoNames,
	}
	f.add(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		store, err := f.open()
		if err != nil {
			return err
		}
		p, err := findPin(store, args)
		if err != nil {
			return err
		}
		if p.Changed == nil {
			return fmt.Errorf("%s has not changed", visible.Text(args[1]))
		}
		question := fmt.Sprintf("%sAccept this definition of %s? ", pinText(p), visible.Text(string(p.Tool)))
		if err := confirm("", question, "to do so.\n> ", "not accepted"); err != nil {
			return err
		}
		err = store.Accept(p.Server, p.Tool, p.Changed.Hash, cli.Operator())
		if errors.Is(err, pin.ErrUnchanged) {
			return errors.New("not accepted: the tool changed again meanwhile")
		}
		if err != nil {
			return err
		}
		if p, err = findPin(store, args); err != nil {
			return err
		}
		return format.Print(s.Out, p, visible.Text(string(p.Tool))+"  accepted\n")
	}
	return cmd
}

// forgottenJSON is the answer of forget; it changes only by addition.
type forgottenJSON struct {
	Server    string            `json:"server"`
	Tool      stopgate.ToolName `json:"tool,omitempty"` // empty: every tool of the server
	Forgotten int               `json:"forgotten"`
}

func newPinForget(s cli.Streams) *cobra.Command {
	var f pinFlags
	cmd := &cobra.Command{
		Use:   "forget SERVER [TOOL]",
		Short: "forget pins: what is seen next is accepted",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) > 2 {
				return cli.Usagef("%s takes a server, and a tool of it", cmd.CommandPath())
			}
			return nil
		},
	}
	f.add(cmd)
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		store, err := f.open()
		if err != nil {
			return err
		}
		question := fmt.Sprintf("Forget the accepted definitions of %s? ", visible.Text(args[0]))
		if err := confirm("", question, "to do so.\n> ", "nothing was forgotten"); err != nil {
			return err
		}
		var tool stopgate.ToolName
		if len(args) == 2 {
			tool = stopgate.ToolName(args[1])
		}
		n, err := store.Forget(args[0], tool)
		if err != nil {
			return err
		}
		return format.Print(s.Out, forgottenJSON{args[0], tool, n}, cli.Count(n, "pin")+" forgotten\n")
	}
	return cmd
}
