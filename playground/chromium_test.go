package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/playground"
	"github.com/stopgate/stopgate/internal/testkit/browser"
)

// The page in a real browser: a policy is corrected, arguments are typed byte by byte, links are
// opened, and nothing leaves the page.
func TestChromium(t *testing.T) {
	for _, path := range browser.Programs(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			server := httptest.NewServer(http.FileServer(http.Dir(built(t))))
			defer server.Close()
			tab := &tab{browser.Launch(t, path), t, server.URL}
			tab.Scripts(true)
			tab.loads()
			tab.pictures()
			tab.corrects()
			tab.typesBytes()
			tab.slides()
			tab.plays()
			tab.shares()
			tab.refusesLinks()
			tab.usesKeys()
			tab.isNarrow()
			tab.stops()
			tab.lacksWebAssembly()
			for _, url := range tab.Requests {
				if !strings.HasPrefix(url, server.URL+"/") && !strings.HasPrefix(url, "data:,") && url != "about:blank" {
					t.Errorf("the page requested %s", url)
				}
			}
			if len(tab.Errors) > 0 {
				t.Errorf("the browser complains: %s", tab.Errors)
			}
		})
	}
}

type tab struct {
	*browser.Browser
	t   *testing.T
	url string
}

// value evaluates an expression in the page.
func (b *tab) value(expression string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

// until waits until the text of an element contains another one.
func (b *tab) until(id, text string) string {
	b.t.Helper()
	var last string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if last = b.value(fmt.Sprintf("document.getElementById(%q)?.textContent", id)); strings.Contains(last, text) {
			return last
		}
	}
	b.t.Fatalf("no %q in #%s: %s", text, id, last)
	return ""
}

// key presses a key.
func (b *tab) key(name string, code, modifiers int, text string) {
	down := "rawKeyDown"
	if text != "" {
		down = "keyDown"
	}
	for _, kind := range []string{down, "keyUp"} {
		b.Call("Input.dispatchKeyEvent", map[string]any{"type": kind, "key": name, "code": name, "windowsVirtualKeyCode": code, "modifiers": modifiers, "text": text}, nil)
	}
}

// fill replaces the text of a field.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.Call("DOM.focus", map[string]any{"nodeId": b.Find(selector)}, nil)
	b.value("document.activeElement.select()")
	b.key("Backspace", 8, 0, "")
	b.Types(selector, text)
}

func (b *tab) loads() {
	began := time.Now()
	b.Opens(b.url + "/index.html")
	b.until("verdict", "deny since byte 27 of 48 by rule 1, line 11")
	b.t.Logf("loaded and decided after %v: %s", time.Since(began), b.value("document.getElementById('core').textContent"))
	b.until("policy-state", "valid: 3 rules")
	b.until("sent", "was not run: secrets stay out of reach (rule_matched)")
}

// pictures writes a screenshot to the file STOPGATE_SCREENSHOT.
func (b *tab) pictures() {
	file := os.Getenv("STOPGATE_SCREENSHOT")
	if file == "" {
		return
	}
	var shot struct{ Data []byte }
	b.Call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	if err := os.WriteFile(file, shot.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// corrects types a policy with a mistake and corrects it.
func (b *tab) corrects() {
	policy := "version = 1\n[tools.write_file.parameters]\npath = { type = \"path\", required = true }\n[tools.write_file.policy]\nrun = [\n" +
		"  { arg = \"/path\", %s = \".env\", mode = \"deny\" },\n  { mode = \"ask\" },\n]\n"
	b.fill("#policy", fmt.Sprintf(policy, "prefx"))
	b.until("policy-state", "1 mistake")
	found := b.until("findings", "prefx")
	if !strings.Contains(found, "line 6") || !strings.Contains(found, "Remedy") {
		b.t.Errorf("the finding has no place or no remedy: %s", found)
	}
	b.until("verdict", "correct the policy first")
	b.fill("#policy", fmt.Sprintf(policy, "prefix"))
	b.until("policy-state", "valid: 2 rules")
}

// typesBytes types arguments one byte after another: the verdict becomes deny at the byte that the
// command decide reports.
func (b *tab) typesBytes() {
	text := b.value("document.getElementById('policy').value")
	args := `{"path":".env/secret"}`
	p, _ := playground.Compile([]byte(text))
	m, err := p.At(b.t.Context(), playground.Call{Tool: "write_file", Args: []byte(args)}, len(args), true)
	if err != nil || !m.Terminal {
		b.t.Fatal(err, m)
	}
	b.fill("#args", " ") // an empty field has no first byte to compare with
	b.until("verdict", "undecided after 1 of 1 byte")
	b.fill("#args", args[:1])
	for n := 1; n <= len(args); n++ {
		if n > 1 {
			b.Types("#args", args[n-1:n])
		}
		want := fmt.Sprintf("undecided after %d of %d byte", n, n)
		if int64(n) >= m.Answer.DecidedAt {
			want = fmt.Sprintf("deny since byte %d of %d by rule 1, line 6", m.Answer.DecidedAt, n)
		}
		b.until("verdict", want)
	}
	if mark := b.value("document.querySelector('.mark.rule').style.top"); !strings.Contains(mark, "* 5") && !strings.Contains(mark, "5 *") {
		b.t.Errorf("the deciding line is not marked: %q", mark)
	}
}

// slides moves the slider and steps.
func (b *tab) slides() {
	b.value("{ const s = document.getElementById('position'); s.value = 5; s.dispatchEvent(new Event('input')); }")
	b.until("verdict", "undecided after 5 of 22 bytes")
	b.Presses("#forth")
	b.until("verdict", "undecided after 6 of 22 bytes")
	b.Presses("#back")
	b.until("verdict", "undecided after 5 of 22 bytes")
	b.value("document.querySelector('#steps li:last-child button').click()")
	b.until("verdict", "deny since byte")
}

// plays lets the bytes arrive in pieces.
func (b *tab) plays() {
	b.value("{ const e = document.getElementById('example'); e.value = 7; e.dispatchEvent(new Event('change')); }")
	b.until("verdict", "unattended since byte")
	b.value("globalThis.seen = ''; new MutationObserver(() => { seen += document.getElementById('verdict').textContent + ';'; }).observe(document.getElementById('verdict'), { childList: true })")
	for size, stops := range map[int][]int{20: {0, 20, 28}, 4: {0, 4, 8, 12, 16, 20, 24, 28}} {
		b.value("seen = ''")
		b.Presses(fmt.Sprintf("#play%d", size))
		var seen string
		for end := time.Now().Add(time.Minute); !strings.Contains(seen, "unattended since byte 28 of 28") && time.Now().Before(end); {
			seen = b.value("seen")
		}
		for _, n := range stops {
			if !strings.Contains(seen, fmt.Sprintf("undecided after %d of 28 bytes", n)) && n < 28 {
				b.t.Errorf("pieces of %d bytes show no verdict after %d: %s", size, n, seen)
			}
		}
	}
	b.until("sent", `{"order":"A-17","amount":80}`)
}

// usesKeys works without a mouse: from the top of the page by Tab to the tool and the arguments.
func (b *tab) usesKeys() {
	b.Opens(b.url + "/style.css")
	b.Opens(b.url + "/index.html")
	b.until("verdict", "deny since byte")
	reach := func(id string) {
		b.t.Helper()
		for range 40 {
			if b.value("document.activeElement.id") == id {
				return
			}
			b.key("Tab", 9, 0, "")
		}
		b.t.Fatalf("Tab does not reach #%s", id)
	}
	reach("policy") // and leaves it again
	reach("tool")
	reach("args")
	reach("position")
	b.key("Home", 36, 0, "")
	b.until("verdict", "undecided after 0 of 48 bytes")
	b.key("ArrowRight", 39, 0, "")
	b.until("verdict", "undecided after 1 of 48 bytes")
	b.key("End", 35, 0, "")
	b.until("verdict", "deny since byte")
	if said := b.value("document.getElementById('position').getAttribute('aria-valuetext')"); said != "all 48 bytes, the end of the arguments" {
		b.t.Errorf("the slider has the text %q", said)
	}
	unlabelled := b.value(`[...document.querySelectorAll('input, select, textarea, button')].filter((e) => !e.labels?.length && !e.getAttribute('aria-label') && !e.textContent.trim()).map((e) => e.id).join()`)
	if shown := b.value("document.getElementById('link').offsetParent !== null"); shown != "false" {
		b.t.Error("a link is shown before it is made")
	}
	if unlabelled != "" {
		b.t.Errorf("fields without a label: %s", unlabelled)
	}
}

// isNarrow fits the width of a telephone.
func (b *tab) isNarrow() {
	b.Call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": true}, nil)
	if wide := b.value("document.documentElement.scrollWidth"); wide != "360" {
		b.t.Errorf("the page is %s wide, of 360", wide)
	}
}

// stops ends the work on a policy that takes long, by the button and by a newer policy.
func (b *tab) stops() {
	var long strings.Builder
	long.WriteString("version = 1\n[tools.t.policy]\nrun = [\n")
	for i := range 1500 {
		fmt.Fprintf(&long, "  { arg = \"/a\", pattern = \"^(x|y)*%d[a-z]*%d$\", mode = \"ask\" },\n", i, i)
	}
	long.WriteString("]\n")
	text, err := json.Marshal(long.String())
	if err != nil {
		b.t.Fatal(err)
	}
	set := func(value string) {
		b.value("{ const p = document.getElementById('policy'); p.value = " + value + "; p.dispatchEvent(new Event('input')); }")
	}
	set(string(text))
	for end := time.Now().Add(30 * time.Second); b.value("document.getElementById('cancel').hidden") != "false"; {
		if time.Now().After(end) {
			b.t.Fatal("there is no button that stops the core")
		}
	}
	b.Presses("#cancel")
	set("'version = 1'")
	b.until("policy-state", "valid: 0 rules")
	set(string(text))
	time.Sleep(1600 * time.Millisecond) // a policy that has had its time gives way to a newer one
	set("'version = 1 # newer'")
	b.until("policy-state", "valid: 0 rules")
}

// lacksWebAssembly opens the page in a browser without WebAssembly.
func (b *tab) lacksWebAssembly() {
	b.Call("Page.addScriptToEvaluateOnNewDocument", map[string]any{"source": "delete globalThis.WebAssembly"}, nil)
	b.Opens(b.url + "/style.css")
	b.Opens(b.url + "/index.html")
	b.until("alert", "no WebAssembly")
}
