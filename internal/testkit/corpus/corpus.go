// Package corpus finds the collection of recorded provider streams and real tool
// calls that lies beside the checkout. It is test data that the project does not
// own: it is never part of the repository, and no test depends on it alone.
package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file or folder of the collection, named by the
// elements below its root. Where the collection is absent the test is skipped
// with a message that says so.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	path := filepath.Join(append([]string{checkout(tb), "..", "shared", "corpus"}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("recorded data is absent: %v; the tests beside this one prove the same with the project's own data", err)
	}
	return path
}

// checkout is the folder of the module's go.mod, above the package that is tested.
func checkout(tb testing.TB) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	for up := dir; ; up = filepath.Dir(up) {
		if _, err := os.Stat(filepath.Join(up, "go.mod")); err == nil {
			return up
		}
		if up == filepath.Dir(up) {
			tb.Fatalf("no go.mod above %s", dir)
		}
	}
}
