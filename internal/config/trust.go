package config

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// trustFile lists the hashes of trusted project files, one per line: hash, a
// space, the path at the time (for people only).
const trustFile = "trusted"

// Trusted reports whether the user trusted a file with this hash. A list that
// others can change, or that cannot be read, is an error and trusts nothing.
func Trusted(userDir, hash string) (bool, error) {
	if userDir == "" {
		return false, nil
	}
	path := filepath.Join(userDir, trustFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the list of trusted policies: %w", err)
	}
	defer f.Close()
	if err := ownerOnly(path); err != nil {
		return false, err
	}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if known, _, _ := strings.Cut(lines.Text(), " "); known == hash {
			return true, nil
		}
	}
	if err := lines.Err(); err != nil {
		return false, fmt.Errorf("read the list of trusted policies: %w", err)
	}
	return false, nil
}

// Trust adds a file, as it is now, to the user's list. A later change of the
// file is not trusted.
func Trust(userDir, path string) (File, error) {
	if userDir == "" {
		return File{}, errors.New("trust policy: this user has no configuration directory; set XDG_CONFIG_HOME or HOME")
	}
	f, err := read(path, Project)
	if err != nil {
		return File{}, err
	}
	if f.Path, err = filepath.Abs(path); err != nil {
		return File{}, fmt.Errorf("trust policy: %w", err)
	}
	f.Trusted = true
	if known, err := Trusted(userDir, f.Hash); err != nil || known {
		return f, err
	}
	if err := os.MkdirAll(userDir, 0o700); err != nil {
		return File{}, fmt.Errorf("trust policy: %w", err)
	}
	list, err := os.OpenFile(filepath.Join(userDir, trustFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return File{}, fmt.Errorf("trust policy: %w", err)
	}
	shown := strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, f.Path)
	_, err = fmt.Fprintf(list, "%s %s\n", f.Hash, shown)
	return f, errors.Join(err, list.Sync(), list.Close())
}
