package inspect

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/visible"
)

// healthJSON is the answer of health; it changes only by addition.
type healthJSON struct {
	OK     bool   `json:"ok"`
	At     string `json:"at"`
	Status int    `json:"status"`
	Text   string `json:"text"`
}

func NewHealth(s cli.Streams) *cobra.Command {
	var f eventFlags
	var live bool
	var limit time.Duration
	cmd := &cobra.Command{
		Use:   "health",
		Short: "ask whether a running gate is ready",
		Long: `health asks a running gate whether it takes requests and can allow calls: for probes
of containers and supervisors. It asks the decision API of up on this machine, or the
gateway or API that --url names.

Exit: 0 yes, 1 no.`,
		Example: `  stopgate health
  stopgate health --url http://127.0.0.1:8788`,
		Args: cli.NoArgs,
	}
	cmd.Flags().StringVar(&f.url, "url", "", "`URL` of the gateway or of the decision API: unix:, http: or https:; default: the API of up on this machine")
	f.addPolicy(cmd)
	cmd.Flags().BoolVar(&live, "live", false, "ask only whether the process is there")
	cmd.Flags().DurationVar(&limit, "timeout", 2*time.Second, "how long to wait")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		api, err := f.source()
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), limit)
		defer cancel()
		path := "/readyz"
		if live {
			path = "/healthz"
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, api.base+path, nil)
		if err != nil {
			return err
		}
		resp, err := api.client.Do(req)
		if err != nil {
			return api.unreached(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(io.LimitReader(resp.Body, 1000))
		if err != nil {
			return fmt.Errorf("health: %w", err)
		}
		if resp.StatusCode == http.StatusNotFound {
			return cli.Hinted(fmt.Errorf("health: what answers at %s is no gate", api.at), "name the gateway or the decision API, as the first line of output of stopgate up says")
		}
		if *format == "json" {
			if err := cli.WriteJSON(s.Out, healthJSON{resp.StatusCode == http.StatusOK, api.at, resp.StatusCode, strings.TrimSpace(string(text))}); err != nil {
				return err
			}
			if resp.StatusCode != http.StatusOK {
				return cli.Exit(cli.ExitTrouble)
			}
			return nil
		}
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("health: not ready: %s: %s", resp.Status, visible.Text(string(text)))
		}
		_, err = s.Out.Write(text)
		return err
	}
	return cmd
}
