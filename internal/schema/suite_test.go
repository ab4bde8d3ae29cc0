package schema_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/corpus"
	"github.com/stopgate/stopgate/jsonstream"
)

// tally counts the results of a test-suite file.
type tally struct{ agree, unvalidated, refused int }

// runSuite runs one file of the JSON Schema test suite. A result may differ only if the schema has
// a note for a keyword that is not validated; these are counted. known lists groups with a
// different meaning here, with the reason.
func runSuite(t *testing.T, file string, known map[string]string, total *tally) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	groups, err := jsonstream.Parse(text, jsonstream.Options{})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Base(file)
	for group := range groups.Elements() {
		description := member(group, "description").Text()
		if known[name+": "+description] != "" {
			continue
		}
		tests := member(group, "tests")
		s, notes, err := schema.ParseJSON(member(group, "schema").Raw())
		if err != nil {
			total.refused += tests.Len()
			t.Errorf("%s: %s: %v", name, description, err)
			continue
		}
		unvalidated := false
		for _, n := range notes {
			unvalidated = unvalidated || strings.Contains(n.Message, "not validated") || strings.Contains(n.Message, "not followed") || strings.Contains(n.Message, "ignored")
		}
		for test := range tests.Elements() {
			want := member(test, "valid").Kind() == jsonstream.True
			violation := s.Validate(member(test, "data"))
			switch {
			case (violation == nil) == want:
				total.agree++
			case unvalidated && violation == nil:
				total.unvalidated++
			default:
				t.Errorf("%s: %s: %s: got %v", name, description, member(test, "description").Text(), violation)
			}
		}
	}
}

func member(v jsonstream.Value, key string) jsonstream.Value {
	m, _ := v.Get(key)
	return m
}

// Proves K0g, K45, A19, A20, D25-20, D25-21, D25-24, D25-25, D25-26, D25-27 with
// the files that the collection has.
func TestSuiteOfCollection(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus.Path(t, "regex", "json-schema"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var total tally
	for _, file := range files {
		if filepath.Base(file) == "json-pointer.json" {
			continue // the format, which JSON Schema does not validate by default
		}
		runSuite(t, file, nil, &total)
	}
	t.Logf("%+v", total)
	if total.unvalidated > 0 || total.refused > 0 {
		t.Errorf("%d verdicts lost to notes, %d to refusals: these keywords are validated", total.unvalidated, total.refused)
	}
}

// Proves K0g, K23, K45: on the complete suite of a reference implementation, for two drafts, every
// result agrees, or a note names the keyword that is not validated.
func TestSuiteOfReference(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/google/jsonschema-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(strings.TrimSpace(string(out)), "jsonschema", "testdata")
	known := map[string]string{
		"ref.json: ref overrides any sibling keywords":                                 "both apply, as since draft 2019-09",
		"not.json: collect annotations inside a 'not', even if collection is disabled": "a keyword that is not validated is accepted, and so refused inside of not",
	}
	for _, draft := range []string{"draft2020-12", "draft7"} {
		files, err := filepath.Glob(filepath.Join(dir, draft, "*.json"))
		if err != nil || len(files) < 30 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		var total tally
		for _, file := range files {
			runSuite(t, file, known, &total)
		}
		t.Logf("%s: %+v", draft, total)
		if total.agree < 800 {
			t.Errorf("only %d verdicts compared", total.agree)
		}
	}
}
