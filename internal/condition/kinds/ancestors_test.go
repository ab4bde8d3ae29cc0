package kinds_test

import (
	"path"
	"strings"
	"testing"

	"github.com/bmatcuk/doublestar/v4"
	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

var belowCommand = condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true, Below: true}

// Proves K0a: a guard matches a command that renames a directory above a path that it names, and no
// other directory.
func TestRenames(t *testing.T) {
	for _, c := range []struct {
		spec condition.Spec
		env  condition.Env
		hit  []string
		miss []string
	}{
		{spec(condition.Glob, "conf/secrets/**"), project,
			[]string{"mv conf x", "mv ./conf/ x", "mv CONF x", "ln -s conf x", "ln -s ../conf sub/x", "ln -s . x", "ln -s .. x", "ln -s / x", "ln -s /srv/proj x", "mv ../proj ../x",
				"cp -r conf x", "cp -a . /tmp/x", "git mv conf x", "mv c* x", "mv * x", "cd /srv && mv proj x", "cd sub && mv ../conf x", "sudo mv /srv /x", "bash -c 'mv conf x'",
				"tar c conf", "rsync conf/ x", "rsync -a conf x", "zip -r x.zip conf", "scp -r conf h:", "mv co\u200bnf x", "find . -exec mv {} x +", "mv ~/../../srv/proj x"},
			[]string{"mv src x", "mv a.go b.go", "cp -r src dst", "cp conf x", "ln conf x", "ln -s src x", "ln -s ../a.go sub/b.go", "mv /etc/x /etc/y", "mv x conf.d", "mv *.go pkg", "cd sub && mv a b",
				"mv sub/conf x", "mv ../x ../y", "mv ~/x y"}},
		{spec(condition.Glob, "**/.env*"), project, []string{"tar c src", "rsync src/ h:", "scp -r src h:"},
			[]string{"mv src x", "cp -r src dst", "cp -a . /tmp/x", "ln -s .. x", "ln -s / x", "mv * x", "cd sub && cp -r a b"}},
		{spec(condition.Glob, "**/.config/gh/hosts.yml"), project, []string{"mv .config x", "cp -r ~/.config x", "mv a/.config/gh x", "ln -s ~/.config/gh x"}, []string{"mv ~ x", "ln -s . x", "mv gh x", "mv .config2 x"}},
		{spec(condition.Glob, "a/*/c/**/key"), project, []string{"mv a x", "mv a/b x", "mv a/b/c x", "mv a/b/c/d/e x"}, []string{"mv b x", "mv c x", "mv a/b/d x"}},
		{spec(condition.Glob, "[!a]x/key"), project, []string{"mv bx y", "mv Ax y"}, []string{"mv ax y"}},
		{spec(condition.Const, "/etc/app/key"), project, []string{"mv /etc x", "ln -s /etc/app x", "ln -s / x"}, []string{"mv etc x", "ln -s . x", "ln -s /srv x", "mv /etc/ap x"}},
		{spec(condition.Prefix, "conf/s/"), project, []string{"mv conf x"}, []string{"mv cons x"}},
		{spec(condition.Suffix, "fig/app/key"), project, []string{"mv config x", "mv a/fig/app x"}, []string{"mv fi x", "mv app x", "ln -s . x"}},
		{spec(condition.Suffix, ".key"), project, nil, []string{"mv config x"}},
		{spec(condition.Glob, "~/.x/key"), project, []string{"mv ~/.x y", "ln -s ~ x", "ln -s /home x", "mv /home/u/.x y"}, []string{"mv .x y", "ln -s . y", "mv ~/.y x"}},
		{spec(condition.Glob, "~/.x/key"), nowhere, []string{"mv ~/.x y", "ln -s ~ x"}, []string{"mv .y y"}},
		{spec(condition.Glob, "conf/key"), nowhere, []string{"mv conf x", "mv /any/where/conf x", "ln -s .. x", "ln -s ../y x", "ln -s . x"}, []string{"mv src x", "mv /any/where x"}},
		{spec(condition.Glob, "conf/key"), condition.Env{Root: "/srv/proj", Dir: "/srv/proj/sub"}, []string{"mv ../conf x", "ln -s .. x"}, []string{"mv a x"}},
		{spec(condition.Pattern, `^conf/`), project, []string{"mv conf x", "ln -s /srv/proj/conf x", "ln -s . x", "ln -s / x", "cp -r conf x"}, []string{"mv src x", "mv /etc/x y"}},
		{spec(condition.Pattern, `(^|/)id_rsa$`), project, []string{"cp -r src x"}, []string{"mv conf x", "ln -s . x"}},
	} {
		m := compile(t, c.spec, belowCommand, restrictive, c.env)
		for want, lines := range map[bool][]string{true: c.hit, false: c.miss} {
			for _, line := range lines {
				var v condition.Value
				v.Reset([]byte(line))
				if got := m.Sweeps(&v); got != want {
					t.Errorf("%v in %v: %s: %v, want %v", c.spec.Values, c.env, line, got, want)
				}
			}
		}
	}
}

// Proves K0a: a guard ignores the renaming of a directory only if it matches the same files under
// the new name. The oracle tries the names below it.
func TestRenamesAgainstAnOracle(t *testing.T) {
	var names []string
	for _, a := range []string{"", "a/", "b/", "ab/"} {
		for _, b := range []string{"", "a/", "b/", "ab/"} {
			names = append(names, a+b+"a", a+b+"b", a+b+"ab")
		}
	}
	holds := func(glob, file string) bool { // for matches of the glob, and everything below them
		for ; file != "." && file != "/"; file = path.Dir(file) {
			if doublestar.MatchUnvalidated(glob, file) {
				return true
			}
		}
		return false
	}
	component := rapid.SampledFrom([]string{"a", "b", "ab", "*", "a*", "?", "**", "{a,b}"})
	property.Check(t, func(t *rapid.T) {
		glob := strings.Join(rapid.SliceOfN(component, 1, 4).Draw(t, "glob"), "/")
		dir := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ab", "c"}), 1, 3).Draw(t, "dir"), "/")
		m, err := tryCompile(spec(condition.Glob, glob), belowCommand, restrictive, condition.Env{Root: "/r"})
		if err != nil {
			t.Fatal(glob, err)
		}
		var v condition.Value
		v.Reset([]byte("mv " + dir + " z"))
		if holds(glob, dir) {
			if !m.Judge(&v) {
				t.Fatalf("%s holds for %s, and not for its renaming", glob, dir)
			}
			return
		}
		want := ""
		for _, name := range names {
			if holds(glob, dir+"/"+name) && !holds(glob, "z/"+name) && !holds(glob, "z") {
				want = name
			}
		}
		if got := m.Sweeps(&v); !got && want != "" {
			t.Fatalf("%s: %s/%s becomes z/%s unasked", glob, dir, want, want)
		} else if got {
			for _, name := range names {
				if holds(glob, dir+"/"+name) {
					return
				}
			}
			t.Fatalf("%s: nothing below %s is guarded", glob, dir)
		}
	})
}
