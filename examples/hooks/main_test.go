package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/gateway/events"
)

// Proves V3-10, V3-17, V3-18, V3-20, V3-22, V3-23, V3-24, V3-29, V3-32: the examples of the design give
// what the page for its readers shows, streamed and whole, and the page shows their code.
func TestPage(t *testing.T) {
	text, err := os.ReadFile("../../docs/coming-from/event-policies.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	for _, streamed := range []bool{true, false} {
		var out strings.Builder
		if err := run(&out, streamed); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(page, "```text\n"+out.String()+"```") {
			t.Errorf("streamed %t: the page does not show\n%s", streamed, out.String())
		}
	}
	code, err := os.ReadFile("policies.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) < 4 {
		t.Errorf("the page has %d pieces of code", len(blocks))
	}
	for _, m := range blocks {
		if !strings.Contains(string(code), m[1]) {
			t.Errorf("policies.go does not have\n%s", m[1])
		}
	}
}

// Every method that looks like a hook is one.
func TestHooks(t *testing.T) {
	for _, p := range []events.Policy{noOp{}, contentOnly{}, judge{}, patient{}, contentTransform{}, enough{}, report{}} {
		if err := events.Check(p); err != nil {
			t.Error(err)
		}
	}
}
