package diff_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove/diff"
)

// Proves I25: an edit after which another permit, or the same one below other rules, covers a
// parameter that only the request declares is no proved difference.
func TestDiffOfCoverage(t *testing.T) {
	options := policy.Options{Definitions: []stopgate.ToolDefinition{{Name: "t", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"},"path":{"type":"string"}}}`)}}}
	const (
		head  = "version = 1\n[tools.t.policy]\nrun = [\n"
		one   = `{ arg = "/n", const = 1, mode = "unattended" },`
		two   = `{ arg = "/path", prefix = "src/", mode = "unattended" },`
		first = `{ arg = "/path", prefix = "x/", mode = "deny" },`
		end   = "{ mode = \"ask\" }\n]\n"
	)
	for _, c := range []struct {
		name, old, new string
		complete       bool
	}{
		{"a permit above one that covers more", head + one + two + end, head + two + end, false},
		{"a rule that covers for the permits below it", head + first + one + end, head + one + end, false},
		{"permits that cover the same", head + first + one + two + end, head + first + two + end, true},
		{"nothing needs cover", "[gate]\nuncovered = \"allow\"\n" + strings.Replace(head, "version = 1\n", "", 1) + one + two + end, "[gate]\nuncovered = \"allow\"\n" + strings.Replace(head, "version = 1\n", "", 1) + two + end, true},
	} {
		source := func(name, text string) policy.Source {
			if !strings.HasPrefix(text, "version") {
				text = "version = 1\n" + text
			}
			return policy.Source{Name: name, Text: []byte(text)}
		}
		d, a, b := diff.Files(source("old.toml", c.old), source("new.toml", c.new), options, nil)
		if d == nil {
			t.Fatal(a, b)
		}
		if d.Complete != c.complete || !c.complete && !strings.Contains(strings.Join(d.Open, " "), "parameter_not_covered") {
			t.Errorf("%s: complete %v, %v", c.name, d.Complete, d.Open)
		}
	}
}
