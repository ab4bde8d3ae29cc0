package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/audit/jsonl"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/store/mem"
)

type upFlags struct {
	policyFlags
	listen, openai, anthropic, replayDir, audit string
	pace                                        float64
}

func newUp(s streams) *cobra.Command {
	var f upFlags
	cmd := &cobra.Command{
		Use:   "up",
		Short: "run the gateway on loopback",
		Long: `up listens for OpenAI Chat Completions and Anthropic Messages requests, forwards
them to the provider with the client's own credential, and decides every tool
call of the answers. Requests without a credential, and models named stopgate-*,
are answered by a built-in replay model, so that everything can be tried at once.

When it listens it prints one line of JSON on standard output; logs go to
standard error. It drains and stops on SIGINT and SIGTERM.`,
		Args: noArgs,
	}
	f.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "`ADDR` to listen on (default 127.0.0.1:8788; port 0 takes a free one)")
	flags.StringVar(&f.openai, "openai-upstream", "", "base `URL` of an OpenAI-compatible provider")
	flags.StringVar(&f.anthropic, "anthropic-upstream", "", "base `URL` of an Anthropic-compatible provider")
	flags.StringVar(&f.replayDir, "replay", "", "answer canned requests from recorded streams in `DIR`")
	flags.Float64Var(&f.pace, "replay-pace", 80, "tokens per second of the replay model; 0 is as fast as possible")
	flags.StringVar(&f.audit, "audit", "", "JSON Lines `FILE` for the records (default: in the user's state directory)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !(f.pace >= 0) { // NaN too
			return usagef("--replay-pace counts tokens per second, not %v", f.pace)
		}
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		return up(ctx, s, &f)
	}
	return cmd
}

func up(ctx context.Context, s streams, f *upFlags) error {
	l, err := f.load(s.err)
	if err != nil {
		return err
	}
	settings, err := gatewaySettings(l, f)
	if err != nil {
		return err
	}
	file := f.audit
	if file == "" {
		file = settings.audit
	}
	if file == "" {
		if file, err = stateFile("audit.jsonl"); err != nil {
			return err
		}
	}
	records, err := jsonl.Open(file, jsonl.Options{})
	if errors.Is(err, jsonl.ErrInUse) {
		return hintedError{err, "name another file with --audit, or stop the stopgate that writes to this one"}
	}
	if err != nil {
		return err
	}
	g, err := gate.New(l.program, gate.WithRecorder(records), gate.WithStore(mem.New()), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return errors.Join(err, records.Close())
	}
	model, err := replayModel(f.replayDir, f.pace)
	if err != nil {
		return errors.Join(err, records.Close())
	}
	settings.options.Gate = g
	settings.options.Replay = replay.Transport(model)
	if f.replayDir != "" {
		settings.options.Upstreams = replayed(settings.options.Upstreams, settings.options.Replay)
	}
	settings.options.Log = slog.New(slog.NewTextHandler(s.err, nil))
	err = serveWhileRecorded(ctx, s, settings.options, file, records.Failed())
	return errors.Join(err, records.Close())
}

// serveWhileRecorded serves until ctx ends or the records cannot be trusted any
// more: a gate that can only deny is better started anew by its supervisor (FM4).
func serveWhileRecorded(ctx context.Context, s streams, o gateway.Options, auditFile string, failed <-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lost := fmt.Errorf("the records in %s failed and are set aside", auditFile)
	go func() {
		select {
		case <-failed:
			cancel(lost)
		case <-ctx.Done():
		}
	}()
	err := serve(ctx, s, o, auditFile)
	if cause := context.Cause(ctx); errors.Is(cause, lost) {
		return errors.Join(hintedError{lost, "look at the disk, then start again: a new file is begun"}, err)
	}
	return err
}

func serve(ctx context.Context, s streams, o gateway.Options, auditFile string) error {
	gw, err := gateway.New(o)
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", o.Settings.Listen)
	if err != nil {
		gw.Close()
		return listenError(o.Settings.Listen, err)
	}
	url := "http://" + ln.Addr().String()
	fmt.Fprintf(s.err, "stopgate: listening on %s, records in %s, policy %.12s\n", url, visible.Text(auditFile), o.Gate.PolicyHash())
	if !o.Gate.Enforced() {
		fmt.Fprintln(s.err, "stopgate: OBSERVE MODE: nothing is held back; records say what would have been decided")
	}
	err = writeJSON(s.out, struct {
		Gateway string  `json:"gateway"`
		API     *string `json:"api"`
		Console *string `json:"console"`
	}{Gateway: url})
	if err != nil {
		gw.Close()
		return errors.Join(err, ln.Close())
	}
	return gw.Serve(ctx, ln)
}

// replayed makes the replay model the upstream of every API that has no other: who
// names recordings wants them, also from a client that sends a credential.
func replayed(upstreams []gateway.Upstream, model http.RoundTripper) []gateway.Upstream {
	for _, api := range []string{"openai", "anthropic"} {
		if !slices.ContainsFunc(upstreams, func(u gateway.Upstream) bool { return u.API == api || u.API == "" }) {
			upstreams = append(upstreams, gateway.Upstream{ID: "replay-" + api, API: api, Transport: model})
		}
	}
	return upstreams
}

// replayModel is the built-in model, with recordings if there is a folder of them.
func replayModel(dir string, tokensPerSecond float64) (*replay.Upstream, error) {
	o := replay.Options{TokensPerSecond: tokensPerSecond}
	if dir != "" {
		recordings, err := replay.OpenRecordings(dir)
		if err != nil {
			return nil, err
		}
		o.Recordings = recordings
	}
	return replay.New(o)
}

// stateFile names a file in the user's state directory and makes the directory.
func stateFile(name string) (string, error) {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the state directory: %w; name the file with --audit", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	dir = filepath.Join(dir, "stopgate")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("make the state directory: %w", err)
	}
	return filepath.Join(dir, name), nil
}

// listenError says what to do about an address that cannot be listened on.
func listenError(addr string, err error) error {
	return hintedError{
		fmt.Errorf("listen on %s: %w", addr, err),
		"choose another address with --listen, for example --listen 127.0.0.1:0 for a free port",
	}
}
