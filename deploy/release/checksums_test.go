package main

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
	"golang.org/x/crypto/blake2b"
	"golang.org/x/crypto/scrypt"
)

// newKey returns a new secret key.
func newKey(t *testing.T) minisign.PrivateKey {
	t.Helper()
	_, key, err := minisign.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// The signature is that of the key, names the version, and minisign accepts it; it is of the checksums of
// every file.
func TestSignature(t *testing.T) {
	key := &signer{key: newKey(t)}
	r := made(t, released, key)
	list, err := os.ReadFile(filepath.Join(r.out, sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	signature, err := os.ReadFile(filepath.Join(r.out, signatureFile))
	if err != nil {
		t.Fatal(err)
	}
	if !minisign.Verify(key.key.Public().(minisign.PublicKey), list, signature) || !strings.Contains(string(signature), "\ntrusted comment: stopgate v1.2.0\n") {
		t.Errorf("%s", signature)
	}
	if minisign.Verify(newKey(t).Public().(minisign.PublicKey), list, signature) {
		t.Error("another key verifies it")
	}
	for name, sum := range sums(t, r.out) {
		if !strings.HasPrefix(name, sumsFile) && !strings.HasPrefix(name, "image/") && !strings.Contains(string(list), sum+"  "+name+"\n") {
			t.Errorf("the checksum of %s is missing", name)
		}
	}
	if _, err := exec.LookPath("minisign"); err == nil {
		tool(t, "minisign", "-V", "-H", "-m", filepath.Join(r.out, sumsFile), "-p", filepath.Join(r.out, "stopgate.pub"))
	}
	if _, err := exec.LookPath("sha256sum"); err == nil {
		cmd := exec.Command("sha256sum", "--quiet", "--strict", "-c", sumsFile)
		cmd.Dir = r.out
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	// Without a key a signature of before does not stay.
	r.key = nil
	if err := checksums(r); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(r.out, signatureFile)); !os.IsNotExist(err) {
		t.Errorf("the signature stays: %v", err)
	}
}

// lock encrypts a key as minisign does, but in a millisecond and little memory.
func lock(t *testing.T, password string, key minisign.PrivateKey) []byte {
	t.Helper()
	text, err := key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	_, line, _ := strings.Cut(string(text), "\n")
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	const ops, mem = 1 << 15, 1 << 18 // N is 256, r is 8, p is 4
	head, secret := plain[:54], plain[54:54+72]
	copy(head[2:], "Sc")
	binary.LittleEndian.PutUint64(head[38:], ops)
	binary.LittleEndian.PutUint64(head[46:], mem)
	sum := blake2b.Sum256(append([]byte("Ed"), secret...))
	stream, err := scrypt.Key([]byte(password), head[6:38], 256, 8, 4, 104)
	if err != nil {
		t.Fatal(err)
	}
	out := append(append(bytes.Clone(head), secret...), sum[:]...)
	for i, k := range stream {
		out[54+i] ^= k
	}
	return []byte("untrusted comment: a locked key\n" + base64.StdEncoding.EncodeToString(out) + "\n")
}

// The key comes from a file or a variable, with its password; what cannot be read ends the release instead
// of leaving it unsigned.
func TestSigningKey(t *testing.T) {
	key := newKey(t)
	text, err := key.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	locked := lock(t, "correct horse", key)
	dir := t.TempDir()
	path := func(name string, text []byte) string {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
		return filepath.Join(dir, name)
	}
	for name, values := range map[string]map[string]string{
		"a file":              {"STOPGATE_RELEASE_KEY": path("open", text)},
		"a variable":          {"STOPGATE_RELEASE_KEY_TEXT": string(text) + "\n"},
		"a locked file":       {"STOPGATE_RELEASE_KEY": path("locked", locked), "STOPGATE_RELEASE_PASSWORD": "correct horse"},
		"a needless password": {"STOPGATE_RELEASE_KEY": path("open", text), "STOPGATE_RELEASE_PASSWORD": "x"},
	} {
		if s, err := signingKey(env(values)); err != nil || !s.key.Equal(key) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, c := range map[string]struct {
		values map[string]string
		want   string
	}{
		"both":           {map[string]string{"STOPGATE_RELEASE_KEY": path("open", text), "STOPGATE_RELEASE_KEY_TEXT": string(text)}, "want one"},
		"no file":        {map[string]string{"STOPGATE_RELEASE_KEY": filepath.Join(dir, "none")}, "no such file"},
		"an empty file":  {map[string]string{"STOPGATE_RELEASE_KEY": path("empty", nil)}, "is empty"},
		"no password":    {map[string]string{"STOPGATE_RELEASE_KEY": path("locked", locked)}, "STOPGATE_RELEASE_PASSWORD"},
		"wrong password": {map[string]string{"STOPGATE_RELEASE_KEY": path("locked", locked), "STOPGATE_RELEASE_PASSWORD": "wrong"}, "wrong password"},
		"a public key":   {map[string]string{"STOPGATE_RELEASE_KEY_TEXT": (&signer{key: key}).public()}, "not a secret key"},
	} {
		if s, err := signingKey(env(c.values)); err == nil || s != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, %v", name, s, err)
		}
	}
	if s, err := signingKey(env(nil)); s != nil || err != nil {
		t.Errorf("without a key: %v, %v", s, err)
	}
}
