package jsonl

import (
	"path/filepath"
	"slices"
	"strings"
)

// Files lists the files of a log, oldest first: those that it was rotated into and
// the one that is written to, which need not exist.
func Files(path string) ([]string, error) {
	dir, name := filepath.Split(path)
	found, err := filepath.Glob(escapeGlob(dir) + escapeGlob(name) + ".*")
	if err != nil {
		return nil, err
	}
	var files []string
	for _, f := range found {
		if isNumber(strings.TrimPrefix(f, path+".")) {
			files = append(files, f)
		}
	}
	slices.Sort(files) // the numbers have one width
	return append(files, path), nil
}

// numberWidth is how many digits the number of a rotated file has.
const numberWidth = 19

func isNumber(s string) bool {
	return len(s) == numberWidth && strings.Trim(s, "0123456789") == ""
}

var globs = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`)

func escapeGlob(s string) string { return globs.Replace(s) }
