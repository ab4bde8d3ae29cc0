package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"github.com/spf13/pflag"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/config/bundles"
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/store/backend"
	"github.com/stopgate/stopgate/internal/visible"
)

// Exit statuses.
const (
	exitTrouble = 1
	exitDenied  = 2 // blocks in every host that has a status for it
)

// Program is the difference between the executables that answer hooks.
type Program struct {
	// Judges creates the judges of policies, and Notify the notifiers of questions from the
	// [approvals] table. If one is nil, policies that need it are left to the full program.
	Judges func(backend.Store) gate.Option
	// External makes the external policies of policies; nil leaves events that need them to the
	// full program.
	External func() gate.Option
	Notify   func(table *tomltree.Value) ([]approve.Notifier, error)
	// Compile compiles policies with proofs. If it is nil, files that were not checked before are
	// left to the full program.
	Compile func([]policy.Source, policy.Options) (*policy.Program, diag.List)
	// Open opens stores. If it is nil, stores on servers are left to the full program.
	Open func(ctx context.Context, at string, o backend.Options) (backend.Store, error)
	// Fetch returns the function that fetches the policy bundles of a channel. If it is nil, an
	// event for which the channel has to be asked is left to the full program.
	Fetch func(bundles.Settings) bundles.Fetch
	// Full returns the path of the full program; nil for the full program itself.
	Full func() (string, error)
	// Caller is the process that an agent started; the zero Caller is this one.
	Caller Caller
	// Spent is the elapsed part of the deadline when the program began.
	Spent time.Duration
	// Nonce identifies an event that was delegated to another process; "" if it was not.
	Nonce string

	args      []string   // of the process
	delegated *delegated // nil: the process answers this event only
}

// Caller is the state of the process that an agent started, in addition to its command line, that
// an answer depends on and that another process cannot find out.
type Caller struct {
	config.Account
	// Dir is the working directory of another process.
	Dir string
}

// workingDir returns the directory of relative paths of the command line.
func (c Caller) workingDir() (string, error) {
	if c.Getenv == nil {
		return os.Getwd()
	}
	return c.Dir, nil
}

// Streams are the event, the answer, and the output for people.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// Flags are the flags of a hook.
type Flags struct {
	Policies []string
	Place    place.Flags
	Observe  bool
	Allow    bool
	Deadline time.Duration
}

// Add declares the flags.
func (f *Flags) Add(set *pflag.FlagSet) {
	set.StringArrayVar(&f.Policies, "policy", nil, "policy `FILE`; without it: the project's, the user's and the system's stopgate.toml")
	set.StringVar(&f.Place.Store, "store", "", "`URL` of the store: sqlite:PATH or memory (default: in the user's state directory)")
	set.StringVar(&f.Place.Audit, "audit", "", "JSON Lines `FILE` of the records, where the store is memory")
	set.BoolVar(&f.Observe, "observe", false, "hold nothing back, also when something fails; records say what would have been decided")
	set.BoolVar(&f.Allow, "fewer-prompts", false, "answer \"allow\" for what the policy lets run, which skips the host's own question")
	set.DurationVar(&f.Deadline, "deadline", hook.DefaultDeadline, "answer within this time, well below the host's timeout")
}

// Main answers the event of a command line: the name of a host, and flags. ok is false if the
// command line is a request for help.
func (p Program) Main(args []string, s Streams) (code int, ok bool) {
	debug.SetGCPercent(800) // the process ends before a collection is worthwhile
	ask.OutlivePipes()
	// There is no parallelism: threads that look for work and find none would take processor time
	// that other hooks need.
	runtime.GOMAXPROCS(1)
	f, set, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0, false
	case err != nil:
		fmt.Fprintf(s.Err, "stopgate: hook: %v; the call is blocked\n", err)
		return exitDenied, true
	}
	p.args = args
	return p.Serve(context.Background(), set.Args(), f, s), true
}

// parse parses a command line.
func parse(args []string) (*Flags, *pflag.FlagSet, error) {
	var f Flags
	set := pflag.NewFlagSet("hook", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	f.Add(set)
	return &f, set, set.Parse(args)
}

// Serve answers one event. An invalid command line blocks too, since the host would run the tool.
func (p Program) Serve(ctx context.Context, args []string, f *Flags, s Streams) int {
	if len(args) != 1 {
		fmt.Fprintf(s.Err, "stopgate: hook takes the name of one host: %s; the call is blocked\n", diag.OneOf(hook.Names()))
		return exitDenied
	}
	host, err := hook.Lookup(args[0])
	if err != nil {
		fmt.Fprintf(s.Err, "stopgate: %s; the call is blocked\n", visible.Text(err.Error()))
		return exitDenied
	}
	// Hosts give standard error to the model: first the reason, then the messages for people.
	log := new(bufferedLog)
	defer log.writeTo(s.Err)
	flags := *f
	flags.Place.Account, flags.Place.Open = p.Caller.Account, p.Open
	if flags.Deadline <= 0 {
		flags.Deadline = hook.DefaultDeadline
	}
	flags.Deadline = max(flags.Deadline-p.Spent, time.Millisecond)
	w := &wiring{program: p, host: host, flags: &flags, log: log, began: time.Now()}
	input := s.In
	if p.Full != nil {
		input = io.TeeReader(s.In, &w.event)
	}
	o := hook.Options{
		Open: w.open, ObserveOnly: f.Observe, Allow: f.Allow, Deadline: flags.Deadline, Log: log, RecordDenial: w.unrecorded, Delegation: p.Nonce,
	}
	if p.delegated != nil {
		o.Left = p.delegated.left
	}
	r := host.Run(ctx, o, input)
	// An answer that does not reach the host is no answer.
	if _, err := s.Out.Write(r.Stdout); err != nil && !f.Observe {
		fmt.Fprintf(s.Err, "stopgate: the answer cannot be written: %v; the call is blocked\n", err)
		return exitDenied
	}
	s.Err.Write(r.Stderr)
	return r.Exit
}

// bufferedLog keeps messages until they may be written. After the deadline the gate may still be
// working.
type bufferedLog struct {
	mu   sync.Mutex
	text []byte
}

func (a *bufferedLog) Write(p []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.text = append(a.text, p...)
	return len(p), nil
}

func (a *bufferedLog) writeTo(w io.Writer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	w.Write(a.text)
}
