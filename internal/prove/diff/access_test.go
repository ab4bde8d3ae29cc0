package diff_test

import (
	"testing"

	"github.com/stopgate/stopgate/internal/policy"
)

// Proves D25-49: a change of the access of a tool makes the comparison incomplete, and is named.
func TestAccess(t *testing.T) {
	const want = "open: handoffs, the judge, the access of tools or what counts as success change, which are not compared\ncomplete: false\n"
	if got := changes(t, "version = 1\n[tools.t]\naccess.write = [\"src/\"]\npolicy.run = \"ask\"\n", "version = 1\n[tools.t]\npolicy.run = \"ask\"\n", policy.Options{}); got != want {
		t.Errorf("%s", got)
	}
}
