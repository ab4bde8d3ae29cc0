package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/agent"
	"github.com/stopgate/stopgate/internal/agent/conversation"
	"github.com/stopgate/stopgate/internal/agent/provider"
	"github.com/stopgate/stopgate/internal/agent/tools"
	"github.com/stopgate/stopgate/internal/approve/who"
	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/inputs"
	"github.com/stopgate/stopgate/internal/cli/service"
	"github.com/stopgate/stopgate/internal/cli/tables"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/system/leash"
	"github.com/stopgate/stopgate/session"
)

type agentFlags struct {
	inputs.Policy
	inputs.State
	model, api, baseURL, keyEnv string
	scenarios                   []string
	pace                        float64
	resume, style               string
	alone                       bool
	list, listTools             bool
	servers, env                []string
}

func New(s cli.Streams) *cobra.Command {
	var f agentFlags
	cmd := &cobra.Command{
		Use:     "agent [MESSAGE]",
		Aliases: []string{"chat"},
		Short:   "a coding agent in the terminal, with the gate in it",
		Long: `agent works in this repository with a model: it reads, searches, writes and runs
commands, as far as the policy lets it. It shows calls while the model is still
writing them, asks at the byte at which the policy asks, and stops the model when
the answer is no.

Without a model it plays a short tour, so that you can see all of it without a key.
With a MESSAGE, or one on standard input, it answers that message and ends; what the
model says goes to standard output, everything else to standard error.`,
		Example: `  stopgate agent
  OPENAI_API_KEY=... stopgate agent --model gpt-5 "why does the test fail?"
  stopgate agent --resume`,
		Args: cobra.ArbitraryArgs,
	}
	f.State.Add(cmd)
	flags := cmd.Flags()
	f.AddFiles(cmd)
	flags.StringVar(&f.model, "model", "", "`NAME` of the model (default: a scripted tour)")
	flags.StringVar(&f.api, "api", "", "`API` it is asked over: openai-chat, openai-responses or anthropic (default: by the model's name)")
	flags.StringVar(&f.baseURL, "base-url", "", "base `URL` of the provider, as its own clients take it")
	flags.StringVar(&f.keyEnv, "key-env", "", "`NAME` of the environment variable with the key (default OPENAI_API_KEY or ANTHROPIC_API_KEY)")
	flags.StringArrayVar(&f.scenarios, "script", nil, "play the script in `FILE` instead of the tour")
	flags.Float64Var(&f.pace, "pace", 120, "tokens per second of a scripted model; 0 is as fast as possible")
	flags.StringVar(&f.resume, "resume", "", "go on with the conversation `ID`; without one, with the latest of this directory")
	flags.Lookup("resume").NoOptDefVal = "latest"
	flags.BoolVar(&f.list, "list", false, "list the conversations of this directory and do nothing else")
	flags.StringArrayVar(&f.servers, "server", nil, "an MCP server as `NAME=COMMAND` or NAME=URL, beside those of [mcp.servers]; repeatable")
	flags.StringArrayVar(&f.env, "env", nil, "pass the environment variable `NAME` on to MCP servers; repeatable")
	flags.BoolVar(&f.listTools, "list-tools", false, "start the MCP servers, list all tools and do nothing else")
	flags.StringVar(&f.style, "style", "", "how calls are shown: call or json")
	flags.BoolVar(&f.alone, "non-interactive", false, "ask nobody: what the policy asks about is denied")
	cli.CompleteFlag(cmd, "api", provider.APIs()...)
	cli.CompleteFlag(cmd, "style", "call", "json")
	format := cli.FormatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case !(f.pace >= 0): // NaN too
			return cli.Usagef("--pace counts tokens per second, not %v", f.pace)
		case f.style != "" && f.style != "call" && f.style != "json":
			return cli.Usagef("unknown style %q: want call or json", f.style)
		}
		ctx, stop := cli.Interruptible(cmd.Context(), syscall.SIGHUP) // its terminal was closed
		defer stop()
		return runAgent(ctx, s, &f, *format, strings.Join(args, " "))
	}
	return cmd
}

// agentRun is one run of the agent.
type agentRun struct {
	cli.Streams
	inputs.Loaded
	flags  *agentFlags
	format cli.Format
	table  tables.Agent
	model  model
	state  *service.State
	talks  conversation.Store
	queue  *approve.Queue
	leash  leash.Leash // of commands and servers
	dir    string
	first  string // the message that was given
	once   bool
	id     string
	past   []conversation.Entry
	// current is the policy in force: program, until a rule is added or a bundle comes.
	current atomic.Pointer[policy.Program]
	swap    sync.Mutex // of the set and of current, once the agent runs
}

func runAgent(ctx context.Context, s cli.Streams, f *agentFlags, format cli.Format, message string) error {
	r := &agentRun{Streams: s, flags: f, format: format, first: message, once: message != ""}
	var err error
	if r.dir, err = os.Getwd(); err != nil {
		return fmt.Errorf("find the working tree: %w", err)
	}
	if err := r.policy(); err != nil {
		return err
	}
	settings, err := inputs.StateOf(r.Loaded, f.State)
	if err != nil {
		return err
	}
	if r.state, err = service.Open(ctx, settings); err != nil {
		return err
	}
	return errors.Join(r.run(ctx), r.state.Close())
}

// policy loads the policy for this directory, and the settings in its files.
func (r *agentRun) policy() (err error) {
	talk := r.Err
	if r.flags.list || r.flags.listTools {
		talk = io.Discard
	}
	if r.Loaded, err = r.flags.LoadAt(talk, r.optionsOf); err != nil {
		return err
	}
	r.dir = cmp.Or(r.Set.Root, r.dir)
	r.current.Store(r.Program)
	table, list := tables.ReadAgent(r.Program.Settings().Tables["agent"])
	if err := r.Mistakes(list); err != nil {
		return err
	}
	r.table = table
	r.model, err = modelOf(r.flags, r.table)
	return err
}

// optionsOf returns the options that a policy is compiled with: paths of calls and paths of rules begin at
// one place (K19).
func (r *agentRun) optionsOf(set config.Set) policy.Options {
	return inputs.WorkingIn(set, cmp.Or(set.Root, r.dir), r.flags.Store)
}

func (r *agentRun) run(ctx context.Context) (err error) {
	r.talks = kinds.Memory()
	if r.state.Store != nil {
		r.talks = r.state.Store
	}
	if r.flags.list {
		return r.listConversations(ctx)
	}
	if err := r.choose(ctx); err != nil {
		return err
	}
	rules, mistakes := who.Read(r.Program.Settings().Tables)
	if err := r.Mistakes(mistakes); err != nil {
		return err
	}
	if r.queue, err = approve.New(r.state.Questions, approve.Options{Require: rules.Require(r.toolNames), Defer: who.Defers(r.Program.Settings().Tables)}); err != nil {
		return err
	}
	if err := r.leash.Start(); err != nil {
		return err
	}
	defer r.leash.Close()
	own, err := tools.New(tools.Options{Dir: r.dir, Readable: r.readable, Local: r.local(), Env: environment(os.Environ()), Hold: r.leash.Hold})
	if err != nil {
		return err
	}
	defer own.Close()
	if r.flags.listTools {
		return r.showTools(ctx, own)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	front, err := r.front()
	if err != nil {
		return err
	}
	defer front.close()
	served, err := r.servers(front.watch.Notice)
	if err != nil {
		return err
	}
	defer served.Close()
	front.tools, front.listing = agent.Join(own, served), func() []string { return listing(own, served) }
	tele, err := r.telemetry(ctx, front.watch.Notice)
	if err != nil {
		return err
	}
	defer tele.Close()
	g, err := r.gate(ctx, front.approver(), tele)
	if err != nil {
		return err
	}
	front.gate = g
	following, err := r.state.Bundles(ctx, r.flags.Keeper(), g, "agent", slog.New(noticeLog{tell: front.watch.Notice}))
	if err != nil {
		return err
	}
	var beside sync.WaitGroup
	tele.Run(ctx)
	defer func() {
		cancel(nil)
		tele.Work.Wait()
		beside.Wait()
	}()
	beside.Go(func() {
		g.Follow(ctx, r.state.Orders, service.LockdownPoll, func(l gate.Lockdown) { front.watch.Notice(service.LockdownText(l)) })
	})
	beside.Go(func() { r.state.Trust(ctx, cancel) })
	beside.Go(func() { following.Follow(ctx, func() error { return r.renew(g, front.watch.Notice) }) })
	a, err := agent.New(agent.Options{
		Gate: g, Endpoint: r.model.endpoint, Tools: front.tools, Conversations: r.talks, Watch: front.watch, Dir: r.dir,
		Observer: tele.AgentObserver(),
		Owner:    session.Owner{Principal: hook.Principal, Session: stopgate.SessionID(r.id)}, System: r.system(),
	}, r.past)
	if err != nil {
		return err
	}
	return service.Ended(ctx, front.run(ctx, a))
}

// gate returns the gate of this run; without an approver nobody is asked.
func (r *agentRun) gate(ctx context.Context, approver gate.Approver, tele *service.Telemetry) (*gate.Gate, error) {
	options := []gate.Option{gate.WithLimits(gate.Limits{Store: agentStore, Record: agentStore, Hold: agentHold, Approval: agentHold})}
	if approver != nil {
		options = append(options, gate.WithApprover(approver))
	}
	g, err := r.state.Gate(r.Program, tele, options...)
	if err != nil {
		return nil, err
	}
	standing, err := r.state.Orders.Lockdown(ctx)
	if err != nil {
		return nil, err
	}
	g.Lock(standing)
	return g, nil
}

// choose finds the conversation to go on with, or begins one.
func (r *agentRun) choose(ctx context.Context) error {
	if r.id = r.flags.resume; r.id == "" {
		r.id = rand.Text()
		return nil
	}
	if r.id == "latest" {
		list, err := r.talks.Conversations(ctx, r.dir, 1)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			return cli.Hinted(errors.New("no conversation began in this directory"), "begin one: stopgate agent")
		}
		r.id = list[0].ID
	}
	var err error
	r.past, err = r.talks.ConversationEntries(ctx, r.id)
	if errors.Is(err, conversation.ErrUnknown) {
		return cli.Hinted(fmt.Errorf("there is no conversation %s", r.id), "list them: stopgate agent --list")
	}
	return err
}
