// Package ask lets the process that a coding agent starts for an event ask another one,
// the resident, which has the policy and the store in hand already:
//
//	a := ask.Resident(os.Args[1:])
//	if a.Answered() {
//		os.Exit(a.Say(os.Stdout, os.Stderr))
//	}
//	// decide here, with a.Input() and a.Spent
//
// Nobody is believed but a process that runs the very file that this one runs, of the same
// user, with the same root, file systems and processes (Linux; elsewhere nobody is asked).
// That is looked up before anything is sent, and the kernel says of every byte of the
// answer that this process wrote it. Whatever else happens - no resident, one of another
// version, one that hangs, dies, or answers something else - is no answer, and the process
// decides itself, in the time that is left.
//
// The package is initialised before the policy and the store are: it imports next to
// nothing, which is what makes asking cheap.
package ask

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// Asked is what came of asking the resident. The zero Asked is no answer.
type Asked struct {
	Reply Reply
	// Spent is how long it took.
	Spent time.Duration

	read  []byte // from standard input
	whole bool   // to its end
}

// Variables are the variables of the environment that an answer depends on.
func Variables() []string {
	return []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "STOPGATE_SESSION",
		"CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR", "QWEN_PROJECT_DIR",
		"XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME", "COPILOT_HOME", "PI_CODING_AGENT_DIR",
		"OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG", "GIT_CONFIG_GLOBAL"}
}

// maxPatience is how long a resident may take that waits for nobody.
const maxPatience = 2 * time.Second

// Resident asks the resident about the event on standard input, with the arguments of
// `stopgate-hook`. It reads no input where nobody listens.
func Resident(args []string) (a Asked) {
	if len(args) == 0 || args[0] == "serve" {
		return a
	}
	for _, arg := range args {
		if arg == "--help" || arg == "-h" || arg == "--version" {
			return a
		}
	}
	limit, ok := deadline(args)
	if !ok {
		return a
	}
	path, ok := Path()
	if !ok {
		return a
	}
	a.ask(path, args, limit)
	return a
}

// Answered reports whether there is an answer.
func (a *Asked) Answered() bool { return a.Reply.Kind == Answered }

// Say writes the answer as the process that decides would, and returns its status.
func (a *Asked) Say(out, err io.Writer) int {
	OutlivePipes()
	// An answer that does not reach the host is no answer.
	if _, failed := out.Write(a.Reply.Out); failed != nil && !a.Reply.Lenient {
		_, _ = io.WriteString(err, "stopgate: the answer cannot be written: "+failed.Error()+"; the call is blocked\n")
		return 2
	}
	_, _ = err.Write(a.Reply.Err)
	return int(a.Reply.Exit)
}

// OutlivePipes keeps the process alive where nobody reads its output any more: hosts let
// a call run whose hook was ended by a signal.
func OutlivePipes() { signal.Ignore(syscall.SIGPIPE) }

// Input is standard input from its beginning.
func (a *Asked) Input() io.Reader {
	if a.read == nil {
		return os.Stdin
	}
	return &input{a.read, a.whole}
}

// input is what was read, and what is still to be read.
type input struct {
	read  []byte
	whole bool
}

// Read implements [io.Reader].
func (i *input) Read(p []byte) (int, error) {
	switch {
	case len(i.read) > 0:
		n := copy(p, i.read)
		i.read = i.read[n:]
		return n, nil
	case i.whole:
		return 0, io.EOF
	}
	return os.Stdin.Read(p)
}

// defaultDeadline is that of hooks.
const defaultDeadline = 24 * time.Second

// deadline is what a command line says about it. A line that is not understood is left to
// who parses it.
func deadline(args []string) (d time.Duration, ok bool) {
	d, ok = defaultDeadline, true
	for i, arg := range args {
		const flag = "--deadline="
		text := ""
		switch {
		case len(arg) > len(flag) && arg[:len(flag)] == flag:
			text = arg[len(flag):]
		case arg == "--deadline" && i+1 < len(args):
			text = args[i+1]
		default:
			continue
		}
		given, err := time.ParseDuration(text)
		if err != nil || given <= 0 {
			return 0, false
		}
		d = given
	}
	return d, ok
}

// Path is where the resident of this user listens: in his state directory. It reports
// false where there can be none.
func Path() (string, bool) {
	home, dir := os.Getenv("HOME"), os.Getenv("XDG_STATE_HOME")
	if home != "" && home[0] != '/' {
		return "", false // what it is read against is another directory for another process
	}
	if dir == "" {
		if home == "" {
			return "", false
		}
		dir = home + "/.local/state"
	}
	path := dir + "/stopgate/hook.sock"
	return path, path[0] == '/' && len(path) <= maxPath
}

// maxPath is the longest path of a socket.
const maxPath = 103 - len(".new/s")

func environment() (env []string) {
	for _, name := range Variables() {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}
