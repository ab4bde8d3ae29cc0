package stopgate_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
)

// series are the ids of requirements, threats and cases of the wire that tests have to
// name, as prefix and last number (docs/design names their sources).
var series = []struct {
	prefix string
	last   int
	digits int
}{
	{"D25-", 52, 2}, {"D26-", 34, 2}, {"F043-", 10, 2},
	{"A", 26, 0}, {"B", 10, 0}, {"C", 19, 0}, {"D", 8, 0}, {"G", 11, 0},
	{"I", 15, 0},
	{"TPS-", 40, 2}, {"G2-", 23, 2}, {"H", 22, 0}, {"P", 28, 0}, {"V3-", 32, 2}, {"W", 56, 0},
}

// unproved are the ids that no test proves yet, and why.
var unproved = map[string]string{
	"D25-46": "replaced: an edit is a new proposal and every layer runs again, which the tests of gate prove",
	"D25-48": "non-goals are stated in SECURITY.md; nothing to run",
	"D25-49": "access grants are not part of the gate; internal/condition/match is the one place that compares paths",
	"D25-51": "there is no coordinator beside the gate that could be handed a policy",
	"D26-15": "a flag inside the evaluator; that no chunk border resets a match is proved as I2",
	"P26":    "time is measured by jsonstream's BenchmarkLinear, not by a test",
}

var (
	provesLine = regexp.MustCompile(`(?m)^// Proves ([^\n]*(?:\n// [^\n]*)*)`)
	idPattern  = regexp.MustCompile(`\b(?:D25-\d\d|D26-\d\d|F043-\d\d|TPS-\d\d|G2-\d\d|V3-\d\d|[A-Z]{1,2}\d{1,2}[a-j]?)\b`)
)

// TestEveryRequirementIsProved finds the "// Proves ID, ID." comments of all
// tests and compares them with the ids above.
func TestEveryRequirementIsProved(t *testing.T) {
	proved := map[string][]string{}
	paths, err := filepath.Glob("interop/*/*_test.go") // a module of its own: what other programs prove
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sources(t) {
		if f.test {
			paths = append(paths, f.path)
		}
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range provesLine.FindAllStringSubmatch(string(text), -1) {
			for _, id := range idPattern.FindAllString(m[1], -1) {
				proved[id] = append(proved[id], path)
			}
		}
	}
	var open []string
	for _, s := range series {
		for n := 1; n <= s.last; n++ {
			id := fmt.Sprintf("%s%0*d", s.prefix, s.digits, n)
			reason, excused := unproved[id]
			switch {
			case len(proved[id]) == 0 && !excused:
				t.Errorf("%s: no test says that it proves this", id)
			case len(proved[id]) > 0 && excused:
				t.Errorf("%s is listed as unproved, but %s proves it", id, proved[id][0])
			case excused:
				open = append(open, fmt.Sprintf("  %s: %s", id, reason))
			}
		}
	}
	sort.Strings(open)
	if len(open) > 0 {
		t.Logf("not proved by a test, and why:\n%s", strings.Join(open, "\n"))
	}
}

// notIDs are words in comments that have the form of an id, and names of whole series.
var notIDs = map[string]bool{"RE2": true, "V8": true, "C0": true, "D25": true, "D26": true, "V3": true}

var definition = regexp.MustCompile(`(?m)^\| ([A-Z][A-Za-z0-9-]*) \|`)

// outside are citations of sections and ids of a page that is not in docs/design.
var outside = regexp.MustCompile(`\b(?:WIRE|THREATS|DESIGN|HOSTS|STYLE|INVARIANTS|DECISIONS|REQUIREMENTS)[ .§]+[A-Z]{0,2}\d`)

// Every id that a comment cites is defined in docs/design, once, and is cited without the name
// of another page.
func TestEveryIDIsDefined(t *testing.T) {
	defined := map[string]string{}
	pages, err := filepath.Glob("docs/design/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range definition.FindAllStringSubmatch(string(text), -1) {
			if other, twice := defined[m[1]]; twice {
				t.Errorf("%s is defined in %s and in %s", m[1], other, page)
			}
			defined[m[1]] = page
		}
	}
	cited := map[string]string{}
	for _, f := range sources(t) {
		text, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			_, comment, found := strings.Cut(line, "//")
			if !found {
				continue
			}
			if page := outside.FindString(comment); page != "" {
				t.Errorf("%s cites %q: write the sentence that it refers to, or an id of docs/design alone", f.path, page)
			}
			for _, id := range idPattern.FindAllString(comment, -1) {
				if cited[id] == "" && !notIDs[id] {
					cited[id] = f.path
				}
			}
		}
	}
	missing := 0
	for _, id := range slices.Sorted(maps.Keys(cited)) {
		if defined[id] == "" {
			missing++
			t.Errorf("%s, cited in %s, is not defined in docs/design", id, cited[id])
		}
	}
	t.Logf("%d ids are cited, %d defined, %d missing", len(cited), len(defined), missing)
}
