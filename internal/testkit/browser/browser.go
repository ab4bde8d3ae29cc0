// Package browser drives one tab of a real Chromium in tests, over the debugging protocol on pipes.
package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"
)

// Programs finds every Chromium of the machine. A test without one is skipped, or fails if
// STOPGATE_CHROMIUM is set.
func Programs(t *testing.T) []string {
	t.Helper()
	var found []string
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			found = append(found, path)
		}
	}
	if len(found) > 0 {
		return found
	}
	if os.Getenv("STOPGATE_CHROMIUM") != "" {
		t.Fatal("there is no Chromium, and STOPGATE_CHROMIUM wants one")
	}
	t.Skip("there is no Chromium on this machine; .ci/run installs one (apt-get install chromium-headless-shell)")
	return nil
}

// Browser is one tab. Scripts of its pages run only after [Browser.Scripts].
type Browser struct {
	Errors   []string // errors in the log of the browser, on the console of pages, and exceptions of their scripts
	Requests []string // the URLs that the tab requested

	t       *testing.T
	out     *os.File
	replies chan reply
	session string
	id      int
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params json.RawMessage `json:"params"`
	Error  *struct{ Message string }
}

// Launch starts a browser with a new profile, and ends it with the test.
func Launch(t *testing.T, path string) *Browser {
	t.Helper()
	theirs, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	in, answers, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	profile, err := os.MkdirTemp("", "stopgate-chromium-")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
		"--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	cmd.ExtraFiles = []*os.File{theirs, answers}
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirs.Close()
	answers.Close()
	b := &Browser{t: t, out: out, replies: make(chan reply, 1000)}
	go func() {
		defer close(b.replies)
		lines := bufio.NewReader(in)
		for {
			text, err := lines.ReadBytes(0)
			if err != nil {
				return
			}
			var r reply
			if json.Unmarshal(text[:len(text)-1], &r) == nil {
				b.replies <- r
			}
		}
	}()
	t.Cleanup(func() {
		b.session = ""
		b.Call("Browser.close", nil, nil)
		cancel()
		_ = cmd.Wait() // killed
		out.Close()
		in.Close()
		for range b.replies {
		}
		os.RemoveAll(profile) // helper processes may still write to the directory
	})
	var target struct{ TargetID, SessionID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "DOM", "Log", "Network", "Runtime"} {
		b.Call(domain+".enable", nil, nil)
	}
	b.Scripts(false)
	return b
}

// Scripts lets the scripts of the pages that the tab opens next run, or not.
func (b *Browser) Scripts(run bool) {
	b.Call("Emulation.setScriptExecutionDisabled", map[string]any{"value": !run}, nil)
}

// Call runs one command of the protocol and returns its error, or "".
func (b *Browser) Call(method string, params map[string]any, into any) string {
	b.id++
	if params == nil {
		params = map[string]any{}
	}
	command := map[string]any{"id": b.id, "method": method, "params": params}
	if b.session != "" {
		command["sessionId"] = b.session
	}
	text, err := json.Marshal(command)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(text, 0)); err != nil {
		b.t.Logf("%s: %v", method, err)
		return err.Error()
	}
	for {
		select {
		case r, ok := <-b.replies:
			switch {
			case !ok:
				return "the browser has ended"
			case r.ID == 0:
				b.notice(r)
			case r.ID == b.id && r.Error != nil:
				return r.Error.Message
			case r.ID == b.id:
				if into != nil {
					if err := json.Unmarshal(r.Result, into); err != nil {
						b.t.Fatalf("%s: %v", method, err)
					}
				}
				return ""
			}
		case <-time.After(30 * time.Second):
			b.t.Fatalf("%s: no answer", method)
		}
	}
}

// notice keeps what the tests look at of an event.
func (b *Browser) notice(r reply) {
	var event struct {
		Entry, Request struct{ Level, URL string }
		Type           string
	}
	if json.Unmarshal(r.Params, &event) != nil {
		return
	}
	switch {
	case r.Method == "Network.requestWillBeSent":
		b.Requests = append(b.Requests, event.Request.URL)
	case r.Method == "Runtime.exceptionThrown",
		r.Method == "Runtime.consoleAPICalled" && event.Type == "error",
		r.Method == "Log.entryAdded" && event.Entry.Level == "error":
		b.Errors = append(b.Errors, string(r.Params))
	}
}
