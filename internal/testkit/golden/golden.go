// Package golden reads and writes the txtar archives in which tests keep an input
// beside what they expect of it.
//
//	text := golden.Part(archive, "policy.toml")
//	if *update {
//		golden.Write(t, path, archive, "formatted", got)
//	}
package golden

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Part returns a file of an archive, "" if it has none of that name.
func Part(a *txtar.Archive, name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// Write replaces a file of an archive, or adds it at the end, and writes the archive to
// path.
func Write(t *testing.T, path string, a *txtar.Archive, part, text string) {
	t.Helper()
	var files []txtar.File
	for _, f := range a.Files {
		if f.Name != part {
			files = append(files, f)
		}
	}
	a.Files = append(files, txtar.File{Name: part, Data: []byte(text)})
	if err := os.WriteFile(path, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}
