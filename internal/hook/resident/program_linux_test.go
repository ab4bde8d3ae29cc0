package resident_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/hook/ask"
	"github.com/stopgate/stopgate/internal/hook/once"
	"github.com/stopgate/stopgate/internal/hook/process"
	"github.com/stopgate/stopgate/internal/prove"
	"github.com/stopgate/stopgate/internal/record/records"
	"github.com/stopgate/stopgate/internal/store/database"
	"github.com/stopgate/stopgate/internal/store/sqlite"
)

// hooks is the environment variable that makes this program a hook with a command line, and asks
// one that sends a request to a socket and prints the response.
const (
	hooks = "STOPGATE_TEST_HOOK"
	asks  = "STOPGATE_TEST_ASKS"
)

// other runs this program in its other roles, besides test and resident.
func other() (status int, is bool) {
	if line, is := os.LookupEnv(hooks); is {
		args := strings.Fields(line)
		if filepath.Base(os.Args[0]) == "stopgate" { // the small program became the full one
			code, _ := process.Program{Compile: prove.Compile}.Main(os.Args[2:], process.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
			return code, true
		}
		return process.Small(args, ask.Resident(args), process.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}), true
	}
	socket, is := os.LookupEnv(asks)
	if !is {
		return 0, false
	}
	c, err := net.Dial("unix", socket)
	if err != nil {
		return 1, true
	}
	_, _ = io.Copy(c, os.Stdin) // a client that is not trusted may be unable to send everything
	_, _ = io.Copy(os.Stdout, c)
	return 0, true
}

// hook starts a process as an agent does for an event.
func (h *home) hook(t *testing.T, deadline, event string) (done chan string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(h.dir, process.SmallName))
	cmd.Env = append(os.Environ(), "HOME="+h.dir, "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", hooks+"=claude-code --deadline "+deadline)
	cmd.Stdin = strings.NewReader(event)
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done = make(chan string, 1)
	go func() {
		_ = cmd.Wait()
		done <- fmt.Sprintf("exit %d: %s", cmd.ProcessState.ExitCode(), output.String())
	}()
	return done
}

func (h *home) reads(id string) string {
	return fmt.Sprintf(`{"session_id":"s1","cwd":%q,"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":"%s/x.go"},"tool_use_id":%q}`, h.project, h.project, id)
}

func (h *home) state() string { return filepath.Join(h.dir, ".local", "state", "stopgate") }

// kill kills the resident.
func (h *home) kill(t *testing.T) {
	t.Helper()
	h.dead = true
	if err := h.resident.Process.Kill(); err != nil {
		t.Fatal(err)
	}
}

// stop blocks all writes to the store, until the function is called.
func (h *home) stop(t *testing.T) (release func()) {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(h.state(), "stopgate.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	writes, over, ended := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		ended <- store.Database().Change(context.Background(), func(*database.Tx) error {
			close(writes)
			<-over
			return nil
		})
	}()
	select {
	case <-writes:
	case err := <-ended:
		t.Fatal(err)
	}
	return func() {
		close(over)
		if err := errors.Join(<-ended, store.Close()); err != nil {
			t.Error(err)
		}
	}
}

// claimed waits until a process decides about a call.
func (h *home) claimed(t *testing.T, id string) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		names, err := filepath.Glob(filepath.Join(h.state(), "hooks", "*.calls"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil && bytes.Contains(text, []byte(`"`+id+`"`)) {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatal("nobody decides")
		}
	}
}

// decisions returns the decided calls in the records, each with its outcome.
func (h *home) decisions(t *testing.T) (list []string) {
	t.Helper()
	log, err := records.Open(t.Context(), filepath.Join(h.state(), "stopgate.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	_, err = log.Rows(t.Context(), records.Mark{}, nil, func(r records.Row) bool {
		if r.Kind == stopgate.RecordDecision {
			list = append(list, fmt.Sprint(r.CallID, " ", r.Status))
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func soon(t *testing.T, done chan string) string {
	t.Helper()
	select {
	case output := <-done:
		return output
	case <-time.After(time.Minute):
		t.Fatal("the hook does not end")
		return ""
	}
}

// Proves FM9, I22, S49: if a resident dies while it decides, no other process decides the call: its
// hook is denied with the reason, no row records that it ran, and the next call is decided.
func TestDiesWhileItDecides(t *testing.T) {
	h := newHome(t)
	h.serve(t)
	if output := soon(t, h.hook(t, "1m", h.reads("before"))); output != "exit 0: " {
		t.Fatal(output)
	}
	release := h.stop(t)
	done := h.hook(t, "1m", h.reads("lost"))
	h.claimed(t, "lost")
	h.kill(t)
	release()
	if output := soon(t, done); !strings.HasPrefix(output, "exit 2: ") || !strings.Contains(output, once.ErrUnanswered.Error()) {
		t.Errorf("its resident died: %s", output)
	}
	if output := soon(t, h.hook(t, "1m", h.reads("after"))); output != "exit 0: " {
		t.Errorf("the next call: %s", output)
	}
	if got, want := h.decisions(t), []string{"before allowed", "after allowed"}; !slices.Equal(got, want) {
		t.Errorf("%q was decided, not %q", got, want)
	}
}

// Proves FM9, S49: a resident that takes too long is not waited for, and the hook does not decide a
// call that the resident may still decide: it gets the resident's answer, or denies in time.
func TestDecidesTooLate(t *testing.T) {
	h := newHome(t)
	h.serve(t)
	if output := soon(t, h.hook(t, "1m", h.reads("before"))); output != "exit 0: " {
		t.Fatal(output)
	}
	release := h.stop(t)
	late, given := h.hook(t, "3s", h.reads("late")), make(chan string)
	h.claimed(t, "late")
	if output := soon(t, late); !strings.HasPrefix(output, "exit 2: ") {
		t.Errorf("nobody answered: %s", output)
	}
	go func() { given <- <-h.hook(t, "1m", h.reads("given")) }()
	h.claimed(t, "given")
	release()
	if output := soon(t, given); output != "exit 0: " {
		t.Errorf("it answered at last: %s", output)
	}
	got := slices.DeleteFunc(h.decisions(t), func(row string) bool { return row == "late denied" }) // if there was still time
	if want := []string{"before allowed", "given allowed"}; !slices.Equal(got, want) {
		t.Errorf("%q was decided, not %q", got, want)
	}
}

// Proves S49: if another hook decides about a call, the resident reports at once that it waits: the
// client does not wait in addition, so that no process that has left takes the only answer for its
// host.
func TestWaitsForAnotherHook(t *testing.T) {
	h := newHome(t)
	h.serve(t)
	release := h.stop(t)
	first := h.hook(t, "1m", h.reads("first"))
	h.claimed(t, "first")
	q := ask.Request{
		Args: []string{"cursor", "--deadline", "1m"}, Dir: h.project, Env: []string{"HOME=" + h.dir},
		Nonce: "n", Event: fmt.Appendf(nil, `{"conversation_id":"c","cwd":%q,"hook_event_name":"preToolUse","tool_name":"Read","tool_input":{"file_path":"%s/x.go"},"tool_use_id":"second"}`, h.project, h.project),
	}
	c, err := net.Dial("unix", h.socket())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write(q.Append(nil)); err != nil {
		t.Fatal(err)
	}
	var output []byte
	reply := func() (r ask.Reply) {
		t.Helper()
		for piece := make([]byte, 4<<10); ; {
			if rest, cut, err := r.Parse(output, q.Nonce); err != nil {
				t.Fatal(err)
			} else if !cut {
				output = rest
				return r
			}
			n, err := c.Read(piece)
			if err != nil {
				t.Fatalf("nobody answers: %v", err)
			}
			output = append(output, piece[:n]...)
		}
	}
	if r := reply(); r.Kind != ask.Held {
		t.Errorf("another hook decides: %+v: %s", r, r.Err)
	}
	release()
	if r := reply(); r.Kind != ask.Answered || r.Exit != 0 {
		t.Errorf("it has decided: %+v: %s", r, r.Err)
	}
	if output := soon(t, first); output != "exit 0: " {
		t.Errorf("the first one: %s", output)
	}
	if got, want := h.decisions(t), []string{"first allowed"}; !slices.Equal(got, want) {
		t.Errorf("%q was decided, not %q", got, want)
	}
}

// Proves FM9: any process of the user gets answers, with an HTTP library too; an invalid request gets
// none, and the resident continues.
func TestWhoIsAnswered(t *testing.T) {
	h := newHome(t)
	h.serve(t)
	copied := filepath.Join(h.dir, "copy")
	text, err := os.ReadFile(os.Args[0])
	if err == nil {
		err = os.WriteFile(copied, text, 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
	request := func(id string) []byte {
		q := ask.Request{Nonce: "n", Args: []string{"claude-code"}, Dir: h.project, Env: []string{"HOME=" + h.dir}, Event: []byte(h.reads(id))}
		return q.Append(nil)
	}
	for _, c := range []struct {
		name, program string
		request       string
		answered      bool
	}{
		{"no request", os.Args[0], "stopgate hook\x001\n", false},
		{"another route", os.Args[0], "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", false},
		{"too long", os.Args[0], strings.Replace(string(request("long")), "Content-Length: ", "Content-Length: 9999", 1), false},
		{"of unknown length", os.Args[0], strings.Replace(string(request("chunked")), "Content-Length: ", "Transfer-Encoding: chunked\r\nX: ", 1), false},
		{"a browser", os.Args[0], strings.Replace(string(request("browser")), "Host: ", "Origin: http://localhost\r\nHost: ", 1), false},
		{"the same file", os.Args[0], string(request("same")), true},
		{"another file", copied, string(request("other")), true},
	} {
		cmd := exec.Command(c.program)
		cmd.Env = append(os.Environ(), asks+"="+h.socket())
		cmd.Stdin = strings.NewReader(c.request)
		response, err := cmd.Output()
		var r ask.Reply
		_, cut, wrong := r.Parse(response, "n")
		if answered := wrong == nil && !cut && r.Kind == ask.Answered && r.Exit == 0; err != nil || answered != c.answered {
			t.Errorf("%s: %q, %v", c.name, response, err)
		}
	}
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", h.socket())
	}}}
	defer client.CloseIdleConnections()
	for id, want := range map[string]string{"library": "0", "denied": "2"} {
		event := h.reads(id)
		if want == "2" {
			event = strings.ReplaceAll(event, h.project+"/x.go", h.dir+"/.local/state/stopgate/stopgate.db")
		}
		r, err := http.NewRequest("POST", "http://stopgate"+ask.Route, strings.NewReader(event))
		if err != nil {
			t.Fatal(err)
		}
		r.Header[ask.ArgHeader], r.Header[ask.DirHeader], r.Header[ask.EnvHeader] = []string{"claude-code"}, []string{h.project}, []string{"HOME=" + h.dir}
		response, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(response.Body)
		response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || response.Header.Get(ask.ExitHeader) != want {
			t.Errorf("%s: %v %s %v", id, response, body, err)
		}
	}
	if got, want := h.decisions(t), []string{"same allowed", "other allowed", "library allowed", "denied denied"}; !slices.Equal(sorted(got), sorted(want)) {
		t.Errorf("%q was decided, not %q", got, want)
	}
}

func sorted(list []string) []string { return slices.Sorted(slices.Values(list)) }
