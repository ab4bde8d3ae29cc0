package secret_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stopgate/stopgate/internal/system/secret"
)

const token = "0123456789abcdef"

// known is the SHA-256 of token, from sha256sum.
const known = "9f9f5111f7b27a781f1f1ddde5ebc2dd2b796bfc7365c9c28b548e564176929f"

func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	t.Setenv("SECRET_TEST_TOKEN", token)
	t.Setenv("SECRET_TEST_SHORT", "short")
	r := secret.Machine()
	for _, test := range []struct {
		name, sum, env, file, problem string
	}{
		{"hash", known, "", "", ""},
		{"variable", "", "SECRET_TEST_TOKEN", "", ""},
		{"file", "", "", file("own", token+"\r\n", 0o600), ""},
		{"file of a group", "", "", file("group", token, 0o440), ""},
		{"nothing", "", "", "", "one of"},
		{"two places", known, "SECRET_TEST_TOKEN", "", "one of"},
		{"no hash", "xyz", "", "", "64 hexadecimal"},
		{"half a hash", known[:32], "", "", "64 hexadecimal"},
		{"no variable", "", "SECRET_TEST_NONE", "", "SECRET_TEST_NONE is not set"},
		{"short", "", "SECRET_TEST_SHORT", "", "can be guessed"},
		{"no file", "", "", filepath.Join(dir, "none"), "none"},
		{"empty file", "", "", file("empty", "\n", 0o600), "is empty"},
		{"open file", "", "", file("open", token, 0o604), "chmod 600"},
		{"file that a group writes", "", "", file("shared", token, 0o620), "chmod 600"},
		{"endless file", "", "", file("long", strings.Repeat("x", 1<<15), 0o600), "longer"},
	} {
		got, err := r.Hash(test.sum, test.env, test.file)
		if test.problem == "" {
			if err != nil || got != sha256.Sum256([]byte(token)) {
				t.Errorf("%s: %x, %v", test.name, got, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), test.problem) {
			t.Errorf("%s: %v, want %q", test.name, err, test.problem)
		}
	}
	if text, err := r.Text("SECRET_TEST_SHORT", ""); text != "short" || err != nil {
		t.Errorf("a key of any length: %q, %v", text, err)
	}
	if _, err := r.Text("A", "B"); err == nil {
		t.Error("two places")
	}
	if _, err := secret.Anywhere().Hash("", "ANY", ""); err != nil {
		t.Errorf("on another machine: %v", err)
	}
}
