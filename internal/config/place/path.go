package place

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/store/kinds"
)

// Memory is the URL of a store that ends with the process.
const Memory = "memory"

// URLError reports that a text is not the URL of a store.
type URLError struct{ text string }

// Error returns the mistake in the URL.
func (e *URLError) Error() string { return e.text }

// StorePath reads the URL of a store: a path, or [Memory]. Without one it is a file in
// the state directory of the user of this process.
func StorePath(url string) (string, error) { return StorePathOf(url, config.Account{}) }

// StorePathOf reads the URL of a user's store.
func StorePathOf(url string, a config.Account) (string, error) {
	scheme, rest, found := strings.Cut(url, ":")
	switch {
	case url == "":
		return PathOf("stopgate.db", a)
	case url == Memory, url == "memory:":
		return Memory, nil
	case found && kinds.Known(scheme):
		rest = strings.TrimPrefix(rest, "//")
		if rest == "" {
			return "", &URLError{fmt.Sprintf("--store %s names no file", url)}
		}
		return rest, nil
	case found && len(scheme) > 1 && !strings.ContainsAny(scheme, `./\`):
		return "", &URLError{fmt.Sprintf("stores of the kind %q are not supported: use sqlite:PATH or memory", scheme)}
	}
	return url, nil
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
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the state directory: %w", err)
	}
	return path, nil
}
