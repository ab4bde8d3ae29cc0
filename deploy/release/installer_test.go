package main

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// served is a server with the files of releases, which tests change.
type served struct {
	*httptest.Server
	dir      string
	requests atomic.Int32
	answer   func(w http.ResponseWriter, r *http.Request) bool // true if it answered
}

// serve serves what is in a directory, as BASE/VERSION/FILE.
func serve(t *testing.T, dir string) *served {
	t.Helper()
	s := &served{dir: dir}
	files := http.FileServer(http.Dir(dir))
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		if s.answer == nil || !s.answer(w, r) {
			files.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// installable makes the files that the installer needs, of versions signed with a key, and returns their directory.
func installable(t *testing.T, key *signer, versions ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, version := range versions {
		r := planned(t, version, key)
		r.out = filepath.Join(dir, version)
		if err := r.files([]string{"archives", "installer", "checksums"}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// user is a user's home, where the installer runs.
type user struct {
	home string
	path string // PATH
	sh   []string
}

func newUser(t *testing.T) user {
	wants(t, "sh", "curl", "tar", "openssl")
	return user{home: t.TempDir(), path: os.Getenv("PATH"), sh: []string{"sh"}}
}

// run runs a script and returns what it prints; a user who is not root is one who names the prefix.
func (u user) run(t *testing.T, script string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(u.sh[0], append(append(u.sh[1:len(u.sh):len(u.sh)], script), args...)...)
	cmd.Env = []string{"HOME=" + u.home, "PATH=" + u.path, "TMPDIR=" + t.TempDir()}
	cmd.Dir = u.home
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// files lists the files below the home.
func (u user) files(t *testing.T) map[string]string { return sums(t, u.home) }

// without returns a directory of programs that has all of PATH's but some.
func without(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range strings.Fields("sh cat cp mv rm rmdir mkdir mktemp chmod uname id tar gzip sed awk cut wc od tr head tail sort comm dirname sha256sum curl wget openssl minisign env grep") {
		path, err := exec.LookPath(name)
		if err != nil || strings.Contains(" "+strings.Join(names, " ")+" ", " "+name+" ") {
			continue
		}
		if err := os.Symlink(path, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// The installer puts both programs, pages and completions below a prefix, again over an older version, and
// removes exactly that, with either verifier, either program for downloads and every shell there is.
func TestInstall(t *testing.T) {
	key := &signer{key: newKey(t)}
	dir := installable(t, key, "v1.1.0", released)
	s := serve(t, dir)
	script := filepath.Join(dir, released, "install.sh")
	for name, missing := range map[string][]string{"minisign": nil, "openssl": {"minisign"}, "wget": {"curl"}, "no sha256sum": {"sha256sum", "shasum"}} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			if name == "wget" {
				wants(t, "wget")
			}
			u.path = without(t, missing...)
			prefix := filepath.Join(u.home, "apps")
			if err := os.WriteFile(filepath.Join(u.home, "own"), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			before := u.files(t)
			for _, version := range []string{"v1.1.0", released, released} {
				out, err := u.run(t, script, "--base", s.URL, "--prefix", prefix, "--version", version)
				if err != nil || !strings.Contains(out, "Installed stopgate "+version) || !strings.Contains(out, "stopgate start") {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			if out := tool(t, filepath.Join(prefix, "bin", "stopgate"), "version"); !strings.Contains(out, released) {
				t.Error(out)
			}
			files := u.files(t)
			for _, name := range []string{"bin/stopgate-hook", "share/man/man1/stopgate.1", "share/man/man5/stopgate.toml.5", "share/bash-completion/completions/stopgate", "share/zsh/site-functions/_stopgate",
				"share/fish/vendor_completions.d/stopgate.fish", "share/stopgate/LICENSE", "share/stopgate/THIRD-PARTY-NOTICES"} {
				if files["apps/"+name] == "" {
					t.Errorf("no %s", name)
				}
			}
			if out, err := u.run(t, script, "--prefix", prefix, "--uninstall"); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			if _, err := os.Stat(prefix); !os.IsNotExist(err) {
				t.Errorf("the prefix stays: %v", u.files(t))
			}
			if after := u.files(t); len(after) != len(before) || after["own"] != before["own"] {
				t.Errorf("files of the user: %v", after)
			}
			if out, err := u.run(t, script, "--prefix", prefix, "--uninstall"); err == nil {
				t.Errorf("removed twice: %s", out)
			}
		})
	}
	for _, shell := range [][]string{{"dash"}, {"bash", "--posix"}, {"busybox", "sh"}, {"zsh", "--emulate", "sh"}} {
		t.Run(shell[0], func(t *testing.T) {
			wants(t, shell[0])
			u := newUser(t)
			u.sh = shell
			if out, err := u.run(t, script, "--base", s.URL, "--prefix", filepath.Join(u.home, "x y")); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// Without a verifier, a key, or the right to decide for others, the installer stops and says how to go on.
func TestInstallRefusals(t *testing.T) {
	key := &signer{key: newKey(t)}
	dir, unsigned := installable(t, key, released), installable(t, nil, released)
	s, plainly := serve(t, dir), serve(t, unsigned)
	u := newUser(t)
	prefix := filepath.Join(u.home, "p")
	signed, open := filepath.Join(dir, released, "install.sh"), filepath.Join(unsigned, released, "install.sh")
	for name, c := range map[string]struct {
		script string
		lacks  []string
		args   []string
		want   string // "" if it installs
	}{
		"no verifier":               {signed, []string{"minisign", "openssl"}, []string{"--base", s.URL}, "neither minisign nor OpenSSL 3"},
		"no verifier, wanted":       {signed, []string{"minisign", "openssl"}, []string{"--base", s.URL, "--no-verify-signature"}, ""},
		"unsigned":                  {open, nil, []string{"--base", plainly.URL}, "not signed"},
		"unsigned, wanted":          {open, nil, []string{"--base", plainly.URL, "--no-verify-signature"}, ""},
		"unsigned, wanted, by wget": {open, []string{"curl"}, []string{"--base", plainly.URL, "--no-verify-signature"}, "needs curl"},
		"a signed one by its key":   {open, nil, []string{"--base", s.URL, "--key", key.public()}, ""},
		"no downloader":             {signed, []string{"curl", "wget"}, []string{"--base", s.URL}, "neither curl nor wget"},
		"plain http":                {signed, nil, []string{"--base", "http://example.com"}, "https"},
		"a host like this one":      {signed, nil, []string{"--base", "http://localhost.example.com:80"}, "https"},
		"a version with a slash":    {signed, nil, []string{"--base", s.URL, "--version", "../v1.2.0"}, "not a version"},
		"a key with an option":      {signed, nil, []string{"--base", s.URL, "--key", "-x"}, "not a public key"},
		"an unknown option":         {signed, nil, []string{"--sudo"}, "unknown option"},
		"no value":                  {signed, nil, []string{"--version"}, "needs a value"},
		"a relative prefix":         {signed, nil, []string{"--base", s.URL, "--prefix", "p"}, "absolute"},
	} {
		t.Run(name, func(t *testing.T) {
			u := newUser(t)
			u.path = without(t, c.lacks...)
			prefix := filepath.Join(u.home, "p")
			out, err := u.run(t, c.script, append([]string{"--prefix", prefix}, c.args...)...)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(out, c.want) || len(u.files(t)) != 0) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	if os.Getuid() == 0 {
		if out, err := u.run(t, signed, "--base", s.URL); err == nil || !strings.Contains(out, "you are root") {
			t.Errorf("root: %v\n%s", err, out)
		}
	}
	// A newer version is not replaced by an older one, unless it is wanted.
	both := serve(t, installable(t, key, "v1.10.0", "v1.9.0"))
	install := func(args ...string) (string, error) {
		return u.run(t, signed, append([]string{"--base", both.URL, "--prefix", prefix}, args...)...)
	}
	if out, err := install("--version", "v1.10.0"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := install("--version", "v1.9.0"); err == nil || !strings.Contains(out, "newer") {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := install("--version", "v1.9.0", "--allow-downgrade"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	// A list of files that was changed removes nothing elsewhere.
	outside := filepath.Join(u.home, "outside")
	if err := os.WriteFile(outside, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(prefix, "share/stopgate/installed"), []byte("../outside\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := install("--uninstall"); err == nil {
		t.Error(out)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// Nothing is removed while a hook starts a program below the prefix, or while start is not undone, or while the
// program cannot tell.
func TestUninstallReportsWhatIsUsed(t *testing.T) {
	key := &signer{key: newKey(t)}
	dir := installable(t, key, released)
	s := serve(t, dir)
	script := filepath.Join(dir, released, "install.sh")
	u := newUser(t)
	prefix := filepath.Join(u.home, "p")
	if out, err := u.run(t, script, "--base", s.URL, "--prefix", prefix); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	say := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(u.home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	hook := "stopgate uninstall claude-code: /h/settings.json starts " + prefix + "/bin/stopgate-hook\n"
	for name, c := range map[string]struct{ hooks, started, want string }{
		"a hook":               {hook, "nothing to undo here\n", hook},
		"two hooks":            {"stopgate uninstall crush: /h/crush.json starts /usr/bin/stopgate-hook\n" + hook, "", hook},
		"a project":            {"no hook of stopgate\n", "removed  /h/shop/stopgate.toml\n", "/h/shop/stopgate.toml"},
		"a program that fails": {"fail", "", "cannot be listed"},
	} {
		say("uninstall", c.hooks)
		say("stop", c.started)
		before := u.files(t)
		out, err := u.run(t, script, "--uninstall", "--prefix", prefix)
		if err == nil || !strings.Contains(out, c.want) || !strings.Contains(out, "Nothing was removed") || !maps.Equal(u.files(t), before) {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	// Hooks that start another copy are no reason to stay, and --force removes it in any case.
	say("uninstall", "stopgate uninstall crush: /h/crush.json starts /usr/bin/stopgate-hook\n")
	say("stop", "nothing to undo here\n")
	if out, err := u.run(t, script, "--uninstall", "--prefix", prefix); err != nil || len(u.files(t)) != 2 {
		t.Errorf("%v\n%s", err, out)
	}
	if out, err := u.run(t, script, "--base", s.URL, "--prefix", prefix); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	say("uninstall", hook)
	if out, err := u.run(t, script, "--uninstall", "--prefix", prefix, "--force"); err != nil || len(u.files(t)) != 2 || !strings.Contains(out, "block every call") {
		t.Errorf("%v\n%s", err, out)
	}
}

// shellcheck has no remark.
func TestShellcheck(t *testing.T) {
	wants(t, "shellcheck")
	tool(t, "shellcheck", "--shell=sh", "../install.sh", "twice.sh")
}
