package page_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// browsers finds every Chromium. If STOPGATE_CHROMIUM is set there must be one.
func browsers(t *testing.T) []string {
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

// browser is one tab of a real browser, driven by keys and a mouse. No script runs in its pages.
type browser struct {
	t       *testing.T
	out     *os.File
	replies chan reply
	session string
	id      int
	errors  []string // errors in the log of the browser
}

type reply struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Params json.RawMessage `json:"params"`
	Error  *struct{ Message string }
}

// launch starts a browser with the debugging protocol on pipes.
func launch(t *testing.T, path string) *browser {
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
		_ = cmd.Wait() // killed
		out.Close()
		in.Close()
		for range b.replies {
		}
		os.RemoveAll(profile) // helper processes may still write to the directory
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

// call runs one command of the protocol.
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

// shown is the document in a frame.
type shown struct{ url, html string }

// frame waits until the only frame of the page shows a document. A browser renders frames of other
// sites in separate processes or in that of the page, and shows an error page in either.
func (b *browser) frame() shown {
	b.t.Helper()
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if s := b.inPage(); loaded(s) {
			return s
		}
		if s := b.elsewhere(); loaded(s) {
			return s
		}
	}
	b.t.Fatal("the frame shows nothing")
	return shown{}
}

func loaded(s shown) bool {
	return s.url != "" && s.url != "about:blank" && strings.Contains(s.html, "</body>")
}

// inPage reads the frame through the page.
func (b *browser) inPage() shown {
	var found struct {
		Node struct {
			ContentDocument struct {
				NodeID      int `json:"backendNodeId"`
				DocumentURL string
			}
		}
	}
	b.call("DOM.describeNode", map[string]any{"nodeId": b.find("iframe"), "depth": 1, "pierce": true}, &found)
	d := found.Node.ContentDocument
	var text struct{ OuterHTML string }
	if d.NodeID != 0 {
		b.call("DOM.getOuterHTML", map[string]any{"backendNodeId": d.NodeID}, &text)
	}
	return shown{d.DocumentURL, text.OuterHTML}
}

// elsewhere reads the frame in its own process.
func (b *browser) elsewhere() (s shown) {
	page := b.session
	defer func() { b.session = page }()
	b.session = ""
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type != "iframe" {
			continue
		}
		b.session = ""
		var attached struct{ SessionID string }
		if b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached) != "" {
			continue
		}
		b.session = attached.SessionID
		var document struct{ Root struct{ DocumentURL string } }
		b.call("DOM.getDocument", map[string]any{"depth": 0}, &document)
		s = shown{document.Root.DocumentURL, b.html("html")}
		b.session = ""
		b.call("Target.detachFromTarget", map[string]any{"sessionId": attached.SessionID}, nil)
	}
	return s
}

// find returns the first element, or 0.
func (b *browser) find(selector string) (node int) {
	var document struct{ Root struct{ NodeID int } }
	b.call("DOM.getDocument", map[string]any{"depth": 0}, &document)
	var found struct{ NodeID int }
	b.call("DOM.querySelector", map[string]any{"nodeId": document.Root.NodeID, "selector": selector}, &found)
	return found.NodeID
}

// html returns the HTML of the first element.
func (b *browser) html(selector string) string {
	var found struct{ OuterHTML string }
	b.call("DOM.getOuterHTML", map[string]any{"nodeId": b.find(selector)}, &found)
	return found.OuterHTML
}

// sees waits until the page contains a text.
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

// code returns the code on the page.
func (b *browser) code() string {
	text := b.html("legend strong")
	return strings.TrimSuffix(strings.TrimPrefix(text, "<strong>"), "</strong>")
}
