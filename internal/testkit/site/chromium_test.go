package site_test

import (
	_ "embed"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stopgate/stopgate/internal/testkit/browser"
)

//go:embed audit.js
var audit string

// The pages in a real browser: they load without errors and from nowhere else, the search finds
// what it should, and everybody can read them.
func TestChromium(t *testing.T) {
	server := httptest.NewServer(http.FileServer(http.Dir(built(t))))
	defer server.Close()
	for _, program := range browser.Programs(t) {
		t.Run(filepath.Base(program), func(t *testing.T) {
			b := browser.Launch(t, program)
			t.Run("without scripts", func(t *testing.T) { readable(t, b, server.URL) })
			b.Scripts(true)
			t.Run("recording", func(t *testing.T) { recording(t, b, server.URL) })
			t.Run("search", func(t *testing.T) { search(t, b, server.URL) })
			t.Run("versions", func(t *testing.T) { versions(t, b, server.URL) })
			t.Run("playground", func(t *testing.T) { playground(t, b, server.URL) })
			for _, scheme := range []string{"light", "dark"} {
				t.Run(scheme, func(t *testing.T) { accessible(t, b, server.URL, scheme) })
			}
			for _, u := range b.Requests {
				if at, err := url.Parse(u); err != nil || at.Scheme != "data" && at.Scheme != "about" && at.Hostname() != "127.0.0.1" {
					t.Errorf("a page requests %s", u)
				}
			}
			for _, e := range b.Errors {
				t.Errorf("the browser complains: %s", e)
			}
		})
	}
}

// readable reads the first page without scripts.
func readable(t *testing.T, b *browser.Browser, at string) {
	b.Opens(at + "/latest/")
	wait(t, b, `location.protocol === "http:" && document.readyState === "complete"`)
	page := b.Sees("</html>")
	for _, text := range []string{"Without a gate", "secrets stay out of reach", `src="assets/session.svg"`, "The policy language"} {
		if !strings.Contains(page, text) {
			t.Errorf("the first page has no %q", text)
		}
	}
	wait(t, b, `document.querySelector("article img")?.naturalWidth > 600 && document.querySelector("article h1").checkVisibility()`)
	if b.Opens(at + "/"); !strings.Contains(b.Sees("Without a gate"), "secrets stay out of reach") {
		t.Error("the root of the site does not lead to the latest version")
	}
}

// recording plays the session of the first page, and reads it without animation.
func recording(t *testing.T, b *browser.Browser, at string) {
	const visible = `[...document.querySelectorAll("text")].filter(e => getComputedStyle(e).fillOpacity === "1" && e.getBoundingClientRect().top > 0 && e.getBoundingClientRect().bottom < 488).map(e => e.textContent).join(" ")`
	shows := func(when, text string, want bool) {
		var screen string
		if b.Evaluate(visible, &screen); strings.Contains(screen, text) != want {
			t.Errorf("%s the recording shows %q: %t\n%s", when, text, !want, screen)
		}
	}
	b.Opens(at + "/latest/assets/session.svg")
	wait(t, b, `document.querySelector("text") !== null && document.getAnimations().length > 50`)
	seek := func(seconds int) {
		b.Evaluate(fmt.Sprintf("document.getAnimations().forEach(a => { a.pause(); a.currentTime = %d })", seconds*1000), nil)
	}
	seek(0)
	shows("at its beginning", "decided   at byte 21", false)
	seek(600)
	shows("at its end", "7 calls: 5 allowed, 2 refused", true)
	b.Prefers("prefers-reduced-motion", "reduce")
	b.Opens(at + "/latest/assets/session.svg?still")
	wait(t, b, `location.search === "?still" && document.querySelector("text") !== null && document.getAnimations().length === 0`)
	shows("without animation", "decided   at byte 21 of 44", true)
	shows("without animation", "7 calls", false)
	b.Prefers("prefers-reduced-motion", "no-preference")
}

// search looks for a word of the policy language.
func search(t *testing.T, b *browser.Browser, at string) {
	b.Opens(at + "/latest/")
	b.Sees("Without a gate")
	wait(t, b, `document.querySelector("[data-md-component=search-query]") !== null`)
	b.Evaluate(`document.querySelector("[data-md-component=search-query]").focus(), true`, nil)
	b.Types("[data-md-component=search-query]", "usage")
	wait(t, b, `document.querySelectorAll(".md-search-result__link").length > 0`)
	var found []string
	b.Evaluate(`[...document.querySelectorAll(".md-search-result__link")].map(a => a.getAttribute("href"))`, &found)
	if !strings.Contains(strings.Join(found, " "), "/reference/policy/") {
		t.Errorf("the search for usage finds %s", found)
	}
}

// versions looks at the switcher.
func versions(t *testing.T, b *browser.Browser, at string) {
	b.Opens(at + "/latest/tutorial/")
	wait(t, b, `document.querySelectorAll(".md-version__link").length > 0`)
}

// playground follows the link to it, and waits for a verdict of its core.
func playground(t *testing.T, b *browser.Browser, at string) {
	b.Opens(at + "/latest/try/")
	wait(t, b, `document.querySelector("article a[href='../playground/']") !== null`)
	var to string
	b.Evaluate(`document.querySelector("article a[href='../playground/']").href`, &to)
	b.Opens(to)
	wait(t, b, `document.querySelector("#verdict")?.textContent.trim().length > 0`)
}

// accessible audits some pages with one colour scheme.
func accessible(t *testing.T, b *browser.Browser, at, scheme string) {
	b.Prefers("prefers-color-scheme", scheme)
	for _, page := range []string{"", "tutorial/", "reference/policy/", "reference/cli/", "coming-from/", "hooks/"} {
		b.Opens(at + "/latest/" + page)
		want := map[string]string{"light": "default", "dark": "slate"}[scheme]
		wait(t, b, fmt.Sprintf(`location.pathname === "/latest/%s" && document.readyState === "complete" && document.body.dataset.mdColorScheme === "%s" && document.getAnimations().length === 0`, page, want))
		var defects []string
		b.Evaluate(audit, &defects)
		for _, d := range defects {
			t.Errorf("/%s: %s", page, d)
		}
	}
}

// wait waits until an expression of the page holds.
func wait(t *testing.T, b *browser.Browser, expression string) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var holds bool
		if b.Evaluate("Boolean("+expression+")", &holds); holds {
			return
		}
	}
	t.Fatalf("the page never has %s", expression)
}
