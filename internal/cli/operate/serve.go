package operate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate/decide"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/relay/local"
	"github.com/stopgate/stopgate/internal/visible"
)

type serveFlags struct {
	gateFlags
	socket string
	idle   time.Duration
}

// defaultIdle is how long a gate without calls and connections runs.
const defaultIdle = 30 * time.Minute

func NewServe(s cli.Streams) *cobra.Command {
	var f serveFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "run the decision API alone, for programs of this machine",
		Long: `serve is up without the gateway: it serves the decision API on a Unix socket that only
you can open, with the same policy, store and records. Client libraries start it when they need
it (see stopgate connect).

When it listens it prints one line of JSON on standard output; logs go to standard error. It ends
when there was no request for some time, when its program file is replaced, and on SIGINT and
SIGTERM. A second one for the same socket does not start.`,
		Example: `  stopgate serve
  stopgate serve --policy stopgate.toml --idle 0`,
		Args: cli.NoArgs,
	}
	f.Policy.Add(cmd)
	flags := cmd.Flags()
	flags.StringVar(&f.socket, "api-socket", "", "Unix socket `PATH` of the decision API (default: in the user's runtime or state directory)")
	flags.DurationVar(&f.idle, "idle", defaultIdle, "end after this long without a request; 0 for never")
	f.State.Add(cmd)
	f.LogFlags.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if f.socket == tables.NoSocket || f.idle < 0 {
			return cli.Usagef("serve needs a socket, and --idle a time")
		}
		cli.OutlivePipes()
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		return serveDecisions(ctx, s, &f)
	}
	return cmd
}

// serveRun is one run of serve.
type serveRun struct {
	decisionRun
	flags *serveFlags
	pipe  *local.Pipe // where it listens within a process; nil for a socket
	ready func()      // is called when it listens; nil for announce
}

func serveDecisions(ctx context.Context, s cli.Streams, f *serveFlags) error {
	u, err := openServe(ctx, s, f)
	if err != nil {
		return err
	}
	return u.end(u.run(ctx))
}

// openServe loads the policy and opens the state.
func openServe(ctx context.Context, s cli.Streams, f *serveFlags) (*serveRun, error) {
	l, err := f.Load(s.Err)
	if err != nil {
		return nil, err
	}
	api, err := f.settings(l)
	if err != nil {
		return nil, err
	}
	u := &serveRun{decisionRun: decisionRun{gateRun: gateRun{Streams: s, Loaded: l, shared: &f.gateFlags, api: api}}, flags: f}
	return u, u.open(ctx)
}

// end closes the state after a run.
func (u *serveRun) end(err error) error { return errors.Join(err, u.state.Close()) }

func (u *serveRun) run(ctx context.Context) error {
	tele, err := u.openGate(ctx)
	if err != nil {
		return err
	}
	defer tele.Close()
	server, err := u.openServer(ctx, tele)
	if err != nil {
		return err
	}
	return u.state.Attend(ctx, u.gate, tele, u.log, u.ordered, func(ctx context.Context, cancel context.CancelCauseFunc) error {
		return u.serve(ctx, cancel, server)
	})
}

// errEnded are the reasons for which serve ends without an error.
var (
	errIdle     = errors.New("there was no request for a while")
	errReplaced = errors.New("the program file was replaced")
)

// serve listens and answers until ctx ends, or until there is a reason to end.
func (u *serveRun) serve(ctx context.Context, end context.CancelCauseFunc, server *decide.Server) error {
	program, err := newProgramFile()
	if err != nil {
		return err
	}
	following, err := u.state.Bundles(ctx, u.flags.Keeper(), u.gate, "serve", u.log)
	if err != nil {
		return err
	}
	d := &apiServer{server: server, pipe: u.pipe}
	if u.pipe == nil {
		if d, err = openAPI(u.api.Table, server, u.log); err != nil {
			return err
		}
		if d.local == nil {
			return cli.Hinted(errors.New("serve has no socket"), "name a short path with --api-socket PATH")
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	reloads := &service.Reloader{
		Flags: &u.flags.Policy, Show: u.talk.Shower(u.Err), Log: u.log, Gate: u.gate, Try: func() error { return u.reload(server) },
		Files: func() []string { return nil }, Bundles: following,
		Look: func() {
			switch {
			case program.replaced():
				cancel(errReplaced)
			case u.flags.idle > 0 && server.Idle() >= u.flags.idle:
				cancel(errIdle)
			}
		},
	}
	reloading := reloads.Start(ctx)
	defer func() { <-reloading }()
	defer cancel(nil)
	served := make(chan error, 1)
	go func() {
		err := d.serve()
		if err != nil {
			end(cli.Hinted(fmt.Errorf("decision API: %w", err), "start stopgate serve again"))
		}
		cancel(err)
		served <- err
	}()
	if u.ready != nil {
		u.ready()
	} else {
		err = u.announce(d)
	}
	if err == nil {
		<-ctx.Done()
		if cause := context.Cause(ctx); errors.Is(cause, errIdle) || errors.Is(cause, errReplaced) {
			u.tell("ends: " + cause.Error())
		}
	}
	return errors.Join(err, d.stop(), <-served)
}

// announce prints the address of the socket.
func (u *serveRun) announce(d *apiServer) error {
	var at struct {
		API    *string `json:"api"`
		Socket *string `json:"api_socket,omitempty"`
	}
	at.API, at.Socket = d.urls()
	u.tell(fmt.Sprintf("decision API on %s, records in %s, policy %.12s", visible.Text(*at.API), visible.Text(u.state.Place), u.gate.PolicyHash()))
	if l := u.gate.Lockdown(); l.Active() {
		u.logOrder(l)
	}
	if !u.gate.Enforced() {
		u.tell(observing)
	}
	return cli.WriteJSON(u.Out, at)
}

// reload reads the files and applies them if none of them has mistakes.
func (u *serveRun) reload(server *decide.Server) error {
	l, err := u.flags.Load(u.Err)
	if err != nil {
		return err
	}
	if err := service.SameFiles(u.Set, l.Set); err != nil {
		return err
	}
	api, err := u.flags.settings(l)
	if err != nil {
		return err
	}
	return u.apply(l, api, server)
}

// programFile is the file of this program.
type programFile struct {
	path string
	info os.FileInfo
}

func newProgramFile() (p programFile, err error) {
	if p.path, err = os.Executable(); err == nil {
		p.info, err = os.Stat(p.path)
	}
	return p, err
}

// replaced reports whether the path leads to another file now. While it leads nowhere, a new one is
// being written.
func (p programFile) replaced() bool {
	now, err := os.Stat(p.path)
	return err == nil && !os.SameFile(now, p.info)
}
