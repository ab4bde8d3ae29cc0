package kinds_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathform"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// allowed are the paths that may be read in these tests.
var allowed = []string{"**", "/usr/include/**", "/usr/lib/{gcc,go-*}/**", "~/go/pkg/mod/**", "/dev/null"}

// A guard with `outside` holds for every path that is not certainly allowed.
func TestOutside(t *testing.T) {
	seen := condition.Env{Root: "/srv/proj", Home: "/home/u", Links: links(map[string]string{"/srv/proj/away": "/home/u/.aws", "/srv/proj/near": "/srv/proj/src", "/srv/proj/mod": "/home/u/go/pkg/mod", "/usr/include/x": "/etc"})}
	from := condition.Env{Root: "/srv/proj", Home: "/home/u", Dir: "/srv/proj/src"}
	command := condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true, Below: true}
	for _, c := range []struct {
		target   condition.Target
		env      condition.Env
		out, ins []string
	}{
		{aPath, project,
			[]string{"/etc/hosts", "/", "/srv", "/srv/project/x", "..", "../x", "src/../../x", "../...", "/etc/...", "/srv/proj/../x", "/usr/include/../lib/x", "/usr/lib", "/usr/lib/go", "/usr/lib/python3/x", "~", "~/.aws/credentials", "~/go/pkg/x",
				"~root/x", "~u/go/pkg/mod/x", "$HOME/x", "%2fetc/hosts", "file:///etc/hosts", "file:/etc/hosts", "/proc/kcore", "/usr/include\\..\\..\\etc", "/usr/include\u200b/../../etc/x", "/home/u/.kube/config", "/dev/sda", "/dev/null/x", "/usr/includes/x", "C:/etc/x:/etc/y"},
			[]string{"", ".", "src/a.go", "./src", "/srv/proj", "/srv/proj/src/a", "src/../a", "/usr/include", "/usr/include/a.h", "/usr/lib/go-1.22/src/a.go", "/usr/lib/gcc/x", "~/go/pkg/mod/x@v1/a.go", "/home/u/go/pkg/mod/x", "/dev/null", "a:b", "HEAD:src/a", "a..b", "über/x", "./...", "src/..."}},
		{aPath, nowhere, []string{"/srv/proj/a", "../x", "/etc/hosts", "~/go/pkg/mod/x", "/home/u/go/pkg/mod/x"}, []string{"src/a.go", "/usr/include/a.h"}},
		{aPath, from, []string{"../../x", "/srv/x", "../../proj2/x"}, []string{"a", "/srv/proj/x"}},
		{aPath, seen, []string{"away", "away/credentials", "/usr/include/x/hosts", "/srv/proj/away"}, []string{"near/a", "mod/x", "src/a"}},
		{expands, project, []string{"/etc/*", "../*", "{src,/etc}/x", "/usr/inc*/x", "/{etc,usr}/x", ".*", "src/.*/x", ".?"}, []string{"src/*", "*", "**/*.go", "/usr/include/*.h", "{src,docs}/x", ".e*", ".*rc"}},
		{command, project,
			[]string{"cat /etc/hosts", "ls ..", "grep -rn x /var/log", "cat < /etc/passwd", "cat src/a /etc/hosts", "head -n5 ~/.bashrc", "cat ~/.m2/settings.xml", "ls ~", "find / -name x", "cd /etc && cat hosts", "cd .. && ls", "cat ../x", "cat /etc/*", "ls ../*",
				"git -C /tmp/x log", "git --git-dir=/tmp/x log", "git diff /etc/hosts a", "tar -tf /tmp/a.tar", "stat /root", "diff -r src /home/u", "grep -f/etc/shadow x", "rg --pre-glob x y /opt", "sort --files0-from=/tmp/l", "test -f ~/x", "[ -e /etc/x ]", "du -sh /var",
				"timeout 5 cat /etc/hosts", "bash -c 'cat /etc/hosts'", "find src -exec cat /etc/hosts {} +", "cat $HOME/.ssh/config", "jq . /tmp/x.json", "awk 1 /etc/hosts", "sed -n 1p /etc/hosts", "cat /usr/include/../../etc/hosts", "echo ~/*", "cd src && cat ../../x", "cd src && cd .. && cat ../x", "cd src; cat ../../x", "cd src; cat ../x", "cd src || cat ../x", "cd src | cat ../x", "cd src && ls; cat ../x", "cd -P src && cat ../x", "ls; cd src && cat ../x", "cd src && git -C .. log", "cd src && cd $X && cat ../x", "cd - && cat ../x", "cut -d/ /etc/passwd", "cut -d / /etc/passwd", "sort -t /etc/x", "cut -d/etc/passwd x", "sort -T/tmp x", "cat .*/x", "ls | xargs cat /etc/hosts", "cat file:///etc/hosts"},
			[]string{"ls", "cat a.go", "ls src/*.go", "cat /usr/include/stdio.h", "ls ~/go/pkg/mod", "git log -p -1", "git show HEAD:src/a", "git diff main..dev -- src", "grep -n /etc/hosts src", "sed -n '/^x/,/^y/p' a", `awk '{print $1 "/" $2}' a`, "awk -F/ '{print $2}' a", "cut -d/ -f2 a", "cut -d / -f2 a", "awk -F / 1 a", "paste -d/ a b", "tr / _", "sort -t/ -k2 a",
				"cd /srv/proj && ls", "cat a 2>/dev/null", "curl -o /dev/null https://example.com/etc/x", "curl -s http://localhost:8080/health", "kill 1", "echo /etc/hosts", "which go", "ls | xargs wc -l --", `jq '.a + "/" + .b' x.json`, "gh pr view 5", "gcloud iam list-grantable-roles //cloudresourcemanager.googleapis.com/projects/p", "cd src && cat ../x", "cd src/a && cat ../../x | head -5", "cd src && cd a && ls ../..", "cd /srv/proj/src && cat ../x", "find . -perm /644", "go list ./..."}},
	} {
		m := compile(t, spec(condition.Outside, allowed...), c.target, restrictive, c.env)
		var v condition.Value
		for want, list := range map[bool][]string{true: c.out, false: c.ins} {
			for _, text := range list {
				v.Reset([]byte(text))
				if got := suspects(m, &v); got != want {
					t.Errorf("%v in %v: outside is %v, want %v", text, c.env.Root, got, want)
				}
			}
		}
	}
	specError(t, spec(condition.Outside, allowed...), aPath, permissive, project)
	specError(t, spec(condition.Outside, allowed...), aString, restrictive, project)
	specError(t, spec(condition.Outside, "../x"), aPath, restrictive, project)
	specError(t, spec(condition.Outside, "src//x"), aPath, restrictive, project)
}

// An allowed directory contains nothing outside; any other one does.
func TestOutsideSweeps(t *testing.T) {
	m := compile(t, spec(condition.Outside, allowed...), condition.Target{Type: schema.String, Annotation: schema.Command, Paths: true, Below: true}, restrictive, project)
	var v condition.Value
	for want, lines := range map[bool][]string{
		true:  {"grep -r k /usr", "rg k ..", "tar c /srv", "ls | xargs cat", "rg k ~", "cd .. && rg k"},
		false: {"grep -r k .", "rg k", "rg k src", "grep -r k /usr/include", "rg k ~/go/pkg/mod", "cp -r src dst", "mv src dst", "git log -p", "find . -exec cat {} +"},
	} {
		for _, line := range lines {
			v.Reset([]byte(line))
			if got := m.Sweeps(&v); got != want {
				t.Errorf("%s: %v, want %v", line, got, want)
			}
		}
	}
}

// A path that a permissive glob matches is never outside; a path that it does not match with
// certainty always is.
func TestOutsideIsTheOtherSide(t *testing.T) {
	envs := []condition.Env{project, nowhere, {Root: "/", Home: "/root"}, {Root: "/home/u/p", Home: "/home/u"}}
	var ins, outs []*match.Matcher
	for _, env := range envs {
		ins = append(ins, compile(t, spec(condition.Glob, allowed...), aPath, permissive, env))
		outs = append(outs, compile(t, spec(condition.Outside, allowed...), aPath, restrictive, env))
	}
	property.Check(t, func(t *rapid.T) {
		env := rapid.IntRange(0, len(envs)-1).Draw(t, "env")
		parts := rapid.SliceOfN(rapid.SampledFrom([]string{"usr", "include", "..", ".", "", "etc", "srv", "proj", "src", "~", "home", "u", "lib", "gcc", "%2e%2e", "p"}), 1, 7).Draw(t, "path")
		path := strings.Join(parts, "/")
		admitted, left := ins[env].Match([]byte(path)), outs[env].Match([]byte(path))
		if admitted && left {
			t.Fatalf("%q is in a place and outside", path)
		}
		if _, plain := pathform.Clean(path); plain && !admitted && !left {
			t.Fatalf("%q is in no place and not outside", path)
		}
	})
}
