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
	"github.com/stopgate/stopgate/internal/config/place"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
	"github.com/stopgate/stopgate/internal/store/sqlite"
	"github.com/stopgate/stopgate/internal/visible"
)

// exitDenied is the status that blocks in every host that has one for it.
const exitDenied = 2

// Program is what the executables that answer hooks differ in.
type Program struct {
	// Judges makes the judges that policies ask for, and Tell those who are told of
	// questions, from the table [approvals]. Where one is nil, policies that need it are
	// left to the full program.
	Judges func(*sqlite.Store) gate.Option
	Tell   func(table *tomltree.Value) ([]approve.Notifier, error)
	// Full finds the program that can do all; nil for this one.
	Full func() (string, error)
	// Caller is the process that an agent started; the zero Caller is this one.
	Caller Caller
	// Spent is how much of the deadline was over when the program began.
	Spent time.Duration

	guest *guest // nil: the process answers this event alone
}

// Caller is what is known of the process that an agent started, beside its command line:
// all that an answer depends on and that another process would not find out for itself.
type Caller struct {
	config.Account
	// Dir is the working directory of another process.
	Dir string
}

// workingDir is where relative paths of the command line begin.
func (c Caller) workingDir() (string, error) {
	if c.Getenv == nil {
		return os.Getwd()
	}
	return c.Dir, nil
}

// Streams are the event, the answer, and what people read.
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

// words are the command line that says the same, with what is left of the deadline.
func (f *Flags) words(host string, left time.Duration) []string {
	words := []string{"hook", host, "--deadline", left.String()}
	for _, p := range f.Policies {
		words = append(words, "--policy", p)
	}
	if f.Place.Store != "" {
		words = append(words, "--store", f.Place.Store)
	}
	if f.Place.Audit != "" {
		words = append(words, "--audit", f.Place.Audit)
	}
	if f.Observe {
		words = append(words, "--observe")
	}
	if f.Allow {
		words = append(words, "--fewer-prompts")
	}
	return words
}

// Main answers the event of a command line: the name of a host, and flags. It reports
// false for what is no event: somebody asks for help.
func (p Program) Main(args []string, s Streams) (code int, ok bool) {
	debug.SetGCPercent(800) // the process ends before a collection pays
	ask.OutlivePipes()
	// One thing is done after the other: threads of which each looks whether another one has
	// work for it, and is woken to find none, are time of processors that other hooks need.
	runtime.GOMAXPROCS(1)
	f, set, err := parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return 0, false
	case err != nil:
		fmt.Fprintf(s.Err, "stopgate: hook: %v; the call is blocked\n", err)
		return exitDenied, true
	}
	return p.Serve(context.Background(), set.Args(), f, s), true
}

// parse reads a command line.
func parse(args []string) (*Flags, *pflag.FlagSet, error) {
	var f Flags
	set := pflag.NewFlagSet("hook", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	f.Add(set)
	return &f, set, set.Parse(args)
}

// Serve answers one event. Even a wrong command line blocks: the host would run
// the tool.
func (p Program) Serve(ctx context.Context, args []string, f *Flags, s Streams) int {
	if len(args) != 1 {
		fmt.Fprintf(s.Err, "stopgate: hook takes the name of one host: %s; the call is blocked\n", diag.OneOf(hook.Names()))
		return exitDenied
	}
	var kept *Kept
	if p.guest != nil {
		kept = p.guest.kept
	}
	host, err := kept.host(args[0])
	if err != nil {
		fmt.Fprintf(s.Err, "stopgate: %s; the call is blocked\n", visible.Text(err.Error()))
		return exitDenied
	}
	// Hosts give standard error to the model: the reason first, then what people need.
	talk := new(aside)
	defer talk.writeTo(s.Err)
	flags := *f
	flags.Place.Account = p.Caller.Account
	if flags.Deadline <= 0 {
		flags.Deadline = hook.DefaultDeadline
	}
	flags.Deadline = max(flags.Deadline-p.Spent, time.Millisecond)
	w := &wiring{program: p, host: host, flags: &flags, talk: talk, began: time.Now()}
	input := s.In
	if p.Full != nil {
		input = io.TeeReader(s.In, &w.event)
	}
	r := host.Run(ctx, hook.Options{Open: w.open, ObserveOnly: f.Observe, Allow: f.Allow, Deadline: flags.Deadline, Log: talk, RecordDenial: w.unrecorded}, input)
	// An answer that does not reach the host is no answer.
	if _, err := s.Out.Write(r.Stdout); err != nil && !f.Observe {
		fmt.Fprintf(s.Err, "stopgate: the answer cannot be written: %v; the call is blocked\n", err)
		return exitDenied
	}
	s.Err.Write(r.Stderr)
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
