package link_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/mcp/jsonrpc"
	"github.com/stopgate/stopgate/internal/mcp/link"
	"go.uber.org/goleak"
)

// The test binary is also the server: its first argument selects the behaviour.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "be" {
		be(os.Args[2])
		return
	}
	goleak.VerifyTestMain(m)
}

func be(what string) {
	in := bufio.NewReader(os.Stdin)
	say := func(text string) { fmt.Println(text) }
	switch what {
	case "deaf":
		select {}
	case "stubborn":
		// Neither the end of the input nor SIGTERM ends the process or its child.
		ignore := exec.Command("/bin/sh", "-c", "trap '' TERM; sleep 1000")
		ignore.Stdout = os.Stdout
		_ = ignore.Start()
		fmt.Fprintf(os.Stderr, "child %d\n", ignore.Process.Pid)
		c := make(chan os.Signal)
		ignoreTerm()
		<-c
	case "orphan":
		child := exec.Command("/bin/sleep", "1000")
		child.Stdout = os.Stdout
		_ = child.Start()
		fmt.Fprintf(os.Stderr, "child %d\n", child.Process.Pid)
		return
	}
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		m, err := jsonrpc.Read([]byte(line))
		if err != nil {
			continue
		}
		switch {
		case m.Kind == jsonrpc.Notification:
			say(`{"jsonrpc":"2.0","method":"notifications/seen","params":{"was":` + strconv.Quote(m.Method) + `,"text":` + strconv.Quote(line) + `}}`)
		case what == "dies":
			os.Exit(3)
		case what == "garbage":
			say("Server is ready!")
			say("")
			say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"a":1,"a":2}}`)
		case what == "long":
			say(`{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", jsonrpc.MaxBytes) + `"}}`)
		case what == "silent" && m.Method != "ping":
		case what == "chatty":
			say(`{"jsonrpc":"2.0","id":99,"result":{}}`)
			say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + string(m.ID) + `,"progress":1}}`)
			say(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
			say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{}}`)
		default:
			say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"env":` + strconv.Quote(strings.Join(os.Environ(), " ")) + `}}`)
		}
	}
}

// received stores the messages of a link.
type received struct {
	mu    sync.Mutex
	stray []string
	noise []string
}

func (h *received) events() link.Events {
	return link.Events{
		Unsolicited: func(m *jsonrpc.Message) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.stray = append(h.stray, string(m.Text))
		},
		Dropped: func(what string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.noise = append(h.noise, what)
		},
	}
}

func (h *received) text() (stray, noise string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.stray, "\n"), strings.Join(h.noise, "\n")
}

// syncBuffer is written by a process and read by the test.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

func start(t *testing.T, what string, h *received, stderr io.Writer) *link.Process {
	t.Helper()
	p, err := link.Start(link.Command{Args: []string{os.Args[0], "be", what}, Env: []string{"HOME=/nowhere", "A=1"}, Stderr: stderr, Grace: 100 * time.Millisecond}, h.events())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func request(id, method string) *link.Call {
	return &link.Call{Text: jsonrpc.AppendRequest(nil, jsonrpc.ID(id), method, nil), ID: jsonrpc.ID(id), Method: method}
}

// until waits for a condition.
func until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatal("waited in vain: " + what)
		}
	}
}

// Requests and responses, with exactly the given environment.
func TestProcess(t *testing.T) {
	h := new(received)
	p := start(t, "well", h, nil)
	r, err := p.Call(t.Context(), request("1", "x"))
	if err != nil || string(r.Message.Text) != `{"jsonrpc":"2.0","id":1,"result":{"env":"HOME=/nowhere A=1"}}` {
		t.Fatalf("%v, %v", r, err)
	}
	if err := p.Send(t.Context(), &link.Call{Text: []byte(`{"jsonrpc":"2.0","method":"hello"}`)}); err != nil {
		t.Fatal(err)
	}
	until(t, "the server saw it", func() bool { s, _ := h.text(); return strings.Contains(s, `"was":"hello"`) })
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Call(t.Context(), request("2", "x")); !errors.Is(err, link.ErrDead) {
		t.Errorf("after the end: %v", err)
	}
	if _, err := link.Start(link.Command{}, link.Events{}); err == nil {
		t.Error("a command without words")
	}
	if _, err := link.Start(link.Command{Args: []string{"/nonexistent/server"}}, link.Events{}); err == nil {
		t.Error("a program that is not there")
	}
}

// Proves I14: if a server exits, or sends invalid or too much data, the call fails.
func TestProcessFaults(t *testing.T) {
	for what, want := range map[string]func(error) bool{
		"dies":    func(err error) bool { return errors.Is(err, link.ErrDead) },
		"garbage": func(err error) bool { return errors.As(err, new(*link.InvalidResponseError)) },
		"long":    func(err error) bool { return errors.Is(err, link.ErrDead) },
	} {
		t.Run(what, func(t *testing.T) {
			h := new(received)
			p := start(t, what, h, nil)
			if _, err := p.Call(t.Context(), request("1", "x")); !want(err) {
				t.Errorf("%v", err)
			}
			if what != "garbage" {
				<-p.Done()
			}
			if _, noise := h.text(); strings.Contains(noise, "longer than 32 MiB") != (what == "long") {
				t.Errorf("noise %q", noise)
			}
		})
	}
}

// Messages are delivered to the request that they name; a response without a request is dropped.
func TestProcessRouting(t *testing.T) {
	h := new(received)
	p := start(t, "chatty", h, nil)
	c := request("7", "x")
	var mine []string
	c.OnMessage = func(m *jsonrpc.Message) { mine = append(mine, m.Method) }
	if _, err := p.Call(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if strings.Join(mine, " ") != "notifications/progress" {
		t.Errorf("on the request: %v", mine)
	}
	if stray, noise := h.text(); !strings.Contains(stray, "notifications/message") || strings.Contains(stray, "progress") || !strings.Contains(noise, "unknown request") {
		t.Errorf("stray %q, noise %q", stray, noise)
	}
}

// The server is notified of a cancelled call.
func TestProcessGivesUp(t *testing.T) {
	h := new(received)
	p := start(t, "silent", h, nil)
	why := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
	if _, err := p.Call(ctx, request("3", "x")); !errors.Is(err, why) {
		t.Fatal(err)
	}
	until(t, "the server is told", func() bool {
		s, _ := h.text()
		return strings.Contains(s, `"was":"notifications/cancelled"`) && strings.Contains(s, `requestId\":3`)
	})
}

// The end of a link kills the server and all its descendants, even if they ignore signals.
func TestProcessGroupEnds(t *testing.T) {
	for _, what := range []string{"stubborn", "orphan"} {
		t.Run(what, func(t *testing.T) {
			said := new(syncBuffer)
			p := start(t, what, new(received), said)
			until(t, "the child is there", func() bool { return strings.HasSuffix(said.String(), "\n") })
			child, err := strconv.Atoi(strings.TrimSpace(strings.TrimPrefix(said.String(), "child ")))
			if err != nil {
				t.Fatal(err)
			}
			if what == "orphan" {
				<-p.Done()
			}
			_ = p.Close()
			until(t, "the child is gone", func() bool { return gone(child) })
		})
	}
}

// gone reports whether a process has ended, including as a zombie.
func gone(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	return strings.HasPrefix(rest, "Z")
}

// Named servers get the basic environment variables, and the named ones.
func TestInherit(t *testing.T) {
	got := link.Inherit([]string{"PATH=/bin", "AWS_SECRET_ACCESS_KEY=x", "GITHUB_TOKEN=t", "HOME=/h", "odd", "=C:=x", "LANG=C"}, "GITHUB_TOKEN")
	if strings.Join(got, " ") != "PATH=/bin GITHUB_TOKEN=t HOME=/h LANG=C" {
		t.Errorf("%v", got)
	}
}
