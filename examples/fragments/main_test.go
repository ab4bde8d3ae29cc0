package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// Proves F043-03, F043-05, F043-07, F043-08, F043-09: what the program reads from the lines that it
// wrote is what the page for readers of JP's designs shows.
func TestPage(t *testing.T) {
	var wire bytes.Buffer
	if err := write(&wire); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := read(&wire, &out); err != nil {
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
