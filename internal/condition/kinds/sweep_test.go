package kinds_test

import (
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
)

// Proves K0a: a guard on paths matches a command that reads complete directories if and only if it
// could match a file below one of them.
func TestSweeps(t *testing.T) {
	below := condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true, Below: true}
	for _, c := range []struct {
		spec condition.Spec
		env  condition.Env
		hit  []string
		miss []string
	}{
		{spec(condition.Glob, "secrets/**"), project,
			[]string{"grep -r k .", "grep -r k", "rg k", "grep -r k secrets", "grep -r k ./secrets/a", "grep -r k /srv/proj", "grep -r k /srv", "grep -r k /", "grep -r k ..",
				"grep -r k /srv/proj/secrets", "tar c .", "ls | xargs cat", "cd x; grep -r k .", "cd secrets && grep -r k .", "grep -r k $DIR", "grep -r k s*", "grep -r k ~/..", "GREP -R k SECRETS"},
			[]string{"grep -r k src", "rg k src docs", "grep -r k /etc", "grep -r k /srv/other", "find src -exec cat {} +", "ls -R .", "grep k secret", "find . -exec wc {} +", "grep -r k ~/x"}},
		{spec(condition.Glob, "**/.env*"), project,
			[]string{"grep -r k src", "rg -. k", "rg -g '*' k", "grep -r k /etc", "find . -exec cat {} +", "grep -r --include='*.local' k", "rg -g '*.local' k"},
			[]string{"find . -name '*.go' -exec cat {} +", "grep -r --include='*.go' k src", "rg -g '*.go' k", "rg -g '!x' k", "rg k", "rg k src", "rg --type go k src", "ag k", "rg k src/.hidden"}},
		{spec(condition.Glob, "**/*.pem"), project, []string{"rg k", "rg k src"}, []string{"rg --files", "git log"}},
		{spec(condition.Const, "conf/key"), project, []string{"rg k conf", "rg k", "cp -r conf /tmp"}, []string{"rg k conf/sub", "rg k src", "cp -r src conf"}},
		{spec(condition.Prefix, "/etc/ssl"), project, []string{"tar c /etc", "rg k /", "tar c /etc/ssl/private"}, []string{"rg k", "tar c /usr"}},
		{spec(condition.Pattern, `(^|/)id_rsa$`), project, []string{"rg k", "rg k /home", "grep -r k src"}, []string{"ls -R", "cat a"}},
		{spec(condition.Pattern, `^conf/`), project, []string{"rg k", "rg k conf"}, []string{"rg k src"}},
		{spec(condition.Glob, "**/[!a]x"), project, []string{"rg k src"}, []string{"rg --files"}},
		{spec(condition.Glob, "secrets/**"), nowhere, []string{"rg k", "rg k secrets", "rg k .."}, []string{"rg k src"}},
		{spec(condition.Glob, "/proj/x"), condition.Env{Root: "/"}, []string{"rg k", "rg k proj", "rg k /proj"}, []string{"rg k src", "rg k /etc"}},
	} {
		m := compile(t, c.spec, below, restrictive, c.env)
		other := below
		other.Below = false
		deaf := compile(t, c.spec, other, restrictive, c.env)
		if permissive := compile(t, c.spec, below, false, c.env); !m.JudgesSweeps() || !deaf.JudgesSweeps() || permissive.JudgesSweeps() {
			t.Fatal("which of them judges is mixed up")
		}
		var v condition.Value
		for want, lines := range map[bool][]string{true: c.hit, false: c.miss} {
			for _, line := range lines {
				v.Reset([]byte(line))
				if got := m.Sweeps(&v); got != want {
					t.Errorf("%v in %v: %s: %v, want %v", c.spec.Values, c.env, line, got, want)
				}
				if deaf.Sweeps(&v) && !strings.Contains(line, "*") { // files that a wildcard matches are read by name
					t.Errorf("%s is swept although nobody asks", line)
				}
			}
		}
		if v.Reset([]byte("rg k \xff")); m.Sweeps(&v) {
			t.Error("a broken text is swept: the condition itself holds for it")
		}
	}
}
