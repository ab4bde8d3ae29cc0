package learn_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/knowntools"
	"github.com/stopgate/stopgate/internal/learn"
	"github.com/stopgate/stopgate/internal/testkit/approved"
)

// What may vary of a listed server's tool may vary under the name that the policy gives to the server, and under no other one.
func TestServersOfOtherNames(t *testing.T) {
	for server, varies := range map[string]bool{"dc": true, "other": false} {
		p := policyOf("version = 1\nservers = { dc = \"mcp/desktop-commander\" }\nuse = [\"mcp/desktop-commander\"]\n[tools." + server + "__start_search.policy]\nrun = \"ask\"\n")
		p.Options.Known = knowntools.Recognise
		var calls []approved.Call
		for _, pattern := range []string{"core", "cli", "web"} {
			c := call(pattern, server+"__start_search", object{"path": "src", "pattern": pattern})
			c.Server = stopgate.ServerID(server)
			calls = append(calls, c)
		}
		rows := record(t, p, approved.Spread(calls))
		r, err := learn.Propose(p, rows, learn.Options{})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, proposal := range r.Proposals {
			found = found || strings.Contains(proposal.Rule, "/pattern")
		}
		if found != varies {
			t.Errorf("%s: %t, %+v", server, found, r.Counts)
		}
	}
}
