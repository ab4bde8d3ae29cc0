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
)

// Proves S60, H21, S4: answering with a real browser, without scripts.
func TestChromium(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	for _, path := range browsers(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { testChromium(t, launch(t, path)) })
	}
}

func testChromium(t *testing.T, b *browser) {
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
	b.opens(elsewhere + "/frame")
	b.sees("cute cats")
	if f := b.frame(); f.url != "chrome-error://chromewebdata/" || strings.Contains(f.html, "wants to run") {
		t.Errorf("another site's frame shows %s: %s", f.url, f.html)
	}
	// The same frame shows a page that allows framing: the test can see into frames.
	b.opens(elsewhere + "/frame?of=/form")
	b.sees("cute cats")
	if f := b.frame(); f.url != evil.URL+"/form" || !strings.Contains(f.html, "win") {
		t.Errorf("the frame of a page that allows it shows %s: %s", f.url, f.html)
	}
	b.errors = nil // the refusal was checked above
	b.opens(elsewhere + "/form")
	b.sees("win")
	b.presses("button")
	b.sees("did not come from a page of this gate")
	if s.state(e.ID).State != approve.Waiting {
		t.Fatal("another site has answered")
	}
	b.errors = nil

	// A link in a chat opens the question, still logged in.
	b.opens(elsewhere + "/link")
	b.sees("the question")
	b.presses("a")
	b.sees("wants to run")

	b.types("input[name=code]", "nope")
	b.presses("button[value=approve]")
	b.sees("The code was not the one")
	b.errors = nil // a 403 is logged as one
	b.types("input[name=code]", b.code())
	b.presses("button[value=approve]")
	b.sees("Approved by anna")
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
	b.sees("The call was let out")

	b.opens(s.server.URL + "/approvals")
	b.sees("Nothing waits")
	e = s.ask(func(e *approve.Entry) { e.ID = "QZ" })
	b.sees("/approvals/QZ") // without a reload by the person
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
