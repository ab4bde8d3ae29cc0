package place

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/store/kinds"
	"github.com/stopgate/stopgate/internal/store/location"
)

// Memory is the URL of a store that ends with the process.
const Memory = "memory"

// URLError reports that a text is not the URL of a store, or not the name of a gate.
type URLError struct{ text string }

// Error returns the mistake in the URL.
func (e *URLError) Error() string { return e.text }

// StorePath reads the URL of a store: a path, or [Memory]. Without one it is a file in
// the state directory of the user of this process.
func StorePath(url string) (string, error) { return StorePathOf(url, config.Account{}) }

// StorePathOf reads the URL of a user's store. That of a server is its own location.
func StorePathOf(url string, a config.Account) (string, error) {
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case url == "":
		return PathOf("stopgate.db", a)
	case url == Memory, url == "memory:":
		return Memory, nil
	case !location.IsFile(url):
		return url, nil
	case found && kinds.Known(scheme):
		rest = strings.TrimPrefix(rest, "//")
		if rest == "" {
			return "", &URLError{fmt.Sprintf("--store %s names no file", url)}
		}
		return rest, nil
	case found && len(scheme) > 1 && !strings.ContainsAny(scheme, `./\`):
		return "", &URLError{fmt.Sprintf("stores of the kind %q are not supported: use sqlite:PATH, postgres://HOST/DATABASE or memory", scheme)}
	}
	return url, nil
}

// LocalOf returns the path with which the names of files begin that belong to a store on this
// machine: the path of the store, or for a store on a server a path in a user's state directory.
func LocalOf(store string, a config.Account) (string, error) {
	if location.IsFile(store) {
		return store, nil
	}
	sum := sha256.Sum256([]byte(location.Show(store)))
	return PathOf(location.Server(store)+"-"+hex.EncodeToString(sum[:8]), a)
}

// Path names a file in the state directory of the user of this process.
func Path(name string) (string, error) { return PathOf(name, config.Account{}) }

// PathOf names a file in a user's state directory.
func PathOf(name string, a config.Account) (string, error) {
	dir := a.Env("XDG_STATE_HOME")
	if dir == "" {
		home, err := a.Home()
		if err != nil {
			return "", fmt.Errorf("find the state directory: %w; name the file with --store", err)
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "stopgate", name), nil
}

// File names a file in the user's state directory and makes the directory.
func File(name string) (string, error) {
	path, err := Path(name)
	if err != nil {
		return "", err
	}
	if err := makeDir(path); err != nil {
		return "", err
	}
	return path, nil
}

// makeDir makes the directory of a file in the state directory.
func makeDir(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return dirError{fmt.Errorf("make the state directory: %w", err)}
	}
	return nil
}

// dirError is the error of a state directory that cannot be made.
type dirError struct{ error }

// Unwrap returns the cause.
func (e dirError) Unwrap() error { return e.error }

// Hint names the ways to another directory.
func (dirError) Hint() string {
	return "make it writable, set XDG_STATE_HOME to another directory, or name the store with --store sqlite:PATH where the command takes it"
}
