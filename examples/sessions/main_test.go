package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// Proves TPS-06, TPS-25: the policies of the page are those of the program, and the program
// prints what the page shows.
func TestPage(t *testing.T) {
	var out, code strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("../../docs/session-policies.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	if !strings.Contains(page, "```text\n"+out.String()+"```") {
		t.Errorf("the page does not show\n%s", out.String())
	}
	for _, name := range []string{"main.go", "policies.go"} {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code.Write(source)
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) < 4 {
		t.Errorf("the page has %d pieces of code, want those of the three policies", len(blocks))
	}
	for _, m := range blocks {
		if !strings.Contains(code.String(), m[1]) {
			t.Errorf("the program does not have\n%s", m[1])
		}
	}
}
