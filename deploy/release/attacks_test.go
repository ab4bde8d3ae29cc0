package main

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
)

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
