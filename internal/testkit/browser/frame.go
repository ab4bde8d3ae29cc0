package browser

import (
	"strings"
	"time"
)

// Document is a document in a frame.
type Document struct{ URL, HTML string }

// Frame waits until the only frame of the page shows a document. A browser renders frames of other
// sites in separate processes or in that of the page, and shows an error page in either.
func (b *Browser) Frame() Document {
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
	return Document{}
}

func loaded(s Document) bool {
	return s.URL != "" && s.URL != "about:blank" && strings.Contains(s.HTML, "</body>")
}

// inPage reads the frame through the page.
func (b *Browser) inPage() Document {
	var found struct {
		Node struct {
			ContentDocument struct {
				NodeID      int `json:"backendNodeId"`
				DocumentURL string
			}
		}
	}
	b.Call("DOM.describeNode", map[string]any{"nodeId": b.Find("iframe"), "depth": 1, "pierce": true}, &found)
	d := found.Node.ContentDocument
	var text struct{ OuterHTML string }
	if d.NodeID != 0 {
		b.Call("DOM.getOuterHTML", map[string]any{"backendNodeId": d.NodeID}, &text)
	}
	return Document{d.DocumentURL, text.OuterHTML}
}

// elsewhere reads the frame in its own process.
func (b *Browser) elsewhere() (s Document) {
	page := b.session
	defer func() { b.session = page }()
	b.session = ""
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	b.Call("Target.getTargets", nil, &targets)
	for _, target := range targets.TargetInfos {
		if target.Type != "iframe" {
			continue
		}
		b.session = ""
		var attached struct{ SessionID string }
		if b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached) != "" {
			continue
		}
		b.session = attached.SessionID
		var document struct{ Root struct{ DocumentURL string } }
		b.Call("DOM.getDocument", map[string]any{"depth": 0}, &document)
		s = Document{document.Root.DocumentURL, b.HTML("html")}
		b.session = ""
		b.Call("Target.detachFromTarget", map[string]any{"sessionId": attached.SessionID}, nil)
	}
	return s
}
