package bundle_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"aead.dev/minisign"
	"github.com/stopgate/stopgate/internal/bundle"
)

// keyPair makes keys.
func keyPair(t testing.TB) (bundle.PublicKey, bundle.SecretKey) {
	t.Helper()
	_, secret, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := secret.MarshalText()
	if err != nil {
		t.Fatal(err)
	}
	k, err := bundle.ParseSecretKey(text, "")
	if err != nil {
		t.Fatal(err)
	}
	return k.Public(), k
}

func TestSignAndOpen(t *testing.T) {
	public, secret := keyPair(t)
	other, stranger := keyPair(t)
	b := build(t, content(7, "a.toml"))
	signature := bundle.Sign(b, secret)
	if !strings.Contains(string(signature), "trusted comment: stopgate policy bundle, generation 7, sha256 "+b.Digest+"\n") {
		t.Errorf("signature: %s", signature)
	}
	got, err := bundle.Open(b.Archive, signature, []bundle.PublicKey{other, public})
	if err != nil || got.Digest != b.Digest {
		t.Fatal(err)
	}
	if back, err := bundle.ParsePublicKey(public.String()); err != nil || back.ID() != public.ID() {
		t.Errorf("public key: %v", err)
	}
	// Signed, and no archive: the signature is verified first, and the form afterwards.
	junk := &bundle.Bundle{Content: b.Content, Archive: []byte("junk"), Digest: b.Digest}
	moved := bytes.Replace(signature, []byte("generation 7"), []byte("generation 9"), 1)
	for _, c := range []struct {
		name      string
		archive   []byte
		signature []byte
		keys      []bundle.PublicKey
		want      error
	}{
		{"no keys", b.Archive, signature, nil, bundle.ErrUnknownKey},
		{"unknown key", b.Archive, bundle.Sign(b, stranger), []bundle.PublicKey{public}, bundle.ErrUnknownKey},
		{"another archive", build(t, content(8, "a.toml")).Archive, signature, []bundle.PublicKey{public}, bundle.ErrBadSignature},
		{"truncated archive", b.Archive[:len(b.Archive)-512], signature, []bundle.PublicKey{public}, bundle.ErrBadSignature},
		{"another comment", b.Archive, moved, []bundle.PublicKey{public}, bundle.ErrBadSignature},
		{"no signature", b.Archive, nil, []bundle.PublicKey{public}, nil},
		{"cut signature", b.Archive, signature[:len(signature)/2], []bundle.PublicKey{public}, nil},
		{"long signature", b.Archive, append(bytes.Clone(signature), make([]byte, bundle.MaxSignature)...), []bundle.PublicKey{public}, nil},
		{"signed junk", junk.Archive, bundle.Sign(junk, secret), []bundle.PublicKey{public}, nil},
		{"long archive", make([]byte, bundle.MaxArchive+1), signature, []bundle.PublicKey{public}, nil},
	} {
		got, err := bundle.Open(c.archive, c.signature, c.keys)
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
	if _, err := bundle.ParseSecretKey([]byte("x"), ""); err == nil {
		t.Error("junk is a secret key")
	}
	if _, err := bundle.ParsePublicKey("RWjunk"); err == nil {
		t.Error("junk is a public key")
	}
}

// The trusted comment has to name the bundle, also under a valid signature.
func TestCommentOfAnotherProgram(t *testing.T) {
	_, secret, err := minisign.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := secret.MarshalText()
	k, err := bundle.ParseSecretKey(text, "")
	if err != nil {
		t.Fatal(err)
	}
	b := build(t, content(7, "a.toml"))
	_, err = bundle.Open(b.Archive, minisign.Sign(secret, b.Archive), []bundle.PublicKey{k.Public()})
	if err == nil || !strings.Contains(err.Error(), "trusted comment") {
		t.Error(err)
	}
}

// Keys and signatures are those of minisign's own program, in both directions.
func TestMinisignProgram(t *testing.T) {
	program, err := exec.LookPath("minisign")
	if err != nil {
		if os.Getenv("STOPGATE_REQUIRE_MINISIGN") != "" {
			t.Fatal("minisign is missing: apt-get install minisign")
		}
		t.Skip("minisign is missing; make test installs it")
	}
	run := func(in string, args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	b := build(t, content(7, "a.toml"))
	passwords := []string{""}
	if os.Getenv("STOPGATE_REQUIRE_MINISIGN") != "" {
		passwords = append(passwords, "correct horse") // takes a gigabyte of memory and seconds
	}
	for _, password := range passwords {
		dir := t.TempDir()
		file := func(name string) string { return filepath.Join(dir, name) }
		generate := []string{"-G", "-p", file("k.pub"), "-s", file("k.key")}
		in := password + "\n" + password + "\n"
		if password == "" {
			generate = append(generate, "-W")
		}
		if out, err := run(in, generate...); err != nil {
			t.Fatal(out, err)
		}
		secretText, err := os.ReadFile(file("k.key"))
		if err != nil {
			t.Fatal(err)
		}
		if bundle.Encrypted(secretText) != (password != "") {
			t.Errorf("password %q: Encrypted is %t", password, bundle.Encrypted(secretText))
		}
		secret, err := bundle.ParseSecretKey(secretText, password)
		if err != nil {
			t.Fatal(err)
		}
		if password != "" {
			if _, err := bundle.ParseSecretKey(secretText, "wrong"); err == nil {
				t.Error("a wrong password opens the key")
			}
		}
		publicText, err := os.ReadFile(file("k.pub"))
		if err != nil {
			t.Fatal(err)
		}
		public, err := bundle.ParsePublicKey(string(publicText))
		if err != nil || public.String() != secret.Public().String() {
			t.Fatalf("public key: %v", err)
		}
		for name, data := range map[string][]byte{"b": b.Archive, "b.minisig": bundle.Sign(b, secret)} {
			if err := os.WriteFile(file(name), data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if out, err := run("", "-V", "-p", file("k.pub"), "-m", file("b")); err != nil || !strings.Contains(out, b.Digest) {
			t.Errorf("minisign refuses our signature: %s %v", out, err)
		}
		comment := "stopgate policy bundle, generation 7, sha256 " + b.Digest
		if out, err := run(password+"\n", "-S", "-s", file("k.key"), "-m", file("b"), "-x", file("theirs"), "-t", comment); err != nil {
			t.Fatal(out, err)
		}
		theirs, err := os.ReadFile(file("theirs"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bundle.Open(b.Archive, theirs, []bundle.PublicKey{public}); err != nil {
			t.Errorf("we refuse a signature of minisign: %v", err)
		}
	}
}
