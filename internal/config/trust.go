package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/stopgate/stopgate/internal/system/atomicfile"
	"github.com/stopgate/stopgate/internal/system/owner"
)

// TrustName lists the hashes of trusted project files, one per line: hash, a
// space, the path at the time (for people only).
const TrustName = "trusted"

// Grant is one line of the user's list: bytes that are trusted, whatever the path of the file.
type Grant struct {
	Hash string `json:"hash"`
	// Path is where the file was when it was trusted; for people, and for [Revoke].
	Path string `json:"path"`
}

// Grants returns the files that the user trusts, in the order in which they were added. A
// list that others can change, or that cannot be read, is an error and trusts no file.
func Grants(userDir string) ([]Grant, error) {
	if userDir == "" {
		return nil, nil
	}
	text, err := readTrusted(filepath.Join(userDir, TrustName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the list of trusted policies: %w", err)
	}
	var list []Grant
	for line := range strings.Lines(string(text)) {
		if hash, path, _ := strings.Cut(strings.TrimRight(line, "\r\n"), " "); hash != "" {
			list = append(list, Grant{hash, path})
		}
	}
	return list, nil
}

// readTrusted reads the list. It refuses files that block their reader, such as pipes.
func readTrusted(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	if err := owner.Policy(path); err != nil {
		return nil, err
	}
	return ReadFile(path, MaxFile)
}

// Trusted reports whether the user trusted a file with this hash.
func Trusted(userDir, hash string) (bool, error) {
	list, err := Grants(userDir)
	return slices.ContainsFunc(list, func(g Grant) bool { return g.Hash == hash }), err
}

// Trust adds a file to the user's list, as it was read: a later change of the file is not
// trusted.
func Trust(userDir string, f File) error {
	if userDir == "" {
		return errors.New("trust policy: this user has no configuration directory; set XDG_CONFIG_HOME or HOME")
	}
	path, err := filepath.Abs(f.Path)
	if err != nil {
		return fmt.Errorf("trust policy: %w", err)
	}
	if known, err := Trusted(userDir, f.Hash); err != nil || known {
		return err
	}
	if err := os.MkdirAll(userDir, 0o700); err != nil {
		return fmt.Errorf("trust policy: %w", err)
	}
	added := line(Grant{f.Hash, path})
	name := filepath.Join(userDir, TrustName)
	if text, err := readTrusted(name); err == nil && len(text) > 0 && text[len(text)-1] != '\n' {
		added = "\n" + added // ends a line that was written only in part
	}
	list, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("trust policy: %w", err)
	}
	_, err = list.WriteString(added)
	if err := errors.Join(err, list.Sync(), list.Close()); err != nil {
		return fmt.Errorf("trust policy: %w", err)
	}
	return nil
}

// line returns a grant as a line of the list.
func line(g Grant) string {
	shown := strings.Map(func(r rune) rune {
		if r < ' ' {
			return '?'
		}
		return r
	}, g.Path)
	return g.Hash + " " + shown + "\n"
}

// Revoke removes the grants of a path and of a hash, and returns them. The list is replaced
// atomically.
func Revoke(userDir, path, hash string) ([]Grant, error) {
	list, err := Grants(userDir)
	if err != nil {
		return nil, err
	}
	if path, err = filepath.Abs(path); err != nil {
		return nil, fmt.Errorf("revoke trust: %w", err)
	}
	var gone []Grant
	var rest strings.Builder
	for _, g := range list {
		if g.Path == path || g.Hash == hash {
			gone = append(gone, g)
			continue
		}
		rest.WriteString(line(g))
	}
	if len(gone) == 0 {
		return nil, nil
	}
	if err := atomicfile.Replace(filepath.Join(userDir, TrustName), []byte(rest.String()), 0o600); err != nil {
		return nil, fmt.Errorf("revoke trust: %w", err)
	}
	return gone, nil
}
