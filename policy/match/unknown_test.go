package match_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/schema"
)

// suspects reports that a condition holds or, if it restricts, that it is not known whether
// it does.
func suspects(m *match.Matcher, v *match.Value) bool {
	return m.Judge(v) || m.Unknown(v) != match.Known
}

func may(m *match.Matcher, value string) bool {
	var v match.Value
	v.Reset([]byte(value))
	return suspects(m, &v)
}

// A restrictive condition holds for what a value names, and says of a value that may name
// anything what is not known. A permissive one says nothing.
func TestUnknown(t *testing.T) {
	seen := match.Env{Root: "/srv/proj", Home: "/home/u", Links: links(map[string]string{"/srv/proj/closed": ""})}
	lost := match.Env{Root: "/srv/proj", Lost: true}
	command := match.Target{Type: schema.String, Annotation: schema.Command, Paths: true}
	for _, c := range []struct {
		target match.Target
		env    match.Env
		value  string
		holds  bool
		want   match.Unknown
	}{
		{aPath, seen, "src/a", false, match.Known},
		{aPath, seen, ".env", true, match.Known},
		{aPath, seen, "closed/x", false, match.UnknownWay},
		{aPath, seen, "closed/.env", true, match.UnknownWay},
		{command, seen, "cat src/a", false, match.Known},
		{command, seen, "cat closed/x", false, match.UnknownWay},
		{command, seen, "cat .env closed/x", true, match.UnknownWay},
		{command, lost, "cat src/a", false, match.UnknownDirectory},
		{command, lost, "cat /srv/proj/src/a", false, match.Known},
		{command, lost, "cat /srv/proj/.env", true, match.Known},
		{command, seen, "cat src/.*/x", false, match.UnknownReading},
		{command, seen, strings.Repeat("env -S ", 100<<10) + "ls", false, match.UnknownCommand},
	} {
		m := compile(t, spec(match.Glob, "**/.env"), c.target, restrictive, c.env)
		var v match.Value
		v.Reset([]byte(c.value))
		if got := m.Judge(&v); got != c.holds {
			t.Errorf("%.60q: the condition holds: %v", c.value, got)
		}
		if got := m.Unknown(&v); got&c.want != c.want || c.want == match.Known && got != match.Known {
			t.Errorf("%.60q: unknown %b, want %b", c.value, got, c.want)
		}
		if p := compile(t, spec(match.Glob, "src/**"), match.Target{Type: schema.String, Annotation: schema.Path}, permissive, c.env); p.JudgesPaths() || p.Unknown(&v) != match.Known {
			t.Errorf("%.60q: a permissive condition says what is not known", c.value)
		}
	}
}
