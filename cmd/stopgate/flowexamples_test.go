package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const flowExamples = "../../examples/flow/"

// The policies on origins are canonical, have no mistake and no trap, and decide their cases as the
// cases state. Those of the benchmark suites may trust words of senders, which check reports.
func TestFlowExamples(t *testing.T) {
	files, err := filepath.Glob(flowExamples + "*.toml")
	if err != nil {
		t.Fatal(err)
	}
	policies := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".test.toml") {
			continue
		}
		policies++
		suite := strings.HasSuffix(file, "dailylife.toml") || strings.HasSuffix(file, "github.toml")
		args := []string{"check", "--strict", file}
		if suite {
			args = []string{"check", file}
		}
		if out, err := exec.Command("stopgate", args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
		if out, err := exec.Command("stopgate", "fmt", "--check", file).CombinedOutput(); err != nil {
			t.Errorf("fmt: %v\n%s", err, out)
		}
		if _, err := os.Stat(strings.TrimSuffix(file, ".toml") + ".test.toml"); err != nil && !suite {
			t.Errorf("%s has no cases", file)
		}
	}
	if policies < 8 {
		t.Errorf("%d policies", policies)
	}
	if out, err := exec.Command("stopgate", "test", flowExamples).CombinedOutput(); err != nil {
		t.Errorf("test: %v\n%s", err, out)
	}
}
