package main

import (
	"os"
	"strings"
	"testing"
)

// Proves D26-16, D26-17, D26-20, D26-21, D26-22, D26-23, D26-25, D26-26: the program prints what the page
// for readers of JP's designs shows.
func TestPage(t *testing.T) {
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../../docs/coming-from/jp.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "```text\n"+out.String()+"```") {
		t.Errorf("the page does not show\n%s", out.String())
	}
}
