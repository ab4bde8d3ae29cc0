package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
)

// suspects reports whether a condition holds or, if it is restrictive, whether it is unknown.
func suspects(m *match.Matcher, v *condition.Value) bool {
	return m.Judge(v) || m.Unknown(v) != condition.Known
}

func may(m *match.Matcher, value string) bool {
	var v condition.Value
	v.Reset([]byte(value))
	return suspects(m, &v)
}

// A restrictive condition holds for the known readings of a value, and reports the unknown facts of
// one that may name anything. A permissive one reports none.
func TestUnknown(t *testing.T) {
	seen := condition.Env{Root: "/srv/proj", Home: "/home/u", Links: links(map[string]string{"/srv/proj/closed": ""})}
	lost := condition.Env{Root: "/srv/proj", RunUnknown: true}
	command := condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}
	var many string
	for c := 'a'; c <= 'z'; c++ {
		many += string(c) + ","
	}
	rm := condition.Target{Type: schema.String, Annotation: schema.Command}
	for _, c := range []struct {
		target condition.Target
		env    condition.Env
		value  string
		holds  bool
		want   condition.Unknown
	}{
		{aPath, seen, "src/a", false, condition.Known},
		{aPath, seen, ".env", true, condition.Known},
		{aPath, seen, "closed/x", false, condition.UnknownWay},
		{aPath, seen, "closed/.env", true, condition.UnknownWay},
		{command, seen, "cat src/a", false, condition.Known},
		{command, seen, "cat closed/x", false, condition.UnknownWay},
		{command, seen, "cat .env closed/x", true, condition.UnknownWay},
		{command, lost, "cat src/a", false, condition.UnknownDirectory},
		{command, lost, "cat /srv/proj/src/a", false, condition.Known},
		{command, lost, "cat /srv/proj/.env", true, condition.Known},
		// Directories that the shell remembers from before the line.
		{command, seen, "cd - && cat x", false, condition.UnknownDirectory},
		{command, seen, "cd - && cat .env", true, condition.UnknownDirectory},
		{command, seen, "cd - && cat /srv/proj/x", false, condition.Known},
		{command, seen, "cd src && cd - && cat x", false, condition.Known},
		{command, seen, "cd - && cd src && cat x", false, condition.UnknownDirectory},
		{command, seen, "popd; head -5 x", false, condition.UnknownDirectory},
		{command, seen, "pushd src && popd && cat x", false, condition.Known},
		{command, seen, "pushd && cat x", false, condition.UnknownDirectory},
		{command, seen, "pushd -1 && cat x", false, condition.UnknownDirectory},
		{command, seen, "pushd +1; timeout 5 cat x", false, condition.UnknownDirectory},
		{command, seen, "z proj && cat x", false, condition.UnknownDirectory},
		{command, seen, "cd -P src && cat x", false, condition.Known},
		{command, seen, "cat src/.*/x", false, condition.UnknownReading},
		{command, seen, strings.Repeat("env -S ", 100<<10) + "ls", false, condition.UnknownCommand},
		{rm, seen, strings.Repeat("env -S ", 100<<10) + "ls", false, condition.UnknownCommand},
		{rm, seen, "rm -rf src/a", false, condition.Known},
		{rm, seen, "rm -rf /etc", true, condition.Known},
		{rm, seen, "rm -rf {" + many + "/etc}", false, condition.UnknownReading},
		{rm, seen, "rm -rf {" + strings.Repeat("a,", 20<<10) + "/etc}", false, condition.UnknownReading},
		{rm, seen, "rm -rf " + strings.Repeat("a", 40<<10), false, condition.Known},
		{rm, seen, "ls {" + many + "/etc}", false, condition.Known},
	} {
		s := spec(condition.Glob, "**/.env")
		if c.target == rm {
			s = spec(condition.Usage, "rm ** <system> **")
		}
		m := compile(t, s, c.target, restrictive, c.env)
		var v condition.Value
		v.Reset([]byte(c.value))
		if got := m.Judge(&v); got != c.holds {
			t.Errorf("%.60q: the condition holds: %v", c.value, got)
		}
		if got := m.Unknown(&v); got&c.want != c.want || c.want == condition.Known && got != condition.Known {
			t.Errorf("%.60q: unknown %b, want %b", c.value, got, c.want)
		}
		if p := compile(t, spec(condition.Glob, "src/**"), condition.Target{Type: schema.String, Annotation: schema.Path}, permissive, c.env); p.MayBeUnknown() || p.Unknown(&v) != condition.Known {
			t.Errorf("%.60q: a permissive condition says what is not known", c.value)
		}
	}
}
