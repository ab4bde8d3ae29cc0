package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/knowntools"
)

// The starters hold the lists of the table of known tools, byte for byte.
func TestStartersAreGenerated(t *testing.T) {
	for _, s := range starters {
		text, err := os.ReadFile(filepath.Join("..", s.file))
		if err != nil {
			t.Fatal(err)
		}
		want, err := s.generate(text)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(text, want) {
			t.Errorf("%s is not what the table of known tools gives: run go generate ./internal/config", s.file)
		}
	}
}

// A starter whose list lacks a name, or has one of its own, is written as the table has it.
func TestGenerateReplacesLists(t *testing.T) {
	s := starters[2]
	text, err := os.ReadFile(filepath.Join("..", s.file))
	if err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{`  "run_command",` + "\n": "", `"terminal"`: `"other"`} {
		changed := bytes.Replace(text, []byte(from), []byte(to), 1)
		if bytes.Equal(changed, text) {
			t.Fatalf("%s has no %s", s.file, from)
		}
		if got, err := s.generate(changed); err != nil || !bytes.Equal(got, text) {
			t.Errorf("%q for %q stays (%v)", to, from, err)
		}
	}
	for _, missing := range []string{"[tools.shell]", "also = ["} {
		if _, err := s.generate(bytes.Replace(text, []byte(missing), []byte("[tools.x] #"), 1)); err == nil {
			t.Errorf("a starter without %s has no mistake", missing)
		}
	}
}

// A row that a starter lists belongs to exactly one of the starter's tables.
func TestListedRows(t *testing.T) {
	path := knowntools.Parameter{Name: "path", Kind: knowntools.Path}
	file := knowntools.Parameter{Name: "file_path", Kind: knowntools.Path}
	for _, c := range []struct {
		starter, mistake string
		tools            []*knowntools.Tool
	}{
		{"coding", "", []*knowntools.Tool{{Class: knowntools.Write, Parameters: []knowntools.Parameter{path}}}},
		{"coding", "and to", []*knowntools.Tool{{Class: knowntools.Write, Parameters: []knowntools.Parameter{path, file}}}},
		{"coding", "no table", []*knowntools.Tool{{Class: knowntools.Fetch, Parameters: []knowntools.Parameter{path}}}},
		{"coding", "two tables", []*knowntools.Tool{{Class: knowntools.Note}, {Class: knowntools.Read}}},
		{"codding", "unknown starter", []*knowntools.Tool{{Class: knowntools.Read}}},
	} {
		for _, tool := range c.tools {
			tool.Starters = []knowntools.Listed{{Starter: c.starter, Name: "a"}}
		}
		lists, err := starters[1].lists([]*knowntools.Product{{Name: "p", Tools: c.tools}})
		if c.mistake == "" {
			if err != nil || !slices.Equal(lists[3], []string{"a"}) {
				t.Errorf("lists %v, %v", lists, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.mistake) {
			t.Errorf("%s: %v", c.mistake, err)
		}
	}
}
