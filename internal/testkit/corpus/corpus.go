// Package corpus finds the collection of recorded provider streams and real tool
// calls that lies beside the checkout. It is test data that the project does not
// own: it is never part of the repository, and no test depends on it alone.
package corpus

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Path returns the path of a file or folder of the collection, named by the
// elements below its root. Where the collection is absent the test is skipped
// with a message that says so.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	_, file, _, _ := runtime.Caller(0)
	root := filepath.Join(filepath.Dir(file), "..", "..", "..")
	path := filepath.Join(append([]string{root, "..", "shared", "corpus"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("recorded data is absent: %v; the tests beside this one prove the same with the project's own data", err)
	}
	return path
}
