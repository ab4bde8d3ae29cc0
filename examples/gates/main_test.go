package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Proves G2-04, G2-08, G2-13, G2-14, G2-15, G2-16, G2-17: the program prints what the page for
// readers of deterministic policy gates shows, and the page shows its policy.
func TestPage(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/coming-from/policy-gates.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if !strings.Contains(page, "```text\n"+out.String()+"```") {
		t.Errorf("the page does not show\n%s", out.String())
	}
	code, err := os.ReadFile("main.go")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) == 0 {
		t.Error("the page has no code")
	}
	for _, m := range blocks {
		if !strings.Contains(string(code), m[1]) {
			t.Errorf("main.go does not have\n%s", m[1])
		}
	}
}
