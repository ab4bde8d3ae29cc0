package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/audit/jsonl"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/hook"
	hookonce "github.com/stopgate/stopgate/hook/once"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/diag"
	"github.com/stopgate/stopgate/internal/realpath"
	"github.com/stopgate/stopgate/internal/visible"
	"github.com/stopgate/stopgate/policy"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/store/sqlite"
)

// hookFlags are the flags of hook. They are read without cobra: a hook is one process
// per call, and nothing is set up that the call does not need.
type hookFlags struct {
	policies []string
	state    stateFlags
	observe  bool
	allow    bool
	deadline time.Duration
}

func (f *hookFlags) add(set *pflag.FlagSet) {
	set.StringArrayVar(&f.policies, "policy", nil, "policy `FILE`; without it: the project's, the user's and the system's stopgate.toml")
	set.StringVar(&f.state.store, "store", "", "`URL` of the store: sqlite:PATH or memory (default: in the user's state directory)")
	set.StringVar(&f.state.audit, "audit", "", "JSON Lines `FILE` of the records, where the store is memory")
	set.BoolVar(&f.observe, "observe", false, "hold nothing back, also when something fails; records say what would have been decided")
	set.BoolVar(&f.allow, "fewer-prompts", false, "answer \"allow\" for what the policy lets run, which skips the host's own question")
	set.DurationVar(&f.deadline, "deadline", hook.DefaultDeadline, "answer within this time, well below the host's timeout")
}

func newHook(s streams) *cobra.Command {
	var f hookFlags
	cmd := &cobra.Command{
		Use:   "hook HOST",
		Short: "answer the hook of a coding agent",
		Long: `hook reads one event of a coding agent from standard input, decides, and answers
in the form that this agent enforces. The agent starts it; see stopgate install.

Whatever goes wrong - an event that cannot be read, a policy with mistakes, a store
that is locked, a panic, the deadline - is a denial.

Hosts: ` + oneOf(hook.Names()),
		Example:   "  stopgate hook claude-code < event.json",
		ValidArgs: hook.Names(),
		Args:      cobra.ArbitraryArgs,
	}
	f.add(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return exitStatus{serveHook(cmd.Context(), s, args, &f)}
	}
	return cmd
}

// runHook is hook without the tree of commands. It reports false for what is not an
// event: help.
func runHook(args []string, s streams) (code int, ok bool) {
	debug.SetGCPercent(800) // the process ends before a collection pays
	var f hookFlags
	set := pflag.NewFlagSet("hook", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	f.add(set)
	switch err := set.Parse(args); {
	case errors.Is(err, pflag.ErrHelp):
		return 0, false
	case err != nil:
		fmt.Fprintf(s.err, "stopgate: hook: %v; the call is blocked\n", err)
		return exitDenied, true
	}
	return serveHook(context.Background(), s, set.Args(), &f), true
}

// serveHook answers one event. Even a wrong command line blocks: the host would run
// the tool.
func serveHook(ctx context.Context, s streams, args []string, f *hookFlags) int {
	if len(args) != 1 {
		fmt.Fprintf(s.err, "stopgate: hook takes the name of one host: %s; the call is blocked\n", oneOf(hook.Names()))
		return exitDenied
	}
	host, err := hook.Lookup(args[0])
	if err != nil {
		fmt.Fprintf(s.err, "stopgate: %s; the call is blocked\n", visible.Text(err.Error()))
		return exitDenied
	}
	// Hosts give standard error to the model: the reason first, then what people need.
	talk := new(aside)
	defer talk.writeTo(s.err)
	w := &hookWiring{host: host, flags: f, talk: talk}
	r := host.Run(ctx, hook.Options{Open: w.open, Observe: f.observe, Allow: f.allow, Deadline: f.deadline, Talk: talk}, s.in)
	// An answer that does not reach the host is no answer.
	if _, err := s.out.Write(r.Stdout); err != nil && !f.observe {
		fmt.Fprintf(s.err, "stopgate: the answer cannot be written: %v; the call is blocked\n", err)
		return exitDenied
	}
	s.err.Write(r.Stderr)
	return r.Exit
}

// aside keeps what is said until it may be read. After the deadline the gate may still
// be at work.
type aside struct {
	mu   sync.Mutex
	text []byte
}

func (a *aside) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = append(a.text, p...)
	return len(p), nil
}

func (a *aside) writeTo(w io.Writer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Write(a.text)
}

// hookWiring makes the gate of one event.
type hookWiring struct {
	host  *hook.Host
	flags *hookFlags
	talk  io.Writer
	store *sqlite.Store // nil: there is none
	once  *hookonce.Desk
}

// hookTable is the table [hook].
type hookTable struct {
	Unattended string `toml:"unattended"`
}

func (w *hookWiring) open(ctx context.Context, e *hook.Event) (*hook.Backend, error) {
	dir, err := projectDir(e.Dir)
	if err != nil {
		return nil, err
	}
	where := config.Standard(dir)
	where.Policy = w.flags.policies
	set, err := config.Discover(where)
	if err != nil {
		return nil, err
	}
	sayWhatHolds(w.talk, set)
	o := policy.Options{Root: set.Root, UnknownTool: stopgate.Ask}
	if o.Root == "" {
		o.Root = dir
	}
	if o.Dir = e.Dir; o.Dir == "" {
		o.Dir, _ = os.Getwd()
	}
	o.Home, _ = os.UserHomeDir()
	o.Links = &match.Links{Real: realpath.From(o.Root)}
	o.Run, o.RunLost = runDir(e.Run, o.Dir, o.Links.Real)
	o.RunDoubt, o.RunLost = e.RunDoubt, o.RunLost || e.RunLost
	program, mistakes := policy.Compile(set.Sources(), o)
	if program == nil || mistakes.HasErrors() {
		io.WriteString(w.talk, visible.Lines(diag.Text(mistakes.Errors(), set.Text)))
		return nil, mistakesError{mistakes, set}
	}
	l := loaded{set: set, program: program}
	table, list := hookConfig(program.Settings().Tables["hook"])
	if list.HasErrors() {
		io.WriteString(w.talk, visible.Lines(diag.Text(list, set.Text)))
		return nil, mistakesError{list, set}
	}
	if id := os.Getenv("STOPGATE_SESSION"); id != "" {
		e.Call.Session = stopgate.SessionID(id)
	}
	b := &hook.Backend{Allow: table.Unattended == "allow", Results: len(program.SessionPolicies()) > 0 || program.WithholdsResults()}
	if e.Kind == hook.After && !b.Results {
		b.Gate, err = gate.New(program)
		return b, err
	}
	options, queue, err := w.state(ctx, l)
	if err != nil {
		return nil, err
	}
	b.Approver = w.host.Approver(e, queue)
	b.Once = w.once
	b.Gate, err = gate.New(program, append(options, judges(w.store),
		gate.WithApprover(b.Approver), gate.WithDenyMode(gate.DenyToolResult), gate.WithLimits(w.limits()))...)
	if err != nil || w.store == nil {
		return b, err
	}
	standing, err := w.store.Lockdown(ctx)
	if err != nil {
		return nil, err
	}
	b.Gate.Lock(standing)
	return b, nil
}

// limits are those of a machine on which sixteen hooks start at once, within the
// deadline (FM9): the margin is 20 % of it, 5 s at most.
func (w *hookWiring) limits() gate.Limits {
	left := w.flags.deadline - min(w.flags.deadline/5, 5*time.Second)
	return gate.Limits{Policy: min(left, 2*time.Second), Store: min(left, 8*time.Second), Record: min(left, 8*time.Second), Hold: left}
}

// state opens what the gate keeps. The store is not closed: that would write more than
// the call needs, and every row is durable already.
func (w *hookWiring) state(ctx context.Context, l loaded) ([]gate.Option, gate.Approver, error) {
	settings, err := stateOf(l, w.flags.state)
	if err != nil {
		return nil, nil, err
	}
	if settings.store == memoryStore {
		// Memory ends with the process. Without a store what sessions govern is denied.
		lines, err := openLines(ctx, settings)
		if err != nil {
			return nil, nil, err
		}
		return []gate.Option{gate.WithRecorder(lines)}, nil, nil
	}
	store, err := openStore(ctx, settings)
	if err != nil {
		return nil, nil, err
	}
	w.store, w.once = store, hookonce.At(filepath.Join(filepath.Dir(settings.store), "hooks"), w.rules(l.set))
	queue, err := approve.New(store, hookQuestions(l, w.talk))
	if err != nil {
		return nil, nil, err
	}
	return []gate.Option{gate.WithStore(store), gate.WithRecorder(store.Recorder())}, queue, nil
}

// rules name what this process decides by: policy files and flags.
func (w *hookWiring) rules(set config.Set) string {
	sum := sha256.New()
	for _, s := range set.Sources() {
		fmt.Fprintf(sum, "%q %t %d ", s.Name, s.Trusted, len(s.Text))
		sum.Write(s.Text)
	}
	fmt.Fprintf(sum, "%t %t", w.flags.allow, w.flags.observe)
	return fmt.Sprintf("%x", sum.Sum(nil))
}

// defers reads [approvals] absent.
func defers(p *policy.Program) bool {
	table := p.Settings().Tables["approvals"]
	if table == nil {
		return false
	}
	absent := table.Get("absent")
	return absent != nil && absent.Value.Text == "defer"
}

// openLines opens a file of records, of which there is one writer at a time.
func openLines(ctx context.Context, settings stateSettings) (*jsonl.Recorder, error) {
	path := settings.auditFile
	if path == "" {
		var err error
		if path, err = stateFile("audit.jsonl"); err != nil {
			return nil, err
		}
	}
	for {
		lines, err := settings.lines(path)
		if !errors.Is(err, jsonl.ErrInUse) {
			return lines, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// runDir is the absolute directory in which the commands of a call run that says where,
// "" for one that does not; lost if nobody knows it. Behind ".." only the file system does.
func runDir(run, dir string, real func(string) (string, bool)) (there string, lost bool) {
	if run == "" {
		return "", false
	}
	if !path.IsAbs(run) {
		run = dir + "/" + run
	}
	there, ok := real(run)
	if ok && !slices.Contains(strings.Split(run, "/"), "..") {
		there = path.Clean(run)
	}
	return there, !ok
}

// projectDir is the directory whose policy holds: what the host says about the
// project, the session's working directory, or our own. A model may change the second,
// so the first counts where there is one.
func projectDir(session string) (string, error) {
	for _, name := range []string{"CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR", "QWEN_PROJECT_DIR"} {
		if dir := os.Getenv(name); filepath.IsAbs(dir) {
			return dir, nil
		}
	}
	if filepath.IsAbs(session) {
		return session, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find the project: %w", err)
	}
	return dir, nil
}
