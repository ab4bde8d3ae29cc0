package ask_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/testkit/hookserver"
)

// resident is a fake resident that records its requests.
type resident struct {
	t       *testing.T
	handler atomic.Value // func(*net.UnixConn, *ask.Question)
	asked   atomic.Pointer[ask.Request]
	count   atomic.Int64
}

func newResident(t *testing.T) *resident {
	t.Helper()
	t.Setenv("GEMINI_PROJECT_DIR", "")
	ln := residence(t, false)
	r := &resident{t: t}
	go func() {
		for {
			c, err := ln.AcceptUnix()
			if err != nil {
				return
			}
			go r.serve(c)
		}
	}()
	return r
}

func (r *resident) serve(c *net.UnixConn) {
	defer c.Close()
	q, err := hookserver.Read(c)
	if err != nil {
		return
	}
	r.asked.Store(q)
	r.count.Add(1)
	r.handler.Load().(func(*net.UnixConn, *ask.Request))(c, q)
}

// ask starts a process that asks with a command line and an input.
func (r *resident) ask(line, input string, handler func(*net.UnixConn, *ask.Request)) (exit int, out, errText string) {
	r.t.Helper()
	r.handler.Store(handler)
	own, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	cmd := exec.Command(own)
	cmd.Env = append(os.Environ(), "ASK_RESIDENT="+line)
	cmd.Stdin = strings.NewReader(input)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	var status *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &status) {
		r.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

func reply(c *net.UnixConn, q *ask.Request, replies ...ask.Reply) {
	var text []byte
	for _, r := range replies {
		text = append(text, hookserver.Text(r, q.Nonce)...)
	}
	c.Write(text)
}

func hang(c *net.UnixConn, _ *ask.Request) { io.Copy(io.Discard, c) }

// Proves FM9: an answer is written unchanged, also if it arrives in pieces and after an approval;
// anything else is no answer, and then the complete event is still available.
func TestAnswers(t *testing.T) {
	r := newResident(t)
	blocks := ask.Reply{Kind: ask.Answered, Exit: 2, Out: []byte("out"), Err: []byte("not that")}
	held := ask.Reply{Kind: ask.Held}
	for _, c := range []struct {
		name    string
		yes     bool
		handler func(*net.UnixConn, *ask.Request)
	}{
		{"an answer", true, func(c *net.UnixConn, q *ask.Request) { reply(c, q, blocks) }},
		{"byte by byte", true, func(c *net.UnixConn, q *ask.Request) {
			for _, b := range hookserver.Text(blocks, q.Nonce) {
				c.Write([]byte{b})
			}
		}},
		{"after a person was asked", true, func(c *net.UnixConn, q *ask.Request) { reply(c, q, held, blocks) }},
		{"in two steps", true, func(c *net.UnixConn, q *ask.Request) { reply(c, q, held); reply(c, q, blocks) }},
		{"it declines", false, func(c *net.UnixConn, q *ask.Request) { reply(c, q, ask.Reply{Kind: ask.Declined}) }},
		{"a person was asked, and it declines", false, func(c *net.UnixConn, q *ask.Request) { reply(c, q, held, ask.Reply{Kind: ask.Declined}) }},
		{"a person was asked, and it ends", false, func(c *net.UnixConn, q *ask.Request) { reply(c, q, held) }},
		{"it ends", false, func(*net.UnixConn, *ask.Request) {}},
		{"cut by a byte", false, func(c *net.UnixConn, q *ask.Request) {
			text := hookserver.Text(blocks, q.Nonce)
			c.Write(text[:len(text)-1])
		}},
		{"a byte too many", false, func(c *net.UnixConn, q *ask.Request) { c.Write(append(hookserver.Text(blocks, q.Nonce), 0)) }},
		{"two answers", false, func(c *net.UnixConn, q *ask.Request) { reply(c, q, blocks, blocks) }},
		{"the answer to another question", false, func(c *net.UnixConn, q *ask.Request) {
			q.Nonce += "0"
			reply(c, q, blocks)
		}},
		{"too long", false, func(c *net.UnixConn, q *ask.Request) {
			reply(c, q, ask.Reply{Kind: ask.Answered, Out: make([]byte, ask.MaxReply)})
		}},
		{"of another process", false, func(c *net.UnixConn, q *ask.Request) {
			f, err := c.File()
			if err != nil {
				return
			}
			defer f.Close()
			cmd := exec.Command("cat")
			cmd.Stdin, cmd.Stdout = bytes.NewReader(hookserver.Text(blocks, q.Nonce)), f
			_ = cmd.Run()
		}},
	} {
		const event = `{"tool_name":"x"}`
		exit, out, stderr := r.ask("claude-code --observe", event, c.handler)
		if q := r.asked.Load(); q == nil || string(q.Event) != event || !slices.Equal(q.Args, []string{"claude-code", "--observe"}) {
			t.Fatalf("%s: asked %+v", c.name, q)
		}
		if c.yes && (exit != 2 || out != "out" || stderr != "not that") {
			t.Errorf("%s: %d %q %q", c.name, exit, out, stderr)
		}
		if !c.yes && (exit != 0 || out != event) {
			t.Errorf("%s: %d %q is left to decide", c.name, exit, out)
		}
	}
	q := r.asked.Load()
	if dir, err := os.Getwd(); err != nil || q.Dir != dir {
		t.Errorf("directory %q", q.Dir)
	}
	if q.Spent <= 0 {
		t.Errorf("%v were spent", q.Spent)
	}
	if want := "HOME=" + os.Getenv("HOME"); !slices.Contains(q.Env, want) || slices.ContainsFunc(q.Env, func(s string) bool { return strings.HasSuffix(s, "=") }) {
		t.Errorf("environment %q, which has to have %s and nothing that is not set", q.Env, want)
	}
}

// Proves FM9: the deciding process reads an event of any length from first to last byte; an event
// that is too long for a request is not sent.
func TestCompleteEventIsLeft(t *testing.T) {
	r := newResident(t)
	for _, n := range []int{0, 1, 8<<10 - 1, 8 << 10, 8<<10 + 1, 200_000, ask.MaxRequest - 100, ask.MaxRequest, ask.MaxRequest + 1, ask.MaxRequest + 100_000} {
		event := strings.Repeat("0123456789abcdef|", n/17+1)[:n]
		before := r.count.Load()
		exit, out, _ := r.ask("claude-code", event, func(c *net.UnixConn, q *ask.Request) {
			if string(q.Event) != event {
				t.Errorf("%d of %d bytes were asked about", len(q.Event), n)
			}
			reply(c, q, ask.Reply{Kind: ask.Declined})
		})
		if exit != 0 || out != event {
			t.Errorf("%d bytes: status %d, %d bytes are left", n, exit, len(out))
		}
		if asked := r.count.Load() > before; asked != (n < ask.MaxRequest-100) {
			t.Errorf("%d bytes: asked %t", n, asked)
		}
	}
}

// Proves FM9: text that is no event is not sent, and a resident that hangs gets a quarter of a
// deadline, in both spellings; the time counts for the process that decides then.
func TestRequests(t *testing.T) {
	r := newResident(t)
	for line, asks := range map[string]bool{
		"": false, "serve": false, "serve --status": false, "claude-code --help": false, "claude-code -h": false, "--version": false,
		"claude-code --deadline x": false, "claude-code --deadline=0s": false, "claude-code --deadline=-1s": false,
		"claude-code --deadline=1m --deadline=x": false, "claude-code": true, "claude-code --deadline": true, "claude-code --deadline= ": true,
		"claude-code --deadline 1m": true, "claude-code --deadline=1m": true,
	} {
		before := r.count.Load()
		exit, out, _ := r.ask(line, "{}", func(c *net.UnixConn, q *ask.Request) { reply(c, q, ask.Reply{Kind: ask.Declined}) })
		if asked := r.count.Load() > before; asked != asks || exit != 0 || out != "{}" {
			t.Errorf("%q: asked %t, status %d, %q is left", line, asked, exit, out)
		}
	}
	for _, line := range []string{"claude-code --deadline 400ms", "claude-code --deadline=400ms"} {
		exit, out, stderr := r.ask(line, "{}", hang)
		spent, err := time.ParseDuration(stderr)
		if exit != 0 || out != "{}" || err != nil || spent < 100*time.Millisecond || spent >= 2*time.Second {
			t.Errorf("%q: status %d, %q is left after %s", line, exit, out, stderr)
		}
	}
}

// Proves FM9, I14: an answer that does not reach the host blocks, except in observe mode.
func TestWrite(t *testing.T) {
	gone := failing{errors.New("broken pipe")}
	for _, c := range []struct {
		out     io.Writer
		lenient bool
		exit    int
		stdout  string
	}{
		{io.Discard, false, 0, "said"}, {io.Discard, true, 0, "said"}, {gone, true, 0, "said"},
		{gone, false, 2, "stopgate: the answer cannot be written: broken pipe; the call is blocked\n"},
	} {
		var stderr bytes.Buffer
		a := ask.Asked{Reply: ask.Reply{Kind: ask.Answered, Lenient: c.lenient, Out: []byte("{}"), Err: []byte("said")}}
		if exit := a.Write(c.out, &stderr); exit != c.exit || stderr.String() != c.stdout {
			t.Errorf("%v, lenient %t: %d %q", c.out, c.lenient, exit, stderr.String())
		}
	}
	if new(ask.Asked).Answered() {
		t.Error("the zero value is an answer")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// Proves FM9: Status returns the resident's description, or the reason why there is none.
func TestStatus(t *testing.T) {
	r := newResident(t)
	r.handler.Store(func(c *net.UnixConn, q *ask.Request) {
		if q.Args != nil {
			t.Error("the request is for an answer")
		}
		reply(c, q, ask.Reply{Kind: ask.Answered, Out: []byte("well")})
	})
	if text, ok := ask.Status(); text != "well" || !ok {
		t.Errorf("%q %t", text, ok)
	}
	r.handler.Store(func(c *net.UnixConn, q *ask.Request) { reply(c, q, ask.Reply{Kind: ask.Declined, Out: []byte("no")}) })
	if text, ok := ask.Status(); ok {
		t.Errorf("%q is a state", text)
	}
	t.Setenv("HOME", t.TempDir())
	if text, ok := ask.Status(); text != "none is running" || ok {
		t.Errorf("%q %t", text, ok)
	}
	t.Setenv("HOME", "relative")
	if text, ok := ask.Status(); ok || text == "none is running" {
		t.Errorf("%q %t", text, ok)
	}
}
