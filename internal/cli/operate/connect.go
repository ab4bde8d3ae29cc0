package operate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/relay"
	"github.com/stopgate/stopgate/internal/relay/local"
	"github.com/stopgate/stopgate/internal/system/peer"
	"github.com/stopgate/stopgate/internal/system/socket"
)

type connectFlags struct {
	policy  inputs.Policy
	project string
	socket  string
	start   bool
}

func NewConnect(s cli.Streams) *cobra.Command {
	var f connectFlags
	cmd := &cobra.Command{
		Use:   "connect",
		Short: "relay requests of a client library to the gate of this user",
		Long: `connect is for client libraries. It finds the running gate of this user that decides by the
policy files of the project, or starts stopgate serve, and checks that it is the same program,
run by the same user, that sees the same files (Linux; on other systems it decides itself).
Then it passes requests of the decision API on: one JSON object per line, from standard input
to the gate, and back to standard output. It ends when standard input ends.`,
		Example: `  stopgate connect --policy stopgate.toml`,
		Args:    cli.NoArgs,
	}
	f.policy.AddFiles(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.project, "project", "", "`DIR` whose policy files apply (default: the working directory)")
	flags.StringVar(&f.socket, "socket", "", "`PATH` of the gate's socket (default: that of up, else one of the project)")
	flags.BoolVar(&f.start, "start", true, "start a gate if none runs")
	_ = cmd.MarkFlagDirname("project")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		cli.OutlivePipes()
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		err := f.run(ctx, s)
		if p := (*relay.Problem)(nil); errors.As(err, &p) {
			return cli.Exit(cli.ExitTrouble) // the client has received it
		}
		return err
	}
	return cmd
}

// protocol is the version of the frames.
const protocol = 1

// keepAlive is how often a relay without requests sends one.
const keepAlive = time.Minute

// run relays. An error before the first frame is one for the client.
func (f *connectFlags) run(ctx context.Context, s cli.Streams) error {
	if err := f.enter(); err != nil {
		return f.fail(s, err)
	}
	if !peer.Checks {
		return f.within(ctx, s)
	}
	found, err := f.finder()
	if err != nil {
		return f.fail(s, err)
	}
	d, err := found.Describe(ctx)
	if err != nil {
		return f.fail(s, err)
	}
	return f.relay(ctx, s, d, found.Dial)
}

// relay relays to the gate that was found.
func (f *connectFlags) relay(ctx context.Context, s cli.Streams, d decide.Description, dial func(context.Context) (net.Conn, error)) error {
	hello, err := json.Marshal(map[string]any{"hello": map[string]any{"protocol": protocol, "version": d.Version, "gate": d}})
	if err != nil {
		return err
	}
	return relay.Serve(ctx, s.In, s.Out, relay.Options{Dial: dial, Hello: hello, KeepAlive: keepAlive})
}

// within relays to a gate in this process.
func (f *connectFlags) within(ctx context.Context, s cli.Streams) error {
	g, err := openServe(ctx, cli.Streams{Out: io.Discard, Err: s.Err}, &serveFlags{gateFlags: gateFlags{Policy: f.policy}})
	if err != nil {
		return f.fail(s, err)
	}
	g.pipe = local.NewPipe()
	ready := make(chan struct{})
	g.ready = func() { close(ready) }
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- g.end(g.run(ctx)) }()
	select {
	case err := <-ended:
		return f.fail(s, err)
	case <-ready:
	}
	err = f.relay(ctx, s, g.description(), g.pipe.Dial)
	cancel()
	return errors.Join(err, <-ended)
}

// fail writes the error frame, and returns the problem in it.
func (f *connectFlags) fail(s cli.Streams, err error) error {
	p := &relay.Problem{Code: relay.Unreachable, Detail: err.Error()}
	errors.As(err, &p)
	if _, err := s.Out.Write(relay.Failure(p)); err != nil {
		return err
	}
	return p
}

// enter goes to the project: its files are found from there, and a gate that is started works there.
func (f *connectFlags) enter() (err error) {
	for i, path := range f.policy.Files {
		if f.policy.Files[i], err = filepath.Abs(path); err != nil {
			return err
		}
	}
	if f.socket != "" {
		if f.socket, err = filepath.Abs(f.socket); err != nil {
			return err
		}
	}
	if f.project != "" {
		if err := os.Chdir(f.project); err != nil {
			return fmt.Errorf("project: %w", err)
		}
	}
	return nil
}

// finder returns a finder of the gate of the working directory.
func (f *connectFlags) finder() (*local.Finder, error) {
	project, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("project: %w", err)
	}
	found := &local.Finder{Self: peer.Own(), Want: func() (decide.Description, error) {
		// Files are read anew: the gate that is found later has those that are there then.
		where := config.Standard(project)
		where.Policy, where.Again = f.policy.Files, true
		set, err := config.Discover(where)
		return descriptionOf(set, "", project), inputs.Unread(err)
	}}
	if _, err := found.Want(); err != nil {
		return nil, err
	}
	if found.Paths, err = f.sockets(project); err != nil {
		return nil, err
	}
	if f.start {
		starter := local.Starter{Args: f.serveArgs(), Dir: project}
		found.Start = starter.Start
	}
	return found, nil
}

// serveArgs are the arguments of the gate that is started.
func (f *connectFlags) serveArgs() []string {
	args := []string{"serve"}
	for _, path := range f.policy.Files {
		args = append(args, "--policy", path)
	}
	return args
}

// sockets returns the sockets where the gate may be: that of up, and one of the project and the policy
// files.
func (f *connectFlags) sockets(project string) ([]string, error) {
	if f.socket != "" {
		return []string{f.socket}, nil
	}
	shared, err := tables.DefaultSocket()
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, part := range append([]string{project}, f.policy.Files...) {
		fmt.Fprintf(h, "%d %s", len(part), part)
	}
	name := hex.EncodeToString(h.Sum(nil)[:8]) + ".sock"
	own, err := place.Path(filepath.Join("gates", name))
	if err != nil {
		return nil, err
	}
	if len(own) > socket.MaxPath-8 {
		// The directory of temporary files has short names. Its owner is checked before it is used.
		h.Write([]byte(own))
		own = filepath.Join(os.TempDir(), fmt.Sprintf("stopgate-%d", os.Getuid()), hex.EncodeToString(h.Sum(nil)[:8])+".sock")
	}
	return []string{shared, own}, nil
}
