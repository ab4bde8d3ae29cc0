package stopgate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// risks are the names of the OWASP Top 10 for Agentic Applications, of December 2025.
var risks = []string{
	"Agent Goal Hijack", "Tool Misuse and Exploitation", "Identity and Privilege Abuse", "Agentic Supply Chain Vulnerabilities", "Unexpected Code Execution (RCE)",
	"Memory & Context Poisoning", "Insecure Inter-Agent Communication", "Cascading Failures", "Human-Agent Trust Exploitation", "Rogue Agents",
}

// Every row of the page of threats names tests that exist, or reports plainly that the threat is not
// covered; every risk of the list has rows, and every id a definition.
func TestThreatPageNamesTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("docs", "owasp.md"))
	if err != nil {
		t.Fatal(err)
	}
	var headings []string
	rows := map[string]int{}
	heading := ""
	for _, line := range strings.Split(string(page), "\n") {
		if h, ok := strings.CutPrefix(line, "## "); ok {
			heading = h
			headings = append(headings, h)
		}
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| threat |") {
			continue
		}
		rows[heading]++
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 5 {
			t.Errorf("%d cells, want 5: %s", len(cells), line)
			continue
		}
		checkThreat(t, cells)
	}
	for i, name := range risks {
		h := fmt.Sprintf("ASI%02d %s", i+1, name)
		if !slices.Contains(headings, h) || rows[h] == 0 {
			t.Errorf("the page has no rows for %s", h)
		}
	}
	defined := definitions(t)
	for _, id := range regexp.MustCompile(`\(([A-H]\d+(?:(?:, | to )[A-H]\d+)*)\)`).FindAllStringSubmatch(string(page), -1) {
		for _, one := range regexp.MustCompile(`[A-H]\d+`).FindAllString(id[1], -1) {
			if defined[one].sentence == "" {
				t.Errorf("the page cites %s, which docs/design does not define", one)
			}
		}
	}
}

var namedTest = regexp.MustCompile("`([a-z0-9/]+)\\.((?:Test|Fuzz)\\w+)`")

// checkThreat checks one row: threat, what stopgate does and does not do, tests, and a link.
func checkThreat(t *testing.T, cells []string) {
	t.Helper()
	threat, does, proof, more := strings.TrimSpace(cells[0]), strings.TrimSpace(cells[1]), strings.TrimSpace(cells[3]), cells[4]
	if does == "" || !strings.Contains(more, "](") {
		t.Errorf("the row %q lacks what stopgate does, or a link", threat)
	}
	if proof == "not covered" {
		if does != "Not covered" {
			t.Errorf("the row %q has no test for: %s", threat, does)
		}
		return
	}
	tests := namedTest.FindAllStringSubmatch(proof, -1)
	if len(tests) == 0 || len(tests) != strings.Count(proof, "`")/2 {
		t.Errorf("the row %q names no tests in the form `package.Test`: %s", threat, proof)
	}
	for _, m := range tests {
		if !hasTest(t, m[1], m[2]) {
			t.Errorf("the row %q names %s.%s, which does not exist", threat, m[1], m[2])
		}
	}
}

// hasTest reports whether the tests of a directory have a function.
func hasTest(t *testing.T, dir, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(filepath.FromSlash(dir), "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.ContainsFunc(files, func(file string) bool {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(string(text), "\nfunc "+name+"(t *testing.T)") || strings.Contains(string(text), "\nfunc "+name+"(f *testing.F)")
	})
}
