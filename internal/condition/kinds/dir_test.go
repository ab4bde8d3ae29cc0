package kinds_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/pathname"
	"github.com/stopgate/stopgate/internal/condition/protected"
	"github.com/stopgate/stopgate/internal/testkit/property"
)

// from is the project with the calls of an agent that works in a directory.
func from(dir string) condition.Env {
	return condition.Env{Root: project.Root, Home: project.Home, Dir: dir}
}

// Proves K19, C3: paths of rules begin at the root, relative paths of calls in the agent's
// directory. A permissive condition considers the one file that is named; a restrictive one also
// the path relative to the root.
func TestPathsBeginWhereTheAgentWorks(t *testing.T) {
	for _, c := range []struct {
		dir, prefix, path string
		permits, suspects bool
	}{
		{"/srv/proj", "src/", "src/a", true, true},
		{"/srv/proj/", "src/", "src/a", true, true},
		{"", "src/", "src/a", true, true},
		{"relative", "src/", "src/a", true, true}, // not a directory
		{"/srv/proj/src", "src/", "a", true, true},
		{"/srv/proj/src", "src/", "./a", true, true},
		{"/srv/proj/src", "src/", "src/a", true, true}, // src/src/a
		{"/srv/proj/src", "src/", "../a", false, false},
		{"/srv/proj/lib", "src/", "../src/a", false, true},
		{"/srv/proj/lib", "src/", "src/a", false, true},
		{"/srv/proj/lib", "src/", "/srv/proj/src/a", true, true},
		{"/srv/proj/lib", "src/", "a", false, false},
		{"/etc", "src/", "src/a", false, true},
		{"/etc", "/etc/", "passwd", true, true},
		{"/etc", "src/", "../srv/proj/src/a", false, true},
		{"/proc/self/cwd", "/", "src/a", false, true},
		{"/srv", "src/", "proj/src/a", true, true},
		{"/srv/PROJ/src", "src/", "a", false, true},
		{"/srv/proj/conf", "conf/secret/", "secret/k", true, true},
		{"/srv/proj/conf", "conf/secret/", "SECRET/k", false, true},
		{"/srv/proj/conf", "conf/secret/", "secret/%6b", false, true},
	} {
		for _, polarity := range []bool{permissive, restrictive} {
			m := compile(t, spec(condition.Prefix, c.prefix), aPath, polarity, from(c.dir))
			want := c.permits
			if polarity == restrictive {
				want = c.suspects
			}
			var v condition.Value
			v.Reset([]byte(c.path))
			if got := m.Judge(&v); got != want || m.Match([]byte(c.path)) != want {
				t.Errorf("in %q, prefix %q of %q, restrictive %v: %v, want %v", c.dir, c.prefix, c.path, polarity, got, want)
			}
			g := pathname.NewGroup(from(c.dir), polarity)
			addTo(g, m, 0)
			g.Build()
			if found, _ := g.Find(&v, nil); len(found) > 0 != want {
				t.Errorf("in %q, prefix %q of %q, restrictive %v: the group says %v", c.dir, c.prefix, c.path, polarity, !want)
			}
		}
	}
}

// Proves K19, I11: for plain paths a permissive condition gives the same result for a relative path
// and for the absolute one, and a restrictive one matches if either does.
func TestMovedAsAbsolute(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(rapid.SampledFrom([]string{"src", "conf", "secret", "a", ".env", "x y", "é", "..", "."}), 1, 4)
		path := strings.Join(names.Draw(t, "path"), "/")
		dir := "/srv/proj/" + strings.Join(names.Draw(t, "dir"), "/")
		literal := rapid.SampledFrom([]string{"src/", "conf/secret/", "/srv/", "/srv/proj/conf", "a"}).Draw(t, "literal")
		is := func(polarity bool, env condition.Env, path string) bool {
			m, err := tryCompile(spec(condition.Prefix, literal), aPath, polarity, env)
			if err != nil {
				t.Fatal(err)
			}
			return m.Match([]byte(path))
		}
		absolute := dir + "/" + path
		if strings.Contains(dir+path, "..") {
			if is(permissive, from(dir), path) && !is(permissive, project, absolute) && !strings.Contains(dir, "..") {
				t.Fatalf("in %s, %s is certain and %s is not", dir, path, absolute)
			}
		} else if got, want := is(permissive, from(dir), path), is(permissive, project, absolute); got != want {
			t.Fatalf("in %s, %s: %v, absolute %v", dir, path, got, want)
		}
		if (is(restrictive, project, absolute) || is(restrictive, project, path)) && !is(restrictive, from(dir), path) {
			t.Fatalf("in %s, %s is not suspect", dir, path)
		}
	})
}

// Proves E22, C3: a command line that changes the directory names files from there.
func TestCommandsThatMove(t *testing.T) {
	guard := func(env condition.Env) *match.Matcher {
		target := aCommand
		target.Paths = true
		return compile(t, spec(condition.Glob, "conf/secret/**"), target, restrictive, env)
	}
	for _, c := range []struct {
		dir, line string
		want      bool
	}{
		{"", "cat conf/secret/key", true},
		{"", "cat secret/key", false},
		{"", "cd conf && cat secret/key", true},
		{"", "cd conf; cd secret; cat key", true},
		{"", "cd src || cd conf; cat secret/key", true},
		{"", "cd src && cat secret/key", false},
		{"", "pushd conf/ && cat < secret/key", true},
		{"", "cd -P -- conf && cat secret/key", true},
		{"", "cd /srv/proj/conf && cat secret/key", true},
		{"", "cd /elsewhere && cat secret/key", false},
		{"", "(cd conf && tar cf - secret)", true},
		{"", "env -C conf cat secret/key", true},
		{"", "env --chdir=conf cat secret/key", true},
		{"", "git -C conf show secret/key", true},
		{"", "git -Cconf show secret/key", true},
		{"", "tar -C conf -cf x secret", true},
		{"", "make -C src && cat secret/key", false},
		{"", "timeout 5 env -C conf cat secret/key", true},
		{"", "grep -C 3 x secret/key", false},
		{"/srv/proj/conf", "cat secret/key", true},
		{"/srv/proj/conf/secret", "cat key", true},
		{"/srv/proj/src", "cat secret/key", false},
		{"/srv/proj/src", "cd ../conf && cat secret/key", true},
		{"/srv/proj/src", "cat ../conf/secret/key", true},
	} {
		if got := guard(from(c.dir)).Match([]byte(c.line)); got != c.want {
			t.Errorf("in %q, %s: %v, want %v", c.dir, c.line, got, c.want)
		}
	}
	swept := func(dir, line string) bool {
		target := aCommand
		target.Paths, target.Below = true, true
		var v condition.Value
		v.Reset([]byte(line))
		return compile(t, spec(condition.Glob, "conf/secret/**"), target, restrictive, from(dir)).Sweeps(&v)
	}
	if swept("/srv/proj/src", "grep -r x .") || swept("/srv/proj/src", "rg x") || !swept("/srv/proj/conf", "grep -r x .") || !swept("/srv/proj/conf", "rg x") || !swept("", "env -C conf grep -r x .") {
		t.Error("what is read without being named is looked for elsewhere")
	}
}

// Proves E22, K29: a rule that permits reading below one directory does not permit relative paths
// after a change of directory.
func TestMovedCommandsPermitLess(t *testing.T) {
	m := compile(t, spec(condition.Reads, "src/**"), aCommand, permissive, project)
	for line, want := range map[string]bool{
		"cat src/a": true, "env -C /etc cat src/a": false, "cd /etc && cat src/a": false,
	} {
		var v condition.Value
		v.Reset([]byte(line))
		got := true
		for i := range commandline.Of(&v).Commands() {
			got = got && m.JudgeCommand(&v, i)
		}
		if got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	away := compile(t, spec(condition.Reads, "src/**"), aCommand, permissive, from("/srv/proj/src"))
	for line, want := range map[string]bool{"cat a": true, "cat ../a": false, "cat /srv/proj/src/a": true} {
		if got := away.Match([]byte(line)); got != want {
			t.Errorf("in src, %s: %v, want %v", line, got, want)
		}
	}
}

// Proves K2, E22: protected targets are found from where a command works.
func TestProtectedFromElsewhere(t *testing.T) {
	here := protected.New(project)
	for line, want := range map[string]condition.Protection{
		"cd .git && tee hooks/pre-commit":         condition.AskedTarget,
		"git -C .git/x y && cd .git; cp a config": condition.AskedTarget,
		"env -C .git tee hooks/x":                 condition.AskedTarget,
		"cd src && tee hooks/pre-commit":          condition.Unprotected,
	} {
		if got, _ := here.Command([]byte(line)); got != want {
			t.Errorf("%s: %v, want %v", line, got, want)
		}
	}
	inside := protected.New(from("/srv/proj/.git"))
	if got, _ := inside.Path([]byte("hooks/pre-commit")); got != condition.AskedTarget {
		t.Errorf("hooks/pre-commit in .git: %v", got)
	}
	if got, _ := inside.Command([]byte("tee hooks/pre-commit")); got != condition.AskedTarget {
		t.Errorf("tee hooks/pre-commit in .git: %v", got)
	}
	if got, _ := inside.Path([]byte("src/a")); got != condition.Unprotected {
		t.Errorf("src/a in .git: %v", got)
	}
}

// links is a file system in which some paths are links to others.
func links(targets map[string]string) *condition.Links {
	return &condition.Links{Real: func(path string) (string, bool) {
		for name, target := range targets {
			if rest, ok := strings.CutPrefix(path, name); ok && (rest == "" || rest[0] == '/') {
				return target + rest, target != ""
			}
		}
		return path, true
	}}
}

// Proves C5: if the file system is visible, a restrictive condition also considers the target of a
// link, a permissive one never matches a link, and a path that cannot be followed is unknown.
func TestLinks(t *testing.T) {
	env := condition.Env{Root: project.Root, Home: project.Home, Links: links(map[string]string{
		"/srv/proj/src/secret": "/srv/proj/.env", "/srv/proj/away": "/etc", "/srv/proj/src/closed": "",
	})}
	for _, c := range []struct {
		literal, path     string
		permits, suspects bool
	}{
		{"src/", "src/a", true, true},
		{"src/", "./src/a", true, true},
		{"src/", "src/secret", false, true},
		{".env", "src/secret", false, true},
		{".env", "src/a", false, false},
		{"away/", "away/passwd", false, true},
		{"/etc/", "away/passwd", false, true},
		{"/etc/", "src/a", false, false},
		{"src/", "src/closed/x", false, true},
		{"other/", "src/closed/x", false, true},
		{"src/", "src/b/../a", false, true}, // b might be a link
		{"src/", "/srv/proj/src/a", true, true},
	} {
		for polarity, want := range map[bool]bool{permissive: c.permits, restrictive: c.suspects} {
			m := compile(t, spec(condition.Prefix, c.literal), aPath, polarity, env)
			var v condition.Value
			v.Reset([]byte(c.path))
			if got := suspects(m, &v); got != want {
				t.Errorf("prefix %q of %q, restrictive %v: %v, want %v", c.literal, c.path, polarity, got, want)
			}
			g := pathname.NewGroup(env, polarity)
			addTo(g, m, 0)
			g.Build()
			if found, _ := g.Find(&v, nil); len(found) > 0 != m.Judge(&v) {
				t.Errorf("prefix %q of %q, restrictive %v: the group says %v", c.literal, c.path, polarity, len(found) > 0)
			}
		}
	}
	target := aCommand
	target.Paths = true
	if !compile(t, spec(condition.Glob, "**/.env*"), target, restrictive, env).Match([]byte("cat src/secret")) {
		t.Error("a command reads behind a link what a guard keeps")
	}
	if p, _ := protected.New(condition.Env{Root: "/srv/proj", Links: links(map[string]string{"/srv/proj/h": "/srv/proj/.git/hooks"})}).Path([]byte("h/pre-commit")); p != condition.AskedTarget {
		t.Errorf("a protected file behind a link: %v", p)
	}
}

// Proves K19, C3, E22: a command line runs in the directory that its call names. If the tool may
// ignore the directory, relative paths are suspected in both directories and certain in neither; if
// the call names no directory, they may be anything. Absolute paths are not affected.
func TestCommandsThatRunElsewhere(t *testing.T) {
	const root = "/srv/proj"
	in := func(dir, run string) condition.Env { e := from(dir); e.Run = run; return e }
	mayStay := func(e condition.Env) condition.Env { e.MayStay = true; return e }
	lost := func(e condition.Env) condition.Env { e.RunUnknown = true; return e }
	for _, c := range []struct {
		name              string
		env               condition.Env
		line              string
		permits, suspects bool // of src/** and of conf/secret/**
	}{
		{"root", in("", ""), "cat src/a", true, false},
		{"root named", in("", root), "cat src/a", true, false},
		{"below", in("", root+"/src"), "cat a", true, false},
		{"below a directory of the session", in(root+"/lib", root+"/src"), "cat a", true, false},
		{"back at the root", in(root+"/src", root), "cat a", false, false},
		{"elsewhere", in("", "/etc"), "cat src/a", false, false},
		{"climbing", in("", root+"/src"), "cat ../a", false, false},
		{"guarded", in("", root+"/conf"), "cat secret/key", false, true},
		{"guarded deeper", in(root+"/src", root+"/conf/secret"), "cat key", false, true},
		{"guarded from the root", in("", root+"/src"), "cat conf/secret/key", true, true}, // as written: src/conf/secret/key
		{"guarded by cd", in("", root+"/conf"), "cd secret && cat key", false, true},
		{"guarded redirection", in("", root+"/conf"), "sort <secret/key", false, true},
		{"doubt: the directory", mayStay(in("", root+"/src")), "cat a", false, false},
		{"doubt: the same", mayStay(in(root+"/src", root+"/src")), "cat a", true, false},
		{"doubt: guarded there", mayStay(in(root+"/src", root+"/conf")), "cat secret/key", false, true},
		{"doubt: guarded here", mayStay(in(root+"/conf", root+"/src")), "cat secret/key", false, true},
		{"doubt: at the root", mayStay(in(root+"/src", root)), "cat a", false, false},
		{"doubt: absolute", mayStay(in("", "/etc")), "cat /srv/proj/src/a", true, false},
		{"lost", lost(in("", "")), "cat src/a", false, true},
		{"lost with a directory", lost(in("", root+"/src")), "cat a", false, true},
		{"lost: absolute", lost(in("", "")), "cat /srv/proj/src/a", true, false},
	} {
		target := aCommand
		if got := compile(t, spec(condition.Reads, "src/**"), target, permissive, c.env).Match([]byte(c.line)); got != c.permits {
			t.Errorf("%s: %s reads src/**: %v", c.name, c.line, got)
		}
		target.Paths = true
		var v condition.Value
		v.Reset([]byte(c.line))
		if got := suspects(compile(t, spec(condition.Glob, "conf/secret/**"), target, restrictive, c.env), &v); got != c.suspects {
			t.Errorf("%s: the guard on %s: %v", c.name, c.line, got)
		}
	}
	// Path parameters, including the one that names the directory, begin where they did.
	for _, e := range []condition.Env{mayStay(in("", root+"/src")), lost(in("", root+"/src"))} {
		if !compile(t, spec(condition.Glob, "src/**"), aPath, permissive, e).Match([]byte("src/a")) || compile(t, spec(condition.Glob, "src/**"), aPath, permissive, e).Match([]byte("a")) {
			t.Error("the directory of the command line moves the paths of other parameters")
		}
	}
	swept := func(e condition.Env, line string) bool {
		target := aCommand
		target.Paths, target.Below = true, true
		var v condition.Value
		v.Reset([]byte(line))
		return compile(t, spec(condition.Glob, "conf/secret/**"), target, restrictive, e).Sweeps(&v)
	}
	if !swept(in("", root+"/conf"), "grep -r x .") || swept(in("", root+"/src"), "grep -r x .") ||
		!swept(mayStay(in(root+"/conf", root+"/src")), "rg x") || !swept(lost(in("", "")), "rg x") {
		t.Error("whole directories are looked at elsewhere")
	}
	protected := func(e condition.Env, line string) bool {
		p, _ := protected.New(e).Command([]byte(line))
		return p != condition.Unprotected
	}
	if !protected(in("", root+"/.git"), "cat hooks/pre-commit") || protected(in("", root+"/src"), "cat hooks/pre-commit") ||
		!protected(mayStay(in(root+"/.git", root+"/src")), "cat hooks/pre-commit") || !protected(lost(in("", "")), "cat a") {
		t.Error("the protected list looks elsewhere")
	}
}
