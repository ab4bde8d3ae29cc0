package page_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/approve"
)

// chromium finds a browser. Where STOPGATE_CHROMIUM is set there must be one.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("STOPGATE_CHROMIUM") != "" {
		t.Fatal("there is no Chromium, and STOPGATE_CHROMIUM wants one")
	}
	t.Skip("there is no Chromium on this machine; .ci/run installs one (apt-get install chromium-headless-shell)")
	return ""
}

// browser is one tab of a real browser, driven as a person drives it: by keys and a
// mouse. No script runs in its pages.
type browser struct {
	t       *testing.T
	out     *os.File
	replies chan reply
	session string
	id      int
	errors  []string // what the browser logged as errors
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params json.RawMessage `json:"params"`
	Error  *struct{ Message string }
}

// launch starts a browser with the debugging protocol on pipes.
func launch(t *testing.T) *browser {
	t.Helper()
	path := chromium(t)
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
	b := &browser{t: t, out: out, replies: make(chan reply, 1000)}
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
		b.call("Browser.close", nil, nil)
		cancel()
		_ = cmd.Wait() // it was told to end
		out.Close()
		in.Close()
		for range b.replies {
		}
		os.RemoveAll(profile) // what its helpers still write stays in the temporary directory
	})
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "DOM", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	return b
}

// call does one command of the protocol.
func (b *browser) call(method string, params map[string]any, into any) string {
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
			case r.Method == "Log.entryAdded":
				if strings.Contains(string(r.Params), `"level":"error"`) {
					b.errors = append(b.errors, string(r.Params))
				}
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

// find returns the first element, 0 for none.
func (b *browser) find(selector string) (node int) {
	var document struct{ Root struct{ NodeID int } }
	b.call("DOM.getDocument", map[string]any{"depth": 0}, &document)
	var found struct{ NodeID int }
	b.call("DOM.querySelector", map[string]any{"nodeId": document.Root.NodeID, "selector": selector}, &found)
	return found.NodeID
}

// html is the text of the first element.
func (b *browser) html(selector string) string {
	var found struct{ OuterHTML string }
	b.call("DOM.getOuterHTML", map[string]any{"nodeId": b.find(selector)}, &found)
	return found.OuterHTML
}

// sees waits until the page has a text.
func (b *browser) sees(text string) string {
	b.t.Helper()
	last := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); {
		if last = b.html("html"); strings.Contains(last, text) {
			return last
		}
	}
	b.t.Fatalf("no %q in %s", text, last)
	return ""
}

func (b *browser) opens(url string) {
	b.t.Helper()
	if trouble := b.call("Page.navigate", map[string]any{"url": url}, nil); trouble != "" {
		b.t.Fatal(trouble)
	}
}

// types writes into a field as from a keyboard.
func (b *browser) types(selector, text string) {
	b.t.Helper()
	if trouble := b.call("DOM.focus", map[string]any{"nodeId": b.find(selector)}, nil); trouble != "" {
		b.t.Fatalf("%s: %s", selector, trouble)
	}
	b.call("Input.insertText", map[string]any{"text": text}, nil)
}

// presses clicks into the middle of an element.
func (b *browser) presses(selector string) {
	b.t.Helper()
	node := b.find(selector)
	b.call("DOM.scrollIntoViewIfNeeded", map[string]any{"nodeId": node}, nil)
	var box struct {
		Model struct{ Content []float64 }
	}
	if trouble := b.call("DOM.getBoxModel", map[string]any{"nodeId": node}, &box); trouble != "" {
		b.t.Fatalf("%s: %s", selector, trouble)
	}
	c := box.Model.Content
	x, y := (c[0]+c[4])/2, (c[1]+c[5])/2
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
}

// code is what the page shows.
func (b *browser) code() string {
	text := b.html("legend strong")
	return strings.TrimSuffix(strings.TrimPrefix(text, "<strong>"), "</strong>")
}

// Proves S60, H21, S4: a person with a real browser, without scripts.
func TestChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	b := launch(t)
	s := open(t)
	e := s.ask(nil)
	at := s.server.URL + "/approvals/" + e.ID

	b.opens(at)
	b.sees("Token with the scope approve")
	b.types("input[name=secret]", secret)
	b.presses("form button")
	page := b.sees("wants to run")
	for _, what := range []string{"write_file", "/path", `"README"`, "somebody looks at it"} {
		if !strings.Contains(page, what) {
			t.Errorf("%q is missing in %s", what, page)
		}
	}
	if file := os.Getenv("STOPGATE_SCREENSHOT"); file != "" {
		var shot struct{ Data string }
		b.call("Page.captureScreenshot", nil, &shot)
		png, err := base64.StdEncoding.DecodeString(shot.Data)
		if err != nil || os.WriteFile(file, png, 0o644) != nil {
			t.Fatal(err)
		}
	}

	// Another site frames the page, and sends its forms.
	evil := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch r.URL.Path {
		case "/frame":
			fmt.Fprintf(w, `<p>cute cats<iframe src="%s" width=800 height=800></iframe>`, at)
		case "/form":
			fmt.Fprintf(w, `<form method=post action="%s"><input name=do value=deny><button>win</button></form>`, at)
		case "/link":
			fmt.Fprintf(w, `<a href="%s">the question</a>`, at)
		}
	}))
	defer evil.Close()
	elsewhere := strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)
	b.opens(elsewhere + "/frame")
	b.sees("cute cats")
	var tree struct {
		FrameTree struct {
			ChildFrames []struct {
				Frame struct{ UnreachableURL string }
			}
		}
	}
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		b.call("Page.getFrameTree", nil, &tree)
		if c := tree.FrameTree.ChildFrames; len(c) == 1 && c[0].Frame.UnreachableURL != "" {
			break
		}
	}
	if c := tree.FrameTree.ChildFrames; len(c) != 1 || c[0].Frame.UnreachableURL == "" {
		t.Errorf("the page is framed: %+v", tree)
	}
	b.errors = nil // that it refused was said
	b.opens(elsewhere + "/form")
	b.sees("win")
	b.presses("button")
	b.sees("did not come from a page of this gate")
	if s.state(e.ID).State != approve.Waiting {
		t.Fatal("another site has answered")
	}
	b.errors = nil

	// A link in a chat leads to the question, still logged in.
	b.opens(elsewhere + "/link")
	b.sees("the question")
	b.presses("a")
	b.sees("wants to run")

	b.types("input[name=code]", "nope")
	b.presses("button[value=approve]")
	b.sees("The code was not the one")
	b.errors = nil // 403 is one
	b.types("input[name=code]", b.code())
	b.presses("button[value=approve]")
	b.sees("Approved by anna")
	if e := s.state(e.ID); e.State != approve.Approved || e.By != "anna" {
		t.Fatalf("%+v", e)
	}
	// It shows by itself that the call was let out.
	if _, err := s.store.ChangeEntry(t.Context(), e.ID, func(e approve.Entry) (approve.Entry, error) {
		e.State = approve.Used
		return e, nil
	}); err != nil {
		t.Fatal(err)
	}
	b.sees("The call was let out")

	b.opens(s.server.URL + "/approvals")
	b.sees("Nothing waits")
	e = s.ask(func(e *approve.Entry) { e.ID = "QZ" })
	b.sees("/approvals/QZ") // by itself
	b.presses("td a")
	b.sees("wants to run")
	b.presses("summary")
	b.types("textarea", " ")
	b.types("input[name=code]", b.code())
	b.presses("button[value=edit]")
	b.sees("Changed and approved by anna")
	if len(b.errors) > 0 {
		t.Errorf("the browser complains: %s", b.errors)
	}
}
