package proofs_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// check returns the report of the model checker about the model with some macros defined.
func check(t *testing.T, macros ...string) string {
	t.Helper()
	model, err := filepath.Abs("release.pml")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	dir := t.TempDir()
	run := func(name string, args ...string) string {
		cmd := exec.CommandContext(ctx, name, args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	args := []string{"-a"}
	for _, m := range macros {
		args = append(args, "-D"+m)
	}
	run("spin", append(args, model)...)
	run("cc", "-w", "-O2", "-DSAFETY", "-o", "pan", "pan.c")
	report := run(filepath.Join(dir, "pan"), "-m100000")
	if !strings.Contains(report, "Full statespace search") || strings.Contains(report, "max search depth too small") {
		t.Fatalf("the search is not complete:\n%s", report)
	}
	return report
}

func TestMain(m *testing.M) {
	for _, program := range []string{"spin", "cc"} {
		if _, err := exec.LookPath(program); err != nil {
			println("install the model checker: apt-get install spin gcc libc6-dev")
			os.Exit(1)
		}
	}
	os.Exit(m.Run())
}

// Proves I19, I22: no interleaving of gates, deaths, lost answers and clocks releases more calls
// than the limit, a call without its row, two calls by one approval, or one after a lockdown.
func TestReleases(t *testing.T) {
	for _, limit := range []string{"LIMIT=1", "LIMIT=2"} {
		if report := check(t, limit); !strings.Contains(report, "errors: 0") {
			t.Errorf("%s:\n%s", limit, report)
		}
	}
}

// Proves that the check finds mistakes, and that the model gets to what it is about.
func TestSeededMistakes(t *testing.T) {
	model, err := os.ReadFile("release.pml")
	if err != nil {
		t.Fatal(err)
	}
	wants := map[string]string{
		"SEED_NOTIFY_TRUSTED":             "uses<=1",
		"SEED_APPROVAL_READ_THEN_WRITTEN": "uses<=1",
		"SEED_LOCKDOWN_READ_BEFORE":       "!(ordered)",
		"SEED_READ_THEN_WRITTEN":          "released[0]<=1",
		"SEED_TIME_OF_THE_GATE":           "released[0]<=1",
		"SEED_SENT_BEFORE":                "row[g]",
		"SEED_ROW_WITHOUT_FACTS":          "released[0]<=1",
		"REACH_LIMIT":                     "released[0]<1",
		"REACH_USE":                       "uses<1",
		"REACH_SENT":                      "!(sent[0])",
	}
	for _, macro := range regexp.MustCompile(`\b(?:SEED|REACH)_[A-Z_]+`).FindAllString(string(model), -1) {
		if wants[macro] == "" {
			t.Errorf("%s is not checked", macro)
		}
	}
	for macro, want := range wants {
		t.Run(macro, func(t *testing.T) {
			t.Parallel()
			if report := check(t, macro); !strings.Contains(report, "errors: 1") || !strings.Contains(report, "assertion violated") || !strings.Contains(report, want) {
				t.Errorf("not found, by %q:\n%s", want, report)
			}
		})
	}
}

// Proves that the model quotes the statements of the store.
func TestStatements(t *testing.T) {
	model, err := os.ReadFile("release.pml")
	if err != nil {
		t.Fatal(err)
	}
	var store strings.Builder
	for _, pattern := range []string{"../internal/store/postgres/*.go", "../internal/store/postgres/pgdb/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			store.Write(text)
		}
	}
	quotes := regexp.MustCompile(`SQL: (.*?)(?:   .*)? \*/`).FindAllStringSubmatch(string(model), -1)
	if len(quotes) < 10 {
		t.Errorf("%d statements", len(quotes))
	}
	for _, q := range quotes {
		if !strings.Contains(store.String(), q[1]) {
			t.Errorf("no statement of the store: %s", q[1])
		}
	}
}
