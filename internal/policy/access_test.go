package policy_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/prove"
)

// Proves D25-49, K35: the access of a tool is that of the most specific table of each file, and
// what every file permits.
func TestAccess(t *testing.T) {
	const user = `version = 1
[tools."*"]
access = { write = ["out/"] }
policy.run = "ask"
[tools."fs_*"]
access = { read = ["src/", "docs/"], write = ["src/", "~/notes", "/tmp/x"] }
policy.run = "ask"
[tools.fs_free]
access = {}
policy.run = "ask"
[tools.fs_asks]
policy.run = "ask"
[tools.fs_none]
also = ["None"]
access = { read = [], write = [] }
policy.run = "ask"
`
	const project = `version = 1
[tools.fs_read]
access = { read = ["src/deep", "/etc"], write = ["."] }
policy.run = "ask"
[tools.fs_none]
access = { read = ["."], write = ["."] }
policy.run = "ask"
[tools.fs_free]
access = { write = ["src"] }
policy.run = "ask"
`
	compile := func(o policy.Options, texts ...string) *policy.Program {
		var sources []policy.Source
		for i, text := range texts {
			sources = append(sources, policy.Source{Name: string(rune('a' + i)), Text: []byte(text), Trusted: i == 0})
		}
		p, list := prove.Compile(sources, o)
		if p == nil {
			t.Fatal(list)
		}
		return p
	}
	known := policy.Options{Root: "/p", Home: "/home/u"}
	one, two, lost := compile(known, user), compile(known, user, project), compile(policy.Options{}, user, project)
	for _, test := range []struct {
		p    *policy.Program
		tool stopgate.ToolName
		want *stopgate.Access
	}{
		{one, "other", &stopgate.Access{Write: []string{"/p/out"}}},
		{one, "fs_read", &stopgate.Access{Read: []string{"/p/src", "/p/docs"}, Write: []string{"/p/src", "/home/u/notes", "/tmp/x"}}},
		{one, "fs_asks", &stopgate.Access{Read: []string{"/p/src", "/p/docs"}, Write: []string{"/p/src", "/home/u/notes", "/tmp/x"}}},
		{one, "fs_free", nil},
		{one, "None", &stopgate.Access{Read: []string{}, Write: []string{}}},
		{two, "fs_read", &stopgate.Access{Read: []string{"/p/src/deep"}, Write: []string{"/p/src"}}},
		{two, "fs_none", &stopgate.Access{Read: []string{}, Write: []string{}}},
		{two, "fs_free", &stopgate.Access{Write: []string{"/p/src"}}},
		{lost, "fs_read", &stopgate.Access{Read: []string{"src/deep"}, Write: []string{"src"}}},
		{compile(known, "version = 1\n[tools.t]\npolicy.run = \"ask\"\n"), "t", nil},
	} {
		if diff := cmp.Diff(test.want, test.p.Access(test.tool)); diff != "" {
			t.Errorf("%s: %s", test.tool, diff)
		}
		if diff := cmp.Diff(test.want, test.p.RulesFor(stopgate.Call{Tool: test.tool}, gate.Circumstances{}).Access()); diff != "" {
			t.Errorf("the rules for %s: %s", test.tool, diff)
		}
	}
	same := compile(known, "version = 1\n[tools.t]\naccess = { write = [\"b\", \"a\"] }\npolicy.run = \"ask\"\n").Hash()
	if other := compile(known, "version = 1\n[tools.t]\npolicy.run = \"ask\"\naccess.write = [\"a\", \"b\"]\n").Hash(); other != same {
		t.Error("the order of paths changes the hash")
	}
	if other := compile(known, "version = 1\n[tools.t]\npolicy.run = \"ask\"\naccess.write = [\"a\"]\n").Hash(); other == same {
		t.Error("access is no part of the hash")
	}
}
