package plainfile_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stopgate/stopgate/internal/system/plainfile"
)

// Proves that a file is read completely or not at all, whatever size is reported.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, 511, 512, 513, 5000, 70_000} {
		want := bytes.Repeat([]byte("abcdefg"), size/7+1)[:size]
		if err := os.WriteFile(path, want, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{size - 1, size, size + 1, 1 << 20} {
			if most < 0 {
				continue
			}
			f, err := plainfile.Open(path, os.O_RDONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := plainfile.Read(f, int64(most))
			if most < size && err == nil || most >= size && (err != nil || !bytes.Equal(got, want)) {
				t.Errorf("%d bytes, at most %d: %d bytes, %v", size, most, len(got), err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// Proves that a new file has its mode, and that a missing file is the same error as in package os.
func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if _, err := plainfile.Open(path, os.O_RDWR, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	f, err := plainfile.Open(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}
