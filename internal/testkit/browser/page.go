package browser

import (
	"encoding/json"
	"strings"
	"time"
)

// patience is how long the methods that wait for a page do so.
const patience = time.Minute

// Opens goes to a URL.
func (b *Browser) Opens(url string) {
	b.t.Helper()
	if trouble := b.Call("Page.navigate", map[string]any{"url": url}, nil); trouble != "" {
		b.t.Fatal(trouble)
	}
}

// Find returns the first element that a selector matches, or 0.
func (b *Browser) Find(selector string) (node int) {
	var document struct{ Root struct{ NodeID int } }
	b.Call("DOM.getDocument", map[string]any{"depth": 0}, &document)
	var found struct{ NodeID int }
	b.Call("DOM.querySelector", map[string]any{"nodeId": document.Root.NodeID, "selector": selector}, &found)
	return found.NodeID
}

// HTML returns the HTML of the first element that a selector matches.
func (b *Browser) HTML(selector string) string {
	var found struct{ OuterHTML string }
	b.Call("DOM.getOuterHTML", map[string]any{"nodeId": b.Find(selector)}, &found)
	return found.OuterHTML
}

// Sees waits until the page contains a text, and returns its HTML.
func (b *Browser) Sees(text string) string {
	b.t.Helper()
	last := ""
	for end := time.Now().Add(patience); time.Now().Before(end); {
		if last = b.HTML("html"); strings.Contains(last, text) {
			return last
		}
	}
	b.t.Fatalf("no %q in %s", text, last)
	return ""
}

// Types writes into a field as from a keyboard.
func (b *Browser) Types(selector, text string) {
	b.t.Helper()
	if trouble := b.Call("DOM.focus", map[string]any{"nodeId": b.Find(selector)}, nil); trouble != "" {
		b.t.Fatalf("%s: %s", selector, trouble)
	}
	b.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// Presses clicks into the middle of an element.
func (b *Browser) Presses(selector string) {
	b.t.Helper()
	node := b.Find(selector)
	b.Call("DOM.scrollIntoViewIfNeeded", map[string]any{"nodeId": node}, nil)
	var box struct {
		Model struct{ Content []float64 }
	}
	if trouble := b.Call("DOM.getBoxModel", map[string]any{"nodeId": node}, &box); trouble != "" {
		b.t.Fatalf("%s: %s", selector, trouble)
	}
	c := box.Model.Content
	x, y := (c[0]+c[4])/2, (c[1]+c[5])/2
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
}

// Evaluate runs an expression in the page, waits for its promise, and reads its value. It works
// without the scripts of the page.
func (b *Browser) Evaluate(expression string, into any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	trouble := b.Call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}, &answer)
	if trouble != "" || answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s %s", expression, trouble, answer.ExceptionDetails)
	}
	if into != nil {
		if err := json.Unmarshal(answer.Result.Value, into); err != nil {
			b.t.Fatalf("%s: %v", expression, err)
		}
	}
}

// Prefers sets a media feature of pages, such as prefers-color-scheme.
func (b *Browser) Prefers(feature, value string) {
	b.Call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": feature, "value": value}}}, nil)
}
