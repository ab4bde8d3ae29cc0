package kinds_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// grantsLine evaluates a line command by command, as a rule list does: each command has to satisfy
// one of the conditions.
func grantsLine(line string, conditions ...*match.Matcher) bool {
	var v condition.Value
	v.Reset([]byte(line))
	for i := range commandline.Of(&v).Commands() {
		granted := false
		for _, m := range conditions {
			granted = granted || m.JudgeCommand(&v, i)
		}
		if !granted {
			return false
		}
	}
	return true
}

// Proves E22: "cd <root>" permits changes to the directory in which paths begin anyway, and to the
// root, in any spelling, and no other changes.
func TestE22_Root(t *testing.T) {
	looks := []string{"cd <root>", "git [-C <root>] status", "ls [-*] **", "./run", "timeout * <command>", "bash [-c] <command>"}
	in := func(env condition.Env) *match.Matcher {
		return compile(t, spec(condition.Usage, looks...), aCommand, permissive, env)
	}
	for _, c := range []struct {
		env  condition.Env
		line string
		want bool
	}{
		{project, "cd /srv/proj && ls", true},
		{project, "cd /srv/proj/ && git status", true},
		{project, `cd "/srv/proj" && ls | ls`, true},
		{project, "cd '/srv/proj'; ls", true},
		{project, "ls && cd /srv/proj && ls", true},
		{project, "cd /srv/proj", true},
		{project, "cd /srv/proj && ./run", true},
		{project, "cd /srv/proj && timeout 5 ls", true},
		{project, "git -C /srv/proj status", true},
		{from("/srv/proj/src"), "cd /srv/proj/src && ./run", true},
		{from("/srv/proj/src"), "cd /srv/proj && ls", true},
		{from("/srv/proj/src"), "cd /srv/proj && ./run", false}, // it begins elsewhere
		{from("/srv/proj/src"), "git -C /srv/proj status", true},

		{project, "cd", false},
		{project, "cd -", false},
		{project, "cd ~", false},
		{project, "cd .", false},
		{project, "cd ./", false},
		{project, "cd src && ls", false},
		{project, "cd /srv/proj/src && ls", false},
		{project, "cd /srv/project && ls", false},
		{project, "cd /srv/PROJ && ls", false},
		{project, "cd /srv/proj/.git && git status", false},
		{project, "cd /srv/proj/src/.. && ls", false},
		{project, "cd /srv/proj/. && ls", false},
		{project, "cd //srv/proj && ls", false},
		{project, "cd /srv//proj && ls", false},
		{project, "cd /srv/proj// && ls", false},
		{project, "cd /srv/pro[j] && ls", false},
		{project, "cd /srv/{proj,x} && ls", false},
		{project, "cd $PWD && ls", false},
		{project, `cd "$(pwd)" && ls`, false},
		{project, "cd -P /srv/proj && ls", false},
		{project, "cd -- /srv/proj && ls", false},
		{project, "cd /srv/proj x && ls", false},
		{project, "cd /srv/proj\u200b && ls", false},
		{project, "cd /srv/proj > out && ls", false},
		{project, "CDPATH=/x cd /srv/proj && ls", false},
		{project, "'cd' /srv/proj", false}, // E19: only a word without quotes matches a spelled word
		{project, "/usr/bin/cd /srv/proj", false},
		{project, "pushd /srv/proj && ls", false},
		{project, "cd /srv/proj && cd src && ls", false},
		{project, "cd /srv/proj && cd .. && ls", false},
		{project, "(cd /srv/proj && ls)", true},
		{project, "(cd /srv && ls)", false},
		{project, "cd /srv/proj\r && ls", false},
		{project, "git -C/srv/proj status", false},
		{project, "git -C /srv status", false},
		{project, "git -C /srv/proj -C src status", false},
		{project, "git -C src status", false},
		{project, "git status -C /srv/proj", true}, // an option may be anywhere after its group
		{nowhere, "cd /srv/proj && ls", false},
		{nowhere, "cd / && ls", false},
		{condition.Env{Root: "/"}, "cd / && ls", false},
		{condition.Env{Root: "/srv/proj", Run: "/srv/proj/src"}, "cd /srv/proj/src && ./run", true},
		{condition.Env{Root: "/srv/proj", Run: "/srv/proj/src", MayStay: true}, "cd /srv/proj/src && ./run", false},
		{condition.Env{Root: "/srv/proj", RunUnknown: true}, "cd /srv/proj && ./run", false},
	} {
		if got := grantsLine(c.line, in(c.env)); got != c.want {
			t.Errorf("in %+v, %s: %v, want %v", c.env, c.line, got, c.want)
		}
	}
	specError(t, spec(condition.Usage, "cd <root>"), aCommand, restrictive, project)
	specError(t, spec(condition.Usage, "git [-C <root>] status"), aCommand, restrictive, project)
}

// Proves E22, K19: after "cd DIR &&" relative paths are resolved against DIR if the command
// certainly runs there or not at all.
func TestE22_PathsAfterCd(t *testing.T) {
	cd := "cd <root>"
	for _, c := range []struct {
		dir, line string
		want      bool
	}{
		{"", "cd /srv/proj && cat src/a", true},
		{"", "cd /srv/proj; cat src/a", true},
		{"", "cd /srv/proj || cat src/a", true}, // the directory does not change
		{"", "cd /srv/proj && cat conf/a", false},
		{"", "cd /srv/proj && cat ../proj/src/a", false},
		{"", "cd /srv/proj && env -C conf cat src/a", false},
		{"/srv/proj/src", "cat a", true},
		{"/srv/proj/src", "cd /srv/proj/src && cat a", true},
		{"/srv/proj/src", "cd /srv/proj/src; cat src/a", true},
		{"/srv/proj/src", "cd /srv/proj && cat a", false},
		{"/srv/proj/src", "cd /srv/proj && cat src/a", true},
		{"/srv/proj/src", "cd /srv/proj && cat conf/a", false},
		{"/srv/proj/src", "cd /srv/proj && cat ~/src/a", false},
		{"/srv/proj/src", "cd /srv/proj && cat '~/src/a'", false},
		{"/srv/proj/src", "cd /srv/proj && cat src/a | cat src/b && cat src/c", true},
		{"/srv/proj/src", "cd /srv/proj &&\n cat src/a", true},
		{"/srv/proj/src", "cd /srv/proj && cat /srv/proj/src/a", true},
		{"/srv/proj/src", "cat a && cd /srv/proj && cat src/a", true},
		{"/srv/proj/src", "cat a && cd /srv/proj && cat a", false},
		{"/srv/proj/src", "cd /srv/proj && cd /srv/proj/src && cat a", true},
		{"/srv/proj/src", "cd /srv/proj && cd /srv/proj/src && cat ../conf/a", false},
		// If cd may fail, or runs in another process, they are relative to the directory before.
		{"/srv/proj/src", "cd /srv/proj; cat src/a", false},
		{"/srv/proj/src", "cd /srv/proj | cat src/a", false},
		{"/srv/proj/src", "cd /srv/proj | cat src/a && cat src/a", false},
		{"/srv/proj/src", "cd /srv/proj & cat src/a", false},
		{"/srv/proj/src", "cd /srv/proj || cat src/a", false},
		{"/srv/proj/src", "cd /srv/proj\ncat src/a", false},
		{"/srv/proj/src", "cd /srv/proj && cat src/a; cat src/a", false},
		{"/srv/proj/src", "cd /srv/proj && cat src/a || cat src/a", false},
		{"/srv/proj/src", "cd /srv/proj && cat src/a & cat src/a", false},
		{"/srv/proj/src", "bash -c 'cd /srv/proj' && cat src/a", false},
		{"/srv/proj/src", "cd /srv/proj && bash -c 'cd /srv/proj/src' && cat a", false},
		{"/srv/proj/src", "cd /srv/proj && bash -c 'cat src/a'", true},
		{"/srv/proj/src", "bash -c 'cd /srv/proj && cat src/a'", false},
		{"/srv/proj/src", "cd /srv/proj && env -C conf cat src/a", false},
	} {
		env := from(c.dir)
		target := aCommand
		target.ReadsJudged = true
		reads := compile(t, spec(condition.Reads, "src/**"), aCommand, permissive, env)
		programs := compile(t, spec(condition.Usage, "cat **", "bash -c <command>", "env [-C *] <command>"), target, permissive, env)
		enters := compile(t, spec(condition.Usage, cd), aCommand, permissive, env)
		var v condition.Value
		v.Reset([]byte(c.line))
		got := true
		for i := range commandline.Of(&v).Commands() {
			got = got && (enters.JudgeCommand(&v, i) || reads.JudgeCommand(&v, i) && programs.JudgeCommand(&v, i))
		}
		if got != c.want {
			t.Errorf("in %q, %s: %v, want %v", c.dir, c.line, got, c.want)
		}
	}
}

// Proves E22, K0a: files that a command reads without naming them are searched in the directory in
// which it runs.
func TestE22_SweepsAfterCd(t *testing.T) {
	swept := func(dir, line string) bool {
		target := aCommand
		target.Paths, target.Below = true, true
		var v condition.Value
		v.Reset([]byte(line))
		return compile(t, spec(condition.Glob, "conf/secret/**"), target, restrictive, from(dir)).Sweeps(&v)
	}
	for _, c := range []struct {
		dir, line string
		want      bool
	}{
		{"", "cd /srv/proj && grep -r x src", false},
		{"", "cd /srv/proj && grep -r x .", true},
		{"", "cd /srv/proj && rg x conf", true},
		{"", "cd /srv/proj && cd conf && rg x secret", true},
		{"", "cd src && rg x", false},
		{"", "cd src && rg x ..", true},
		{"", "cd src && rg x /srv/proj", true},
		{"", "cd conf && rg x", true},
		{"", "cd src; rg x", true}, // in this directory, if there is no src
		{"", "cd $src && rg x", true},
		{"", "cd src && git grep x", true},
		{"", "cd /srv/proj && git -C conf grep x", true},
		{"", "cd /srv/proj && git --git-dir=x grep y -- src", false},
		{"", "cd /srv/proj && git --work-tree=conf grep y", true},
		{"/srv/proj/src", "cd /srv/proj && rg x", true},
		{"/srv/proj/src", "cd /srv/proj && rg x conf", true},
		{"/srv/proj/src", "cd /srv/proj && rg x src", false},
		{"/srv/proj/src", "cd /srv/proj && rg x '~/y'", true},
		{"/srv/proj/src", "cd /srv/proj; rg x", true},
		{"/srv/proj/conf", "cd /srv/proj/src && rg x", false},
		{"/srv/proj/conf", "cd /srv/proj/src; rg x", true},
		{"/srv/proj/conf", "cd /srv/proj/src && rg x $y", true},
		{"/srv/proj/src", "cd /srv/proj/src; rg x", false},
		// Below the root, git shows the complete repository: history, and the paths of ":/".
		{"/srv/proj/src", "git log -p", true},
		{"/srv/proj/src", "git log -p -- .", false},
		{"/srv/proj/src", "git log -p -- :/", true},
		{"/srv/proj/src", "git grep x :/", true},
		{"/srv/proj/src", "cd /srv/proj/src && git log -p", true},
		{"", "cd /srv/proj/src && git log -p", true},
		{"", "cd /srv/proj/src && git show a..b", true},
		{"", "cd /srv/proj/src && git stash show -p", true},
		{"", "cd /srv/proj/src && git grep x :/", true},
		{"", "cd /srv/proj/src && git log -p -- .", false},
		{"", "cd /srv/proj/src && git log -p -- ':(top)conf'", true},
		{"", "cd /usr && git log -p", true}, // that repository is unknown
		{"/usr", "git log -p", false},
	} {
		if got := swept(c.dir, c.line); got != c.want {
			t.Errorf("in %q, %s: %v, want %v", c.dir, c.line, got, c.want)
		}
	}
}

// Proves E22, I11: changing to the directory in which a line begins does not change the result of
// any condition.
func TestE22_NoChange(t *testing.T) {
	made := func(s condition.Spec, target condition.Target, polarity bool, env condition.Env) *match.Matcher {
		return compile(t, s, target, polarity, env)
	}
	property.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"cat src/a", "cat ../x", "ls", "./run x", "rg x", "cat < src/b", "cat conf/secret/k", "bash -c 'cat src/a'", "git status", "cat /srv/proj/src/a"})
		operator := rapid.SampledFrom([]string{" && ", " | ", "; ", " || ", "\n", " & "})
		dir := rapid.SampledFrom([]string{"/srv/proj", "/srv/proj/src", "/elsewhere"}).Draw(t, "dir")
		var line strings.Builder
		line.WriteString(part.Draw(t, "first"))
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			line.WriteString(operator.Draw(t, "operator") + part.Draw(t, "part"))
		}
		env := from(dir)
		paths := aCommand
		paths.Paths, paths.Below = true, true
		suffix := operator.Draw(t, "behind cd")
		with := "cd " + dir + suffix + line.String()
		for _, m := range []*match.Matcher{
			made(spec(condition.Usage, "cd <root>", "{cat,ls,rg} **", "./run **", "git status", "bash -c <command>"), aCommand, permissive, env),
			made(spec(condition.Reads, "src/**"), aCommand, permissive, env),
			made(spec(condition.Glob, "conf/secret/**"), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true}, restrictive, env),
		} {
			var a, b condition.Value
			a.Reset([]byte(line.String()))
			b.Reset([]byte(with))
			if commandline.Of(&b).Commands() != commandline.Of(&a).Commands()+1 {
				t.Fatalf("%s: %d commands", with, commandline.Of(&b).Commands())
			}
			for i := range commandline.Of(&a).Commands() {
				if got, want := m.JudgeCommand(&b, i+1), m.JudgeCommand(&a, i); got != want {
					t.Fatalf("in %s, command %d of %q: %v, behind cd %v", dir, i, line.String(), want, got)
				}
			}
		}
		guard := made(spec(condition.Glob, "conf/secret/**"), paths, restrictive, env)
		var a, b condition.Value
		a.Reset([]byte(line.String()))
		b.Reset([]byte(with))
		if suffix != " | " && guard.Sweeps(&a) != guard.Sweeps(&b) { // a command that reads from a pipe reads no directory
			t.Fatalf("in %s, %q: sweeps %v, behind cd %v", dir, line.String(), guard.Sweeps(&a), guard.Sweeps(&b))
		}
	})
}
