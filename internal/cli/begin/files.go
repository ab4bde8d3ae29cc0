package begin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/stopgate/stopgate/internal/cli/hosts"
	"github.com/stopgate/stopgate/internal/system/atomicfile"
)

// maxSettings is the largest settings file that is changed.
const maxSettings = 64 << 20

// readFile returns the text of a file behind links; nil if there is none.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s is no regular file", path)
	case info.Size() > maxSettings:
		return nil, fmt.Errorf("%s has more than %d MiB", path, maxSettings>>20)
	}
	text, err := os.ReadFile(path)
	if err == nil && text == nil {
		text = []byte{}
	}
	return text, err
}

// missing lists the directories of a path that do not exist, the outermost first.
func missing(path string) (list []string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
			return list
		}
		list = append([]string{dir}, list...)
	}
}

// writeFile replaces the text of a file, which must still be the one that was read. Its mode stays.
func writeFile(path string, before, after []byte, mode fs.FileMode) error {
	now, err := readFile(path)
	if err != nil {
		return err
	}
	if (now == nil) != (before == nil) || !bytes.Equal(now, before) {
		return fmt.Errorf("%s was changed by another program meanwhile", path)
	}
	file, err := hosts.Behind(path)
	if err != nil {
		return err
	}
	if after == nil {
		return os.Remove(file)
	}
	if before == nil {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return atomicfile.Create(file, after, mode)
	}
	return atomicfile.Rewrite(file, after)
}

// exists reports whether there is a file of any kind.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}
