package page_test

import (
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/testkit/browser"
)

// Proves S60, H21, S4: answering with a real browser, without scripts.
func TestChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	for _, path := range browser.Programs(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { testChromium(t, browser.Launch(t, path)) })
	}
}

func testChromium(t *testing.T, b *browser.Browser) {
	s := open(t)
	e := s.ask(nil)
	at := s.server.URL + "/approvals/" + e.ID

	b.Opens(at)
	b.Sees("Token with the scope approve")
	b.Types("input[name=secret]", secret)
	b.Presses("form button")
	page := b.Sees("wants to run")
	for _, what := range []string{"write_file", "/path", `"README"`, "somebody looks at it"} {
		if !strings.Contains(page, what) {
			t.Errorf("%q is missing in %s", what, page)
		}
	}
	if file := os.Getenv("STOPGATE_SCREENSHOT"); file != "" {
		var shot struct{ Data string }
		b.Call("Page.captureScreenshot", nil, &shot)
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
			framed := at
			if of := r.FormValue("of"); of != "" {
				framed = "http://" + r.Context().Value(http.LocalAddrContextKey).(net.Addr).String() + of
			}
			fmt.Fprintf(w, `<p>cute cats<iframe src="%s" width=800 height=800></iframe>`, framed)
		case "/form":
			fmt.Fprintf(w, `<form method=post action="%s"><input name=do value=deny><button>win</button></form>`, at)
		case "/link":
			fmt.Fprintf(w, `<a href="%s">the question</a>`, at)
		}
	}))
	defer evil.Close()
	elsewhere := strings.Replace(evil.URL, "127.0.0.1", "localhost", 1)
	b.Opens(elsewhere + "/frame")
	b.Sees("cute cats")
	if f := b.Frame(); f.URL != "chrome-error://chromewebdata/" || strings.Contains(f.HTML, "wants to run") {
		t.Errorf("another site's frame shows %s: %s", f.URL, f.HTML)
	}
	// The same frame shows a page that allows framing: the test can see into frames.
	b.Opens(elsewhere + "/frame?of=/form")
	b.Sees("cute cats")
	if f := b.Frame(); f.URL != evil.URL+"/form" || !strings.Contains(f.HTML, "win") {
		t.Errorf("the frame of a page that allows it shows %s: %s", f.URL, f.HTML)
	}
	b.Errors = nil // the refusal was checked above
	b.Opens(elsewhere + "/form")
	b.Sees("win")
	b.Presses("button")
	b.Sees("did not come from a page of this gate")
	if s.state(e.ID).State != approve.Waiting {
		t.Fatal("another site has answered")
	}
	b.Errors = nil

	// A link in a chat opens the question, still logged in.
	b.Opens(elsewhere + "/link")
	b.Sees("the question")
	b.Presses("a")
	b.Sees("wants to run")

	b.Types("input[name=code]", "nope")
	b.Presses("button[value=approve]")
	b.Sees("The code was not the one")
	b.Errors = nil // a 403 is logged as one
	b.Types("input[name=code]", code(b))
	b.Presses("button[value=approve]")
	b.Sees("Approved by anna")
	if e := s.state(e.ID); e.State != approve.Approved || e.By != "anna" {
		t.Fatalf("%+v", e)
	}
	// The page shows the release without a reload by the person.
	if _, err := s.store.ChangeEntry(t.Context(), e.ID, func(e approve.Entry) (approve.Entry, error) {
		e.State = approve.Used
		return e, nil
	}); err != nil {
		t.Fatal(err)
	}
	b.Sees("The call was let out")

	b.Opens(s.server.URL + "/approvals")
	b.Sees("Nothing waits")
	e = s.ask(func(e *approve.Entry) { e.ID = "QZ" })
	b.Sees("/approvals/QZ") // without a reload by the person
	b.Presses("td a")
	b.Sees("wants to run")
	b.Presses("summary")
	b.Types("textarea", " ")
	b.Types("input[name=code]", code(b))
	b.Presses("button[value=edit]")
	b.Sees("Changed and approved by anna")

	// A grant for the directory, and two questions that are answered together from the list.
	s.ask(func(e *approve.Entry) {
		e.ID, e.Leaves = "QD", []gate.Leaf{{Pointer: "/path", Type: "path", Known: true, JSON: `"src/api/a.ts"`}}
	})
	b.Opens(s.server.URL + "/approvals/QD")
	b.Sees("for example src/api/another.ts")
	b.Types("input[name=code]", code(b))
	b.Presses("button[value=always-directory]")
	b.Sees("Approved by anna")
	grants, err := s.queue.Grants(t.Context(), approve.GrantFilter{})
	if err != nil || len(grants) != 1 || grants[0].Values[0].Text != "src/api" {
		t.Fatalf("%+v %v", grants, err)
	}
	for _, id := range []string{"QE", "QF"} {
		s.ask(func(e *approve.Entry) { e.ID, e.Binding.Args = id, id })
	}
	b.Opens(s.server.URL + "/approvals/QE")
	b.Sees("this is 1 of 2")
	b.Opens(s.server.URL + "/approvals/QF")
	b.Sees("this is 2 of 2")
	b.Opens(s.server.URL + "/approvals")
	b.Sees("Approve each once")
	b.Presses("input[value=QE]")
	b.Presses("input[value=QF]")
	b.Types("input[name=code]", code(b))
	b.Presses("button[value=approve]")
	b.Sees("Nothing waits")
	if one, two := s.state("QE"), s.state("QF"); one.State != approve.Approved || two.State != approve.Approved {
		t.Fatalf("%s %s", one.State, two.State)
	}
	if len(b.Errors) > 0 {
		t.Errorf("the browser complains: %s", b.Errors)
	}
}

// code returns the code on the page.
func code(b *browser.Browser) string {
	text := b.HTML("legend strong")
	return strings.TrimSuffix(strings.TrimPrefix(text, "<strong>"), "</strong>")
}
