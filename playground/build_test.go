package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Two builds have the same bytes, and the page names no other host.
func TestBuildIsReproducible(t *testing.T) {
	one, two := built(t), t.TempDir()
	if err := build("..", two); err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(one)
	if err != nil || len(files) < 10 {
		t.Fatal(err, files)
	}
	for _, f := range files {
		a, err := os.ReadFile(filepath.Join(one, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(two, f.Name()))
		if err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s differs: %v", f.Name(), err)
		}
		if strings.HasSuffix(f.Name(), ".gz") || f.Name() == "examples.json" || f.Name() == "wasm_exec.js" {
			continue
		}
		if url := regexp.MustCompile(`(?i)(https?:)?//[a-z0-9]+\.[a-z]`).Find(a); url != nil {
			t.Errorf("%s names %s", f.Name(), url)
		}
		if sink := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function`).Find(a); sink != nil {
			t.Errorf("%s uses %s", f.Name(), sink)
		}
	}
}
