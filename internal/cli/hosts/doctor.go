package hosts

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/host/install"
	"github.com/stopgate/stopgate/internal/visible"
)

// checkup is the report about one installation; its JSON changes only by addition.
type checkup struct {
	Host  string        `json:"host"`
	Scope install.Scope `json:"scope"`
	File  string        `json:"file"`
	// Status is guarded, untrusted, observing, broken or not_installed. Of an untrusted one
	// the hook denies, and the host does not run it.
	Status  string `json:"status"`
	Problem string `json:"problem,omitempty"`
	Hint    string `json:"hint,omitempty"`
	Millis  int64  `json:"ms,omitempty"`
	// AloneMillis is how long the hook took without the resident that it asks.
	AloneMillis int64    `json:"alone_ms,omitempty"`
	Commands    []string `json:"commands,omitempty"`
	Holes       []string `json:"holes,omitempty"`
	// Version is the output of the host's program with --version, where it is installed.
	Version string `json:"version,omitempty"`
	// Outdated reports that this stopgate would write other settings.
	Outdated bool `json:"outdated,omitempty"`
	// Live is the result of running the host itself, with --live.
	Live *liveJSON `json:"live,omitempty"`
	// Uncovered are tools of the host that no table of the policy names, Met those of
	// the last month's records, and Unseen those of which no guard sees anything.
	Uncovered []string `json:"uncovered,omitempty"`
	Met       []string `json:"met,omitempty"`
	Unseen    []string `json:"unseen,omitempty"`

	program string // of the host
}

func NewDoctor(s cli.Streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor [HOST]",
		Short: "check that installed hooks really deny",
		Long: `doctor looks at the settings of every coding agent, or of one, and sends a call that
must be denied through the command line that it finds there, as the agent would. It
says which holes of the agent remain, and of which of its tools no guard sees anything.

That shows that the hook denies, not that the agent calls it. --live shows that too: it
starts the agent itself, with a copy of its settings in a directory of its own and a
scripted model in the place of the real one, and lets it try the call.

Exit: 0 every installed hook denies and would run, 1 one does not, or none is installed.`,
		Example: `  stopgate doctor
  stopgate doctor claude-code --live`,
		ValidArgs: hook.Names(),
		Args:      cli.AtMostOne,
	}
	live := cmd.Flags().Bool("live", false, "start the agents themselves, with a scripted model")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		hosts := hook.Names()
		if len(args) == 1 {
			h, err := hostArgument(args)
			if err != nil {
				return err
			}
			hosts = []string{h.Name}
		}
		var found []checkup
		ok := false
		for _, name := range hosts {
			h, _ := hook.Lookup(name)
			for _, project := range []bool{false, true} {
				c, there := examine(cmd.Context(), h, project)
				if there && !slices.ContainsFunc(found, func(d checkup) bool { return d.Host == c.Host && d.File == c.File }) {
					c.Version = versionOf(cmd.Context(), h)
					c.cover(cmd.Context(), h)
					if *live && (c.Status == "guarded" || c.Status == "untrusted") {
						c.prove(cmd.Context(), h, project)
					}
					ok = (ok || len(found) == 0) && c.Status == "guarded"
					found = append(found, c)
				}
			}
		}
		if len(found) == 0 {
			for _, name := range hosts[:min(1, len(args))] {
				found = append(found, checkup{Host: name, Status: "not_installed", Hint: "stopgate install " + name})
			}
		}
		for _, c := range found {
			if c.Status != "guarded" || c.Live != nil && c.Live.Ran {
				ok = false
			}
		}
		resident := residentOf(cmd.Context(), found)
		if *format == "json" {
			if err := cli.WriteJSON(s.Out, struct {
				OK       bool          `json:"ok"`
				Resident *residentJSON `json:"resident,omitempty"`
				Hosts    []checkup     `json:"hosts"`
			}{ok, resident, append([]checkup{}, found...)}); err != nil {
				return err
			}
		} else {
			var text strings.Builder
			printCheckups(&text, found)
			if _, err := io.WriteString(s.Out, cli.Fit(s.Out, text.String())); err != nil {
				return err
			}
			resident.print(s.Out)
		}
		if !ok {
			return cli.Exit(cli.ExitTrouble)
		}
		return nil
	}
	return cmd
}

// causeOf returns the line that explains why a hook could not decide: the first mistake of the
// policy, or else its last line for people.
func causeOf(said string) string {
	cause := ""
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, ": error ") {
			return line
		}
		if rest, ok := strings.CutPrefix(line, "stopgate: "); ok {
			cause = rest
		}
	}
	return cause
}

// canary starts a command line as hosts do, through the shell, with a call that must
// be denied.
func canary(ctx context.Context, h *hook.Host, line string) (r hook.Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	dir, err := os.Getwd()
	if err != nil {
		return r, err
	}
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", line)
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(h.Probe(dir, "doctor-"+rand.Text())), &out, &said
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = nil
	}
	if ctx.Err() != nil {
		err = errors.New("the hook did not answer within 30 s")
	}
	return hook.Reply{Stdout: out.Bytes(), Stderr: said.Bytes(), Exit: cmd.ProcessState.ExitCode()}, err
}

func printCheckups(w io.Writer, found []checkup) {
	if len(found) == 0 {
		fmt.Fprintln(w, "no hook is installed; install one with: stopgate install HOST\nMCP servers behind stopgate mcp need none, and nothing is said of them here")
	}
	for _, c := range found {
		switch c.Status {
		case "guarded":
			took := fmt.Sprintf("denied in %d ms", c.Millis)
			if c.AloneMillis > 0 {
				took += fmt.Sprintf(", and in %d ms without the resident", c.AloneMillis)
			}
			fmt.Fprintf(w, "%s: guarded by %s (%s settings, %s)\n", c.Host, visible.Text(c.File), c.Scope, took)
			if c.Problem != "" {
				fmt.Fprintf(w, "  but: %s\n", c.Problem)
			}
		case "not_installed":
			fmt.Fprintf(w, "%s: not installed\n", c.Host)
		default:
			fmt.Fprintf(w, "%s: %s: %s\n  in %s\n", c.Host, strings.ToUpper(c.Status), visible.Lines(c.Problem), visible.Text(c.File))
		}
		c.printLive(w)
		if c.Hint != "" {
			fmt.Fprintf(w, "  try: %s\n", c.Hint)
		}
		if c.Version != "" {
			fmt.Fprintf(w, "  version: %s\n", visible.Text(c.Version))
		}
		for _, l := range []struct {
			what  string
			tools []string
		}{
			{"no table of the policy names", c.Uncovered},
			{"called in the last month, and no table names", c.Met},
			{"no guard sees paths, commands or addresses of", c.Unseen},
		} {
			if len(l.tools) > 0 {
				fmt.Fprintf(w, "  tools: %s: %s\n", l.what, visible.Text(strings.Join(l.tools, ", ")))
			}
		}
		for _, hole := range c.Holes {
			fmt.Fprintf(w, "  open: %s\n", hole)
		}
	}
}
