package parser_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/internal/lang/parser"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Proves H20: a list has at most 100,000 rules, and a file at most 16 MiB. A larger one is refused
// completely, since a part of its rules would be another policy.
func TestSizeLimits(t *testing.T) {
	const rules = 100_000
	file := func(n int) []byte {
		return []byte("version = 1\n[tools.t.policy]\nrun = [\n" + strings.Repeat("{ mode = \"ask\" },\n", n) + "]\n")
	}
	for _, test := range []struct {
		name string
		text []byte
		want string
	}{
		{"as many rules as possible", file(rules), ""},
		{"one rule more", file(rules + 1), "more than 100000 rules"},
		{"a byte more", append([]byte("version = 1\n"), bytes.Repeat([]byte{'\n'}, 16<<20-11)...), "the file has more than 16 MiB"},
	} {
		f, list := parser.Parse(kinds.Table(), "x.toml", test.text)
		if test.want == "" {
			if list.HasErrors() || len(f.Tools[0].Run.Rules) != rules {
				t.Errorf("%s: %v", test.name, list)
			}
			continue
		}
		if len(list) != 1 || list[0].Code != diag.TooLarge || list[0].Message != test.want {
			t.Errorf("%s: %v", test.name, list)
		}
		if f != nil && (!f.Tools[0].Run.Incomplete || len(f.Tools[0].Run.Rules) > 0) {
			t.Errorf("%s: some rules are left", test.name)
		}
	}
}

// A compact file has the meaning and the hash of the file that was parsed, and its rules their ids
// and lines.
func TestCompact(t *testing.T) {
	text := `version = 1
lists.work = ["src", "docs"]
[tools.t.parameters]
path = { type = "path" }
[tools.t.policy]
run = [
  { arg = "/path", prefix_in = "work", match = "all", mode = "ask", examples = { match = ["src/a"] } },
  { arg = "/path", const = "say \"a\"", ignores = ["/path"], mode = "deny", reason = "no" },
  { mode = "ask" },
]
[[guard]]
on = "path"
glob = "**/.env*"
mode = "deny"
`
	whole, small := parse(t, text), parse(t, text)
	small.Compact()
	if syntax.Hash(whole) != syntax.Hash(small) {
		t.Error("another hash")
	}
	if small.Source.Root != nil {
		t.Error("the tree is kept")
	}
	for i, r := range small.Tools[0].Run.Rules {
		was := whole.Tools[0].Run.Rules[i]
		if r.ID != was.ID || r.Meaning() != was.Meaning() || r.Pos != was.Pos {
			t.Errorf("rule %d: %s %v, was %s %v", i, r.Meaning(), r.Pos, was.Meaning(), was.Pos)
		}
		for k := range r.Conditions {
			if c := &r.Conditions[k]; c.SegmentRange(0).IsValid() || c.ValueRange(0).IsValid() {
				t.Errorf("rule %d has positions of its parts", i)
			}
		}
	}
}
