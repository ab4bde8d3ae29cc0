// Package ask lets the process that a coding agent starts for an event ask another one, the resident,
// which has already loaded the policy and opened the store. It is a client of one route of the
// decision API, POST /v1/hooks:
//
//	a := ask.Resident(os.Args[1:])
//	if a.Answered() {
//		os.Exit(a.Write(os.Stdout, os.Stderr))
//	}
//	// decide here, with a.Input() and a.Spent
//
// The resident is trusted only if it runs the stopgate next to this program (or the file of this
// program), as the same user, with the same root, file systems and process namespace (on Linux; other
// systems have no resident). This is checked before anything is sent, and the kernel confirms for
// every byte of the answer that this process wrote it. In all other cases - no resident, another
// version, a resident that hangs, dies, or answers something else - there is no answer, and the
// process decides itself in the remaining time.
//
// The package is initialised before the policy and the store. It imports almost nothing, so that
// asking is cheap.
package ask

import (
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/stopgate/stopgate/internal/system/peer"
)

// Asked is the result of asking the resident. The zero Asked has no answer.
type Asked struct {
	Reply Reply
	// Spent is the time it took.
	Spent time.Duration
	// Nonce is that of the request, "" if none was sent.
	Nonce string

	read     []byte // from standard input
	complete bool   // read to its end
}

// Variables returns the names of the environment variables that an answer depends on.
func Variables() []string {
	return []string{"HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "STOPGATE_SESSION",
		"CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR", "QWEN_PROJECT_DIR",
		"XDG_DATA_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "QWEN_HOME", "COPILOT_HOME", "PI_CODING_AGENT_DIR",
		"OPENCODE_CONFIG_DIR", "OPENCODE_CONFIG", "KILO_CONFIG_DIR", "KILO_CONFIG", "GIT_CONFIG_GLOBAL"}
}

// maxPatience is the maximum response time of a resident that does not wait for an approval.
const maxPatience = 2 * time.Second

// Resident asks the resident about the event on standard input, with the arguments of
// `stopgate-hook`. If there is no resident, it reads no input.
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

// Write writes the answer as the deciding process would, and returns the exit status.
func (a *Asked) Write(out, err io.Writer) int {
	OutlivePipes()
	// An answer that does not reach the host is no answer.
	if _, failed := out.Write(a.Reply.Out); failed != nil && !a.Reply.Lenient {
		_, _ = io.WriteString(err, "stopgate: the answer cannot be written: "+failed.Error()+"; the call is blocked\n")
		return 2
	}
	_, _ = err.Write(a.Reply.Err)
	return int(a.Reply.Exit)
}

// OutlivePipes ignores SIGPIPE, since hosts let a call run if its hook is ended by a signal.
func OutlivePipes() { signal.Ignore(syscall.SIGPIPE) }

// Input returns standard input from its beginning.
func (a *Asked) Input() io.Reader {
	if a.read == nil {
		return os.Stdin
	}
	return &input{a.read, a.complete}
}

// input is the part that was read, followed by the rest.
type input struct {
	read     []byte
	complete bool
}

// Read implements [io.Reader].
func (i *input) Read(p []byte) (int, error) {
	switch {
	case len(i.read) > 0:
		n := copy(p, i.read)
		i.read = i.read[n:]
		return n, nil
	case i.complete:
		return 0, io.EOF
	}
	return os.Stdin.Read(p)
}

// defaultDeadline is the default deadline of hooks.
const defaultDeadline = 24 * time.Second

// deadline returns the deadline set by a command line. ok is false for a line that it does not
// understand, which the full parser handles.
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

// Path returns the path of the socket of this user's resident, in the state directory. It returns
// false if there is none.
func Path() (string, bool) {
	home, dir := os.Getenv("HOME"), os.Getenv("XDG_STATE_HOME")
	if home != "" && home[0] != '/' {
		return "", false // a relative path means another directory to another process
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

// Full returns the path of the full program, stopgate, in the directory of this one. Package
// path/filepath would be initialised after the policy and the store, and this one after it.
func Full() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", err
	}
	end, full := len(own), "stopgate"
	if end > 4 && own[end-4:] == ".exe" {
		full += ".exe"
	}
	for end > 0 && !os.IsPathSeparator(own[end-1]) {
		end--
	}
	return own[:end] + full, nil
}

// Own returns the identity of this process, which trusts the stopgate in the same directory too.
func Own() peer.Self {
	if full, err := Full(); err == nil {
		return peer.Own(full)
	}
	return peer.Own()
}

// maxPath is the maximum length of the path of a socket.
const maxPath = 103 - len(".new/s")

func environment() (env []string) {
	for _, name := range Variables() {
		if v := os.Getenv(name); v != "" {
			env = append(env, name+"="+v)
		}
	}
	return env
}
