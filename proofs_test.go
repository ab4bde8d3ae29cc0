package stopgate_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
	{"I", 25, 0},
	{"TPS-", 40, 2}, {"G2-", 23, 2}, {"H", 23, 0}, {"P", 28, 0}, {"V3-", 32, 2}, {"W", 56, 0},
}

// unproved are the ids that no test proves, and why.
var unproved = map[string]string{
	"P26": "time is measured by jsonstream's BenchmarkLinear, and no test depends on time",
}

var (
	provesLine = regexp.MustCompile(`(?m)^// Proves ([^\n]*(?:\n// [^\n]*)*)`)
	testName   = regexp.MustCompile(`^\n(?://[^\n]*\n)*func ((?:Test|Fuzz|Benchmark|Example)\w+)`)
	idPattern  = regexp.MustCompile(`\b(?:D25-\d\d|D26-\d\d|F043-\d\d|TPS-\d\d|G2-\d\d|V3-\d\d|[A-Z]{1,2}\d{1,2}[a-j]?)\b`)
)

// TestEveryRequirementIsProved compares the "// Proves ID, ID." comments of all tests with the ids
// above, and those with the rows of docs/design. With -v it lists each row with its tests.
func TestEveryRequirementIsProved(t *testing.T) {
	proved := proofs(t)
	defined := definitions(t)
	for _, s := range series {
		for n := 1; n <= s.last; n++ {
			id := fmt.Sprintf("%s%0*d", s.prefix, s.digits, n)
			reason, excused := unproved[id]
			switch {
			case defined[id].sentence == "":
				t.Errorf("%s has no row in docs/design", id)
			case len(proved[id]) == 0 && !excused:
				t.Errorf("%s: no test proves this: %s", id, defined[id].sentence)
			case len(proved[id]) > 0 && excused:
				t.Errorf("%s is listed as unproved, but %s proves it", id, proved[id][0])
			case excused:
				t.Logf("%s  %s\n    not proved: %s", id, defined[id].sentence, reason)
			default:
				t.Logf("%s  %s\n    %s", id, defined[id].sentence, strings.Join(proved[id], "\n    "))
			}
		}
		if next := fmt.Sprintf("%s%0*d", s.prefix, s.digits, s.last+1); defined[next].sentence != "" {
			t.Errorf("%s is defined in docs/design and not among the ids that tests prove", next)
		}
	}
}

// proofs returns the tests that prove each id.
func proofs(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob("interop/*/*_test.go") // modules of their own: what other programs prove
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range sources(t) {
		if f.test {
			paths = append(paths, f.path)
		}
	}
	proved := map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range provesLine.FindAllStringSubmatchIndex(string(text), -1) {
			test := path
			if name := testName.FindSubmatch(text[m[1]:]); name != nil {
				test += " " + string(name[1])
			}
			for _, id := range idPattern.FindAllString(string(text[m[2]:m[3]]), -1) {
				if !slices.Contains(proved[id], test) {
					proved[id] = append(proved[id], test)
				}
			}
		}
	}
	return proved
}

// notIDs are words in comments that have the form of an id, and names of whole series.
var notIDs = map[string]bool{"RE2": true, "V8": true, "C0": true, "D25": true, "D26": true, "V3": true}

// row is the definition of an id: a row of a table in a page of docs/design.
type row struct{ page, sentence string }

var definition = regexp.MustCompile(`(?m)^\| ([A-Z][A-Za-z0-9-]*) \| (.*?) \|`)

// definitions returns the rows of docs/design. An id has one.
func definitions(t *testing.T) map[string]row {
	t.Helper()
	pages, err := filepath.Glob("docs/design/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	defined := map[string]row{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range definition.FindAllStringSubmatch(string(text), -1) {
			if other, twice := defined[m[1]]; twice {
				t.Errorf("%s is defined in %s and in %s", m[1], other.page, page)
			}
			defined[m[1]] = row{page, m[2]}
		}
	}
	return defined
}

// outside are citations of sections and ids of a page that is not in docs/design.
var outside = regexp.MustCompile(`\b(?:WIRE|THREATS|DESIGN|HOSTS|STYLE|INVARIANTS|DECISIONS|REQUIREMENTS)[ .§]+[A-Z]{0,2}\d`)

// Every id that a comment cites is defined in docs/design, once, and is cited without the name
// of another page.
func TestEveryIDIsDefined(t *testing.T) {
	defined := definitions(t)
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
		if defined[id].page == "" {
			missing++
			t.Errorf("%s, cited in %s, is not defined in docs/design", id, cited[id])
		}
	}
	t.Logf("%d ids are cited, %d defined, %d missing", len(cited), len(defined), missing)
}
