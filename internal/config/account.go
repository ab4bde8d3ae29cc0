package config

import (
	"errors"
	"os"
	"path/filepath"
)

// Account locates the directories of a user by the environment of a process: this one, or
// another one on whose behalf it works. The zero Account is that of this process.
type Account struct {
	// Getenv looks up a variable of the other process, which runs on a system with XDG
	// directories; nil for this process.
	Getenv func(name string) string
}

// Env returns a variable of the environment, "" if it is not set.
func (a Account) Env(name string) string {
	if a.Getenv == nil {
		return os.Getenv(name)
	}
	return a.Getenv(name)
}

// Home returns the home directory, as [os.UserHomeDir] has it.
func (a Account) Home() (string, error) {
	if a.Getenv == nil {
		return os.UserHomeDir()
	}
	if dir := a.Getenv("HOME"); dir != "" {
		return dir, nil
	}
	return "", errors.New("$HOME is not defined")
}

// ConfigDir returns the directory of the user's settings, as [os.UserConfigDir] has it.
func (a Account) ConfigDir() (string, error) {
	if a.Getenv == nil {
		return os.UserConfigDir()
	}
	switch dir, home := a.Getenv("XDG_CONFIG_HOME"), a.Getenv("HOME"); {
	case filepath.IsAbs(dir):
		return dir, nil
	case dir != "":
		return "", errors.New("path in $XDG_CONFIG_HOME is relative")
	case home == "":
		return "", errors.New("neither $XDG_CONFIG_HOME nor $HOME are defined")
	default:
		return filepath.Join(home, ".config"), nil
	}
}

// Standard returns the usual locations for a working directory.
func (a Account) Standard(dir string) Where {
	w := Where{Dir: dir, SystemDir: "/etc/stopgate", Starter: Starter()}
	if base, err := a.ConfigDir(); err == nil {
		w.UserDir = filepath.Join(base, "stopgate")
	}
	return w
}
