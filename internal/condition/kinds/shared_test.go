package kinds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
)

// Proves E25, K29. The conditions of a line share the lists of its words. A line with more words than a
// list takes is judged to its end, and the next line does not see the lists of the one before it.
func TestConditionsShareALine(t *testing.T) {
	many := func(n int, word string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " "+word, i)
		}
		return b.String()
	}
	chain := func(n int, command string) string {
		return strings.TrimPrefix(strings.ReplaceAll(many(n, "; "+command), " ;", ";"), "; ")
	}
	matchers := []*match.Matcher{
		compile(t, spec(condition.Glob, "**/.env"), belowCommand, restrictive, project),            // reads a secret
		compile(t, spec(condition.Usage, "rm **"), aCommand, restrictive, project),                 // runs rm
		compile(t, spec(condition.Prefix, "rm"), aCommand, restrictive, project),                   // the same
		compile(t, spec(condition.Pattern, `^rm\b`), aCommand, restrictive, project),               // the same
		compile(t, spec(condition.Usage, "cat **", "grep [-r] **"), aCommand, permissive, project), // only looks
		compile(t, spec(condition.Outside, "**", "/dev/null"), belowCommand, restrictive, project), // leads out
		compile(t, spec(condition.Writes, "*.lock"), aCommand, restrictive, project),               // writes a lock
	}
	for _, c := range []struct {
		name, line string
		want       string // of each matcher: + holds, - does not, ? is unknown
		sweeps     string
	}{
		{"one command", "cat a .env", "+---+--", "-"},
		{"paths at the end of a list", "cat" + many(255, "f%d") + " .env", "+---+--", "-"},
		{"paths beyond the list", "cat" + many(300, "f%d") + " .env", "+---+--", "-"},
		{"paths beyond the list, none secret", "cat" + many(300, "f%d"), "----+--", "-"},
		{"a path outside beyond the list", "cat" + many(300, "f%d") + " /etc/passwd", "----++-", "-"},
		{"a lock beyond the list", "cat" + many(300, "f%d") + " > a.lock", "------+", "-"},
		{"positions beyond the list", "env" + many(300, "A%d=1") + " rm x", "-??" + "?" + "---", "-"},
		{"sweeps beyond the list", chain(70, "grep x f%d") + "; grep -r x .", "----+--", "+"},
		{"no sweep beyond the list", chain(70, "grep x f%d"), "----+--", "-"},
		{"removed", "rm x", "-+++---", "-"},
	} {
		for turn := range matchers {
			var v condition.Value
			v.Reset([]byte("rm .env /x > b.lock; grep -r y /etc")) // its lists must not remain
			for _, m := range matchers {
				m.Judge(&v)
				m.Sweeps(&v)
			}
			v.Reset([]byte(c.line))
			for i := range matchers {
				k := (i + turn) % len(matchers)
				m := matchers[k]
				want := c.want[k]
				if got := m.Judge(&v); want != '?' && got != (want == '+') {
					t.Errorf("%s: condition %d holds: %t", c.name, k, got)
				}
				if got := m.Match([]byte(c.line)); got != m.Judge(&v) {
					t.Errorf("%s: condition %d holds for the line alone: %t", c.name, k, got)
				}
			}
			if got := matchers[0].Sweeps(&v); got != (c.sweeps == "+") {
				t.Errorf("%s: sweeps a directory with the secret: %t", c.name, got)
			}
		}
	}
}
