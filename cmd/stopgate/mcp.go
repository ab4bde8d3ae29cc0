package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/mcp/pin"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/record/metrics"
	"github.com/stopgate/stopgate/internal/release"
	"github.com/stopgate/stopgate/internal/system/leash"
	"github.com/stopgate/stopgate/internal/system/realpath"
	"github.com/stopgate/stopgate/internal/system/secret"
	"github.com/stopgate/stopgate/mcpgate"
	"github.com/stopgate/stopgate/session"
)

type mcpFlags struct {
	policyFlags
	stateFlags
	talkFlags
	servers []string
	env     []string
	http    string
}

func newMCP(s streams) *cobra.Command {
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
				return usagef("write -- before the server's command: stopgate mcp -- %s", args[0])
			}
			return nil
		},
	}
	f.policyFlags.add(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.servers, "server", nil, "a server as `NAME=COMMAND` or NAME=URL; repeatable")
	flags.StringArrayVar(&f.env, "env", nil, "pass the environment variable `NAME` on to servers named by --server; repeatable")
	flags.StringVar(&f.http, "http", "", "serve streamable HTTP on `ADDR`, path /mcp, instead of standard input and output")
	f.stateFlags.add(cmd)
	f.talkFlags.add(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		outlivePipes()
		ctx, stop := interruptible(cmd.Context())
		defer stop()
		return serveMCP(ctx, s, &f, args)
	}
	cmd.AddCommand(newPin(s))
	return cmd
}

// mcpRun is one run of mcp.
type mcpRun struct {
	streams
	flags    *mcpFlags
	settings mcpSettings
	loaded
	desk  apiSettings
	state *state
	talk  telemetrySettings
	log   *slog.Logger
	own   []mcpgate.Token // that this run made up, where none is configured
	leash leash.Leash     // of servers
	// current is the policy in force.
	current atomic.Pointer[policy.Program]
}

func serveMCP(ctx context.Context, s streams, f *mcpFlags, command []string) error {
	l, err := f.loadAt(s.err, f.paths)
	if err != nil {
		return err
	}
	settings, err := mcpSettingsOf(l)
	if err != nil {
		return err
	}
	desk, mistakes := apiConfig(l.program.Settings().Tables, secret.Machine())
	if err := l.mistakes(mistakes); err != nil {
		return err
	}
	specs, err := f.serversOf(settings, command)
	if err != nil {
		return err
	}
	keep, err := stateOf(l, f.stateFlags)
	if err != nil {
		return err
	}
	talk, err := telemetryOf(l, f.talkFlags)
	if err != nil {
		return err
	}
	st, err := openState(ctx, keep)
	if err != nil {
		return err
	}
	r := &mcpRun{streams: s, flags: f, settings: settings, loaded: l, desk: desk, state: st, talk: talk, log: talk.logger(s.err)}
	return errors.Join(r.run(ctx, specs), st.close())
}

// paths says where relative paths begin: on standard input and output in the
// repository, as agents work there; over HTTP nowhere (K19).
func (f *mcpFlags) paths(set config.Set) policy.Options {
	if f.http != "" {
		return policy.Options{}
	}
	dir, _ := os.Getwd() // without one, fewer rules permit
	return besideServers(set, dir, f.Store)
}

// besideServers is what is known where servers work in dir, which may be below the root.
func besideServers(set config.Set, dir, store string) policy.Options {
	o := policy.Options{Root: cmp.Or(set.Root, dir), Dir: dir}
	o.Links = &match.Links{Real: realpath.From(o.Root), Walk: realpath.Walk(o.Root), Files: realpath.Files(realpath.Enough), Has: realpath.Has}
	o.Home, _ = os.UserHomeDir()
	o.Settings = process.Settings(config.Account{}, o.Root, store)
	return o
}

func (r *mcpRun) run(ctx context.Context, specs []serverSpec) error {
	tele, err := openTelemetry(ctx, r.talk, metrics.New(r.program.Tools()), r.log)
	if err != nil {
		return err
	}
	defer tele.close()
	defer r.leash.Close()
	gw, g, err := r.gateway(specs, tele)
	if err != nil {
		return err
	}
	ordered := func(l gate.Lockdown) { r.talk.teller(r.err)(lockdownText(l)) }
	return r.state.attend(ctx, g, tele, r.log, ordered, func(ctx context.Context, _ context.CancelCauseFunc) error {
		tell := r.talk.teller(r.err)
		tell(fmt.Sprintf("MCP gateway for %s, records in %s, policy %.12s; questions: stopgate approvals watch", count(len(specs), "server"), r.state.place, g.PolicyHash()))
		if !g.Enforced() {
			tell(observing)
		}
		return r.serve(ctx, gw, g)
	})
}

// gateway wires the gate to the gateway.
func (r *mcpRun) gateway(specs []serverSpec, tele *telemetry) (*mcpgate.Gateway, *gate.Gate, error) {
	key, err := sealKey(r.state.settings.Store)
	if err != nil {
		return nil, nil, err
	}
	approver, err := mcpgate.NewApprover(r.state.questions, r.desk.questionOptions(r.log))
	if err != nil {
		return nil, nil, err
	}
	r.current.Store(r.program)
	o := mcpgate.Options{
		Program: func() mcpgate.Policy { return r.current.Load() }, Approver: approver, StateSecret: key,
		Settings: r.settings.set, Log: r.log, Version: release.Version(), Pins: pinsFor(r.settings, specs, r.state.pins()), Observer: tele.mcpObserver(),
	}
	for _, spec := range specs {
		o.Servers = append(o.Servers, spec.server(r.err, r.leash.Hold))
	}
	hold := r.settings.set.ApprovalTimeout
	if hold == 0 {
		hold = r.desk.approvals.UnaryTimeout
	}
	o.Gate, err = gate.New(r.program, tele.tracer(),
		gate.WithRecorder(r.state.records), gate.WithStore(r.state.facts), gate.WithApprover(approver), gate.WithSealKey(key), judges(r.state.store),
		gate.WithLimits(gate.Limits{Hold: hold, Approval: r.desk.approvals.Expires}), gate.WithDenyMode(gate.DenyToolResult))
	if err != nil {
		return nil, nil, err
	}
	gw, err := mcpgate.New(o)
	return gw, o.Gate, err
}

// pins are the accepted definitions of tools: kept beside the store; those of a store
// in memory end with it.
func (st *state) pins() *pin.Store {
	if st.settings.Store == place.Memory {
		return pin.InMemory()
	}
	return pin.Open(pinsOf(st.settings.Store))
}

// pinsOf is the file of the pins that belong to a store.
func pinsOf(store string) string { return store + ".mcp-pins.json" }

// serve talks to the client, or to many, and follows the policy files meanwhile.
func (r *mcpRun) serve(ctx context.Context, gw *mcpgate.Gateway, g *gate.Gate) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	changes := &mcpReload{run: r, gate: g, gateway: gw}
	reloads := &reloader{
		flags: &r.flags.policyFlags, show: r.talk.shower(r.err), log: r.log, gate: g, try: changes.try,
		files: func() []string { return r.settings.files },
	}
	pins := &pinWatch{store: r.state.pins(), tell: gw.PolicyChanged}
	pins.look()
	reloads.look = pins.look
	if r.flags.http != "" {
		return r.serveHTTP(ctx, gw, func(h *mcpgate.Handler) (done <-chan struct{}) {
			changes.handler = h
			return reloads.start(ctx)
		}, cancel)
	}
	reloading := reloads.start(ctx)
	err := gw.ServeStdio(ctx, stdioOwner(), r.in, r.out)
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
