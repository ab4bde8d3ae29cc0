package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/cli"
	"github.com/stopgate/stopgate/internal/cli/commands"
	"go.uber.org/goleak"
)

// lines is output that a test waits for.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// running is a command that was started in this process.
type running struct {
	out, err lines
	stop     context.CancelFunc
	ended    chan error
}

func begin(in io.Reader, args ...string) *running {
	r := &running{ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	root := commands.New(cli.Streams{In: in, Out: &r.out, Err: &r.err})
	root.SetArgs(args)
	go func() { r.ended <- root.ExecuteContext(ctx) }()
	return r
}

// end stops the command, or waits until it ends by itself.
func (r *running) end(t *testing.T, stop bool) {
	t.Helper()
	if stop {
		r.stop()
	}
	defer r.stop()
	select {
	case err := <-r.ended:
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("it ended with %v\n%s", err, r.err.String())
		}
	case <-time.After(time.Minute):
		t.Fatalf("it does not end\n%s", r.err.String())
	}
}

// happens waits for a condition.
func happens(t *testing.T, what string, r *running, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); {
		select {
		case err := <-r.ended:
			t.Fatalf("%s: ended with %v\n%s", what, err, r.err.String())
		case <-time.After(10 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s did not happen\n%s\n%s", what, r.out.String(), r.err.String())
		}
	}
}

// Commands that run until they are told to stop leave no goroutine behind: the
// gateway with the decision API, whoever watches it, and whoever follows the records.
func TestLongRunningCommandsLeakNothing(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		"HOME": dir, "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": "", "XDG_RUNTIME_DIR": dir, "ANNA_TOKEN": "3d1c3a7e5b9f48c2",
	} {
		t.Setenv(name, value)
	}
	policyFile := filepath.Join(dir, "p.toml")
	err := os.WriteFile(policyFile, []byte(`version = 1
[tools.t.policy]
run = "unattended"
[api.tokens.anna]
scopes = ["approve", "operate"]
env = "ANNA_TOKEN"
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for name, state := range map[string][]string{
		"store":  {"--store", "sqlite:" + filepath.Join(dir, "s.db")},
		"memory": {"--store", "memory", "--audit", filepath.Join(dir, "audit.jsonl")},
	} {
		t.Run(name, func(t *testing.T) {
			before := goleak.IgnoreCurrent()
			socket := filepath.Join(dir, name+".sock")
			up := begin(strings.NewReader(""), append([]string{"up", "--policy", policyFile, "--listen", "127.0.0.1:0", "--api-socket", socket, "--api-listen", "127.0.0.1:0"}, state...)...)
			client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "unix", socket)
			}}}
			call := func() bool {
				resp, err := client.Post("http://stopgate/v1/calls", "application/json", strings.NewReader(`{"tool":"t","args":{},"session":"s"}`))
				if err != nil {
					return false
				}
				defer resp.Body.Close()
				_, err = io.Copy(io.Discard, resp.Body)
				return err == nil && resp.StatusCode == http.StatusOK
			}
			happens(t, "a call", up, call)
			watching := []*running{
				begin(strings.NewReader(""), "events", "--url", "unix:"+socket, "--all"),
				begin(strings.NewReader(""), append([]string{"log", "--follow", "--policy", policyFile}, state...)...),
			}
			for _, r := range watching {
				happens(t, "a line", r, func() bool { call(); return strings.Contains(r.out.String(), "allowed") })
			}
			watching[0].end(t, true)
			up.end(t, true) // while somebody still follows
			watching[1].end(t, true)
			client.CloseIdleConnections()
			goleak.VerifyNone(t, before)
		})
	}
}
