package plainfile_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/stopgate/stopgate/internal/system/plainfile"
)

// Proves that a file without a size is read to its end, and no further than the limit.
func TestReadWithoutASize(t *testing.T) {
	f, err := plainfile.Open("/proc/self/status", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if text, err := plainfile.Read(f, 1<<20); err != nil || !bytes.HasPrefix(text, []byte("Name:")) || !bytes.HasSuffix(text, []byte("\n")) {
		t.Errorf("%q, %v", text, err)
	}
	zero, err := plainfile.Open("/dev/zero", os.O_RDONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	if _, err := plainfile.Read(zero, 100_000); err == nil {
		t.Error("a device without end was read")
	}
}
