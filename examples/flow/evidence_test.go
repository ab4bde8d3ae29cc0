package flow_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every test that the page of evidence names for an attack on the mechanism is there.
func TestEvidenceNamesTests(t *testing.T) {
	page, err := os.ReadFile("../../docs/evidence.md")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`([a-z/]+)\\.(Test[A-Za-z]+)`").FindAllStringSubmatch(string(page), -1)
	if len(names) < 20 {
		t.Fatalf("the page names %d tests", len(names))
	}
	for _, m := range names {
		files, err := filepath.Glob(filepath.Join("..", "..", filepath.FromSlash(m[1]), "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			found = found || strings.Contains(string(text), "\nfunc "+m[2]+"(t *testing.T)")
		}
		if !found {
			t.Errorf("%s has no %s", m[1], m[2])
		}
	}
}
