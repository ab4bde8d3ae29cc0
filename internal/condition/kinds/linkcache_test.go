package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

// Proves C5: the conditions on one command line share the cache of links; the next line starts with
// an empty one, even if it reuses the memory.
func TestLinksAreFollowedOncePerLine(t *testing.T) {
	target, walks, looked := "/srv/proj/plain", 0, 0
	follow := func(name string) (string, bool) {
		looked++
		return strings.ReplaceAll(name, "/srv/proj/link", target), true
	}
	env := project
	env.Links = &condition.Links{Real: follow, Walk: func() func(string) (string, bool) {
		walks++
		return follow
	}}
	secret := compile(t, spec(condition.Glob, ".env"), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, restrictive, env)
	other := compile(t, spec(condition.Glob, "other/**"), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, restrictive, env)
	var v condition.Value
	judge := func(line string) (bool, bool) {
		v.Reset([]byte(line))
		return secret.Judge(&v), other.Judge(&v)
	}
	if a, b := judge("cat link && cat link"); a || b || walks != 1 {
		t.Errorf("%v %v, %d walks", a, b, walks)
	}
	target = "/srv/proj/.env"
	if a, b := judge("cat link && cat link"); !a || b || walks != 2 {
		t.Errorf("%v %v, %d walks", a, b, walks)
	}
	many := "cat"
	for i := range 200 {
		many += " " + strings.Repeat("x", i+1)
	}
	target = "/srv/proj/other/x"
	if a, b := judge(many + " link"); a || !b {
		t.Errorf("behind many words: %v %v", a, b)
	}
	if a, b := judge("cat x"); a || b {
		t.Errorf("a line that names none of them: %v %v", a, b)
	}
	if looked == 0 {
		t.Error("nobody looked")
	}
}
