package operate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/record/metrics"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/system/leash"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/session"
)

type mcpFlags struct {
	inputs.Policy
	inputs.State
	tables.LogFlags
	servers []string
	env     []string
	http    string
}

func NewMCP(s cli.Streams) *cobra.Command {
	var f mcpFlags
	cmd := &cobra.Command{
		Use:   "mcp [flags] -- COMMAND [ARGS...]",
		Short: "put the gate before MCP servers",
		Long: `mcp is an MCP server to the agent and a client to one server or several; every tool
call passes the policy. Put it before the command of a server that an agent starts:

  stopgate mcp -- npx -y @modelcontextprotocol/server-filesystem .

With --server, once or several times, servers have names: their tools are
NAME__TOOL in the policy and, where there are several, to the agent. With --http it
listens instead of talking over standard input and output.

A tool's definition is pinned when it is first seen; a tool that changed is disabled
until you accept it: stopgate mcp pin.`,
		Example: `  stopgate mcp -- npx -y @modelcontextprotocol/server-memory
  stopgate mcp --server fs='npx -y @modelcontextprotocol/server-filesystem .' --server wiki=https://wiki.example.com/mcp`,
		Args: func(cmd *cobra.Command, args []string) error {
			if at := cmd.ArgsLenAtDash(); len(args) > 0 && at != 0 {
				return cli.Usagef("write -- before the server's command: stopgate mcp -- %s", args[0])
			}
			return nil
		},
	}
	f.Policy.Add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.servers, "server", nil, "a server as `NAME=COMMAND` or NAME=URL; repeatable")
	flags.StringArrayVar(&f.env, "env", nil, "pass the environment variable `NAME` on to servers named by --server; repeatable")
	flags.StringVar(&f.http, "http", "", "serve streamable HTTP on `ADDR`, path /mcp, instead of standard input and output")
	f.State.Add(cmd)
	f.LogFlags.Add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		cli.OutlivePipes()
		ctx, stop := cli.Interruptible(cmd.Context())
		defer stop()
		return serveMCP(ctx, s, &f, args)
	}
	return cmd
}

// mcpRun is one run of mcp.
type mcpRun struct {
	cli.Streams
	flags    *mcpFlags
	settings tables.MCP
	inputs.Loaded
	desk  tables.API
	state *service.State
	talk  tables.Telemetry
	log   *slog.Logger
	own   []mcpgate.Token // that this run made up, where none is configured
	leash leash.Leash     // of servers
	// current is the policy in force.
	current atomic.Pointer[policy.Program]
}

func serveMCP(ctx context.Context, s cli.Streams, f *mcpFlags, command []string) error {
	l, err := f.LoadAt(s.Err, f.paths)
	if err != nil {
		return err
	}
	settings, err := mcpSettingsOf(l)
	if err != nil {
		return err
	}
	desk, mistakes := tables.ReadAPI(l.Program.Settings().Tables, secret.Machine())
	if err := l.Mistakes(mistakes); err != nil {
		return err
	}
	specs, err := f.serversOf(settings, command)
	if err != nil {
		return err
	}
	keep, err := inputs.StateOf(l, f.State)
	if err != nil {
		return err
	}
	talk, err := tables.TelemetryOf(l, f.LogFlags)
	if err != nil {
		return err
	}
	st, err := service.Open(ctx, keep)
	if err != nil {
		return err
	}
	r := &mcpRun{Streams: s, flags: f, settings: settings, Loaded: l, desk: desk, state: st, talk: talk, log: talk.Logger(s.Err)}
	return errors.Join(r.run(ctx, specs), st.Close())
}

// paths says where relative paths begin: on standard input and output in the
// repository, as agents work there; over HTTP nowhere (K19).
func (f *mcpFlags) paths(set config.Set) policy.Options {
	if f.http != "" {
		return policy.Options{}
	}
	dir, _ := os.Getwd() // without one, fewer rules permit
	return inputs.WorkingIn(set, dir, f.Store)
}

func (r *mcpRun) run(ctx context.Context, specs []service.ServerSpec) error {
	tele, err := service.OpenTelemetry(ctx, r.talk, metrics.New(r.Program.Tools()), r.log)
	if err != nil {
		return err
	}
	defer tele.Close()
	defer r.leash.Close()
	gw, g, err := r.gateway(specs, tele)
	if err != nil {
		return err
	}
	ordered := func(l gate.Lockdown) { r.talk.Teller(r.Err)(service.LockdownText(l)) }
	return r.state.Attend(ctx, g, tele, r.log, ordered, func(ctx context.Context, _ context.CancelCauseFunc) error {
		tell := r.talk.Teller(r.Err)
		tell(fmt.Sprintf("MCP gateway for %s, records in %s, policy %.12s; questions: stopgate approvals watch", cli.Count(len(specs), "server"), r.state.Place, g.PolicyHash()))
		if !g.Enforced() {
			tell(observing)
		}
		return r.serve(ctx, gw, g)
	})
}

// gateway wires the gate to the gateway.
func (r *mcpRun) gateway(specs []service.ServerSpec, tele *service.Telemetry) (*mcpgate.Gateway, *gate.Gate, error) {
	key, err := sealKey(r.state.Settings.Store)
	if err != nil {
		return nil, nil, err
	}
	approver, err := mcpgate.NewApprover(r.state.Questions, r.desk.QueueOptions(r.log))
	if err != nil {
		return nil, nil, err
	}
	r.current.Store(r.Program)
	o := mcpgate.Options{
		Program: func() mcpgate.Policy { return r.current.Load() }, Approver: approver, StateSecret: key,
		Settings: r.settings.Gateway, Log: r.log, Version: release.Version(), Pins: service.PinsFor(r.settings, specs, r.state.Pins()), Observer: tele.MCPObserver(),
	}
	for _, spec := range specs {
		o.Servers = append(o.Servers, spec.Server(r.Err, r.leash.Hold))
	}
	hold := r.settings.Gateway.ApprovalTimeout
	if hold == 0 {
		hold = r.desk.Approvals.UnaryTimeout
	}
	o.Gate, err = gate.New(r.Program, tele.Tracer(),
		gate.WithRecorder(r.state.Records), gate.WithStore(r.state.Facts), gate.WithApprover(approver), gate.WithSealKey(key), service.Judges(r.state.Store),
		gate.WithLimits(gate.Limits{Hold: hold, Approval: r.desk.Approvals.Expires}), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return nil, nil, err
	}
	gw, err := mcpgate.New(o)
	return gw, o.Gate, err
}

// serve talks to the client, or to many, and follows the policy files meanwhile.
func (r *mcpRun) serve(ctx context.Context, gw *mcpgate.Gateway, g *gate.Gate) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := &mcpReload{run: r, gate: g, gateway: gw}
	reloads := &service.Reloader{
		Flags: &r.flags.Policy, Show: r.talk.Shower(r.Err), Log: r.log, Gate: g, Try: changes.try,
		Files: func() []string { return r.settings.Files },
	}
	pins := &pinWatch{store: r.state.Pins(), tell: gw.PolicyChanged}
	pins.look()
	reloads.Look = pins.look
	if r.flags.http != "" {
		return r.serveHTTP(ctx, gw, func(h *mcpgate.Handler) (done <-chan struct{}) {
			changes.handler = h
			return reloads.Start(ctx)
		}, cancel)
	}
	reloading := reloads.Start(ctx)
	err := gw.ServeStdio(ctx, stdioOwner(), r.In, r.Out)
	cancel()
	<-reloading
	return err
}

// stdioOwner is the session of the process that started us (S22).
func stdioOwner() session.Owner {
	o := session.Owner{Principal: "local", Session: stopgate.SessionID(os.Getenv("STOPGATE_SESSION"))}
	if o.Session == "" {
		o.Session = stopgate.SessionID("mcp:" + rand.Text())
	}
	return o
}

// serversOf are the servers of a command line: one command, or those of --server, or
// those of the policy file.
func (f *mcpFlags) serversOf(s tables.MCP, command []string) ([]service.ServerSpec, error) {
	switch {
	case len(command) > 0 && len(f.servers) > 0:
		return nil, cli.Usagef("name the server behind -- or with --server, not both")
	case len(command) > 0:
		if _, err := exec.LookPath(command[0]); err != nil {
			return nil, cli.Hinted(fmt.Errorf("start the server: %w", err), "what stands behind -- is the command of an MCP server, as the agent would start it")
		}
		// Whoever starts us instead of the server gave us the server's environment.
		return []service.ServerSpec{{Command: command, All: true}}, nil
	case len(f.servers) > 0:
		return service.NamedServers(s, f.servers, f.env)
	}
	specs := service.ListedServers(s, f.env)
	if len(specs) == 0 {
		return nil, cli.Hinted(cli.Usagef("mcp needs a server"), "stopgate mcp -- npx -y @modelcontextprotocol/server-filesystem .")
	}
	return specs, nil
}
