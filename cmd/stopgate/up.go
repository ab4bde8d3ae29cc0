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
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/gateway"
	"github.com/stopgate/stopgate/internal/replay"
	"github.com/stopgate/stopgate/internal/visible"
)

type upFlags struct {
	policyFlags
	stateFlags
	listen, openai, anthropic, replayDir string
	pace                                 float64
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
	f.policyFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.listen, "listen", "", "`ADDR` to listen on (default 127.0.0.1:8788; port 0 takes a free one)")
	flags.StringVar(&f.openai, "openai-upstream", "", "base `URL` of an OpenAI-compatible provider")
	flags.StringVar(&f.anthropic, "anthropic-upstream", "", "base `URL` of an Anthropic-compatible provider")
	flags.StringVar(&f.replayDir, "replay", "", "answer canned requests from recorded streams in `DIR`")
	flags.Float64Var(&f.pace, "replay-pace", 80, "tokens per second of the replay model; 0 is as fast as possible")
	f.stateFlags.add(cmd)
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
	options, err := gatewaySettings(l, f)
	if err != nil {
		return err
	}
	settings, err := stateOf(l, f.stateFlags)
	if err != nil {
		return err
	}
	st, err := openState(ctx, settings)
	if err != nil {
		return err
	}
	return errors.Join(serveState(ctx, s, f, l, options, st), st.close())
}

// serveState serves with what openState opened.
func serveState(ctx context.Context, s streams, f *upFlags, l loaded, options gateway.Options, st *state) error {
	g, err := gate.New(l.program, gate.WithRecorder(st.records), gate.WithStore(st.facts), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return err
	}
	model, err := replayModel(f.replayDir, f.pace)
	if err != nil {
		return err
	}
	options.Gate = g
	options.Replay = replay.Transport(model)
	if f.replayDir != "" {
		options.Upstreams = replayed(options.Upstreams, options.Replay)
	}
	options.Log = slog.New(slog.NewTextHandler(s.err, nil))
	tidying, stop := context.WithCancel(ctx)
	tidied := make(chan struct{})
	go func() {
		defer close(tidied)
		st.tidy(tidying, options.Log)
	}()
	err = serveWhileRecorded(ctx, s, options, st.place, st.failed)
	stop()
	<-tidied
	return err
}

// serveWhileRecorded serves until ctx ends or the records cannot be trusted any
// more: a gate that can only deny is better started anew by its supervisor (FM4).
func serveWhileRecorded(ctx context.Context, s streams, o gateway.Options, auditFile string, failed [2]<-chan struct{}) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	lost := fmt.Errorf("the records in %s cannot be trusted any more", auditFile)
	go func() {
		select {
		case <-failed[0]:
			cancel(lost)
		case <-failed[1]:
			cancel(lost)
		case <-ctx.Done():
		}
	}()
	err := serve(ctx, s, o, auditFile)
	if cause := context.Cause(ctx); errors.Is(cause, lost) {
		return errors.Join(hintedError{lost, "look at the disk, then start again"}, err)
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
	path, err := statePath(name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the state directory: %w", err)
	}
	return path, nil
}

// listenError says what to do about an address that cannot be listened on.
func listenError(addr string, err error) error {
	return hintedError{
		fmt.Errorf("listen on %s: %w", addr, err),
		"choose another address with --listen, for example --listen 127.0.0.1:0 for a free port",
	}
}
