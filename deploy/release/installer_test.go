package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"aead.dev/minisign"
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
	for _, name := range strings.Fields("sh cat cp mv rm rmdir mkdir mktemp chmod uname id tar gzip sed awk cut wc od tr head tail sort comm dirname sha256sum curl wget openssl minisign env") {
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

// Whatever a server changes, nothing is installed. Each attack runs with both verifiers.
func TestAttacks(t *testing.T) {
	key, other := &signer{key: newKey(t)}, &signer{key: newKey(t)}
	const archive = "/v1.2.0/stopgate-v1.2.0-linux-amd64.tar.gz"
	dir, old, theirs := installable(t, key, released), installable(t, key, "v1.1.0"), installable(t, other, released)
	read := func(dir, name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	flip := func(text []byte, at int) []byte {
		text = bytes.Clone(text)
		text[at] ^= 1
		return text
	}
	changed := func(changes map[string][]byte) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			text, ok := changes[r.URL.Path]
			if ok {
				w.Write(text)
			}
			return ok
		}
	}
	const list, signature = "/v1.2.0/SHA256SUMS", "/v1.2.0/SHA256SUMS.minisig"
	good := read(dir, signature)
	inner := bytes.IndexByte(good, '\n') + 20
	attacks := map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request) bool
		want   string
	}{
		"a changed archive":    {changed(map[string][]byte{archive: flip(read(dir, archive), 1000)}), "checksum"},
		"another archive":      {changed(map[string][]byte{archive: read(theirs, "v1.2.0/stopgate-v1.2.0-linux-amd64.tar.gz")[:9000]}), "checksum"},
		"a cut archive":        {changed(map[string][]byte{archive: read(dir, archive)[:5000]}), "checksum"},
		"no archive":           {changed(map[string][]byte{archive: nil}), "checksum"},
		"changed sums":         {changed(map[string][]byte{list: flip(read(dir, list), 3)}), "not valid"},
		"cut sums":             {changed(map[string][]byte{list: read(dir, list)[:80]}), "not valid"},
		"more sums":            {changed(map[string][]byte{list: append(read(dir, list), "x  y\n"...)}), "not valid"},
		"no sums":              {changed(map[string][]byte{list: nil}), "not valid"},
		"a changed signature":  {changed(map[string][]byte{signature: flip(good, inner)}), "not valid"},
		"a changed comment":    {changed(map[string][]byte{signature: bytes.Replace(good, []byte("stopgate v1.2.0"), []byte("stopgate v1.2.1"), 1)}), "not valid"},
		"no signature":         {changed(map[string][]byte{signature: nil}), "not valid"},
		"a cut signature":      {changed(map[string][]byte{signature: good[:len(good)-40]}), "not valid"},
		"lines after it":       {changed(map[string][]byte{signature: append(bytes.Clone(good), "trusted comment: stopgate v1.2.0\n"...)}), ""},
		"a wrong key":          {changed(map[string][]byte{list: read(theirs, list), signature: read(theirs, signature), archive: read(theirs, archive)}), "not valid"},
		"an older release":     {changed(map[string][]byte{list: read(old, "v1.1.0/SHA256SUMS"), signature: read(old, "v1.1.0/SHA256SUMS.minisig"), archive: read(old, "v1.1.0/stopgate-v1.1.0-linux-amd64.tar.gz")}), "not of stopgate v1.2.0"},
		"signed for another":   {changed(map[string][]byte{signature: key.sign(read(dir, list), "v9.9.9")}), "not of stopgate v1.2.0"},
		"sums without archive": {changed(map[string][]byte{list: []byte("00  other\n"), signature: key.sign([]byte("00  other\n"), released)}), "does not list"},
		"unhashed":             {changed(map[string][]byte{signature: minisign.SignWithComments(other.key, read(dir, list), "stopgate v1.2.0", "x")}), "not valid"},
		"a redirect to http": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != archive {
				return false
			}
			http.Redirect(w, r, "http://"+r.Host+"/elsewhere", http.StatusFound)
			return true
		}, "cannot download"},
		"an error page": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != list {
				return false
			}
			http.Error(w, "no", http.StatusNotFound)
			return true
		}, "cannot download"},
		"a broken reply": {func(w http.ResponseWriter, r *http.Request) bool { panic(http.ErrAbortHandler) }, "cannot download"},
	}
	for name, attack := range attacks {
		t.Run(name, func(t *testing.T) {
			for _, missing := range []string{"", "minisign"} {
				u := newUser(t)
				s := serve(t, dir)
				s.Config.ErrorLog = nil
				s.answer = attack.answer
				u.path = without(t, missing)
				out, err := u.run(t, filepath.Join(dir, released, "install.sh"), "--base", s.URL, "--prefix", filepath.Join(u.home, "p"))
				if attack.want == "" { // harmless to one verifier, refused by the other
					continue
				}
				if err == nil || !strings.Contains(out, attack.want) || len(u.files(t)) != 0 {
					t.Errorf("without %q: %v\n%s%v", missing, err, out, u.files(t))
				}
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

// However much of the script arrives, a part of it does nothing.
func TestCutInstaller(t *testing.T) {
	key := &signer{key: newKey(t)}
	dir := installable(t, key, released)
	s := serve(t, dir)
	text, err := os.ReadFile(filepath.Join(dir, released, "install.sh"))
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.Replace(text, []byte("https://example.com/releases"), []byte(s.URL), 1)
	u := newUser(t)
	cut := filepath.Join(t.TempDir(), "install.sh")
	end := bytes.LastIndexByte(text, '}')
	for n := 0; n <= end; n++ {
		if n < end-60 && n%331 != 0 {
			continue
		}
		if err := os.WriteFile(cut, text[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := u.run(t, cut, "--prefix", filepath.Join(u.home, "p"))
		if s.requests.Load() != 0 || len(u.files(t)) != 0 || err == nil && out != "" {
			t.Fatalf("cut after %d bytes: %v\n%s", n, err, out)
		}
	}
	if err := os.WriteFile(cut, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := u.run(t, cut, "--prefix", filepath.Join(u.home, "p")); err != nil {
		t.Errorf("all of it: %v\n%s", err, out)
	}
}

// shellcheck has no remark.
func TestShellcheck(t *testing.T) {
	wants(t, "shellcheck")
	tool(t, "shellcheck", "--shell=sh", "../install.sh")
}
