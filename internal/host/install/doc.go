// Package install adds the hook of stopgate to the settings of a coding agent, and removes it
// again, without changing any other byte.
//
//	plan, err := install.Make("claude-code", install.Location{Scope: install.User, Home: home}, install.Command{Program: "/usr/bin/stopgate"})
//	...
//	after, err := plan.Install(before) // of every file of the plan
//
// It does no I/O: the caller reads and writes the files.
//
// The command line that it writes blocks the call if the program is missing or is killed, for hosts
// that start it through a shell:
//
//	'/usr/bin/stopgate' hook claude-code --deadline 45s || { echo ... >&2; exit 2; }
package install

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/hook"
)

// Scope is the owner of the settings to change.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // the user, for all projects
	Project Scope = "project" // one project, for everybody who works on it
)

// Location describes where settings are.
type Location struct {
	Scope Scope
	Home  string // the user's home directory
	Dir   string // the project's directory
	// Getenv reads the environment of the host, for the variables that move its settings
	// (CODEX_HOME and others); nil for none.
	Getenv func(string) string
}

// file returns the settings file of the user, below the home directory or where the environment
// moves it.
func (at Location) file(s *hook.Settings) (string, error) {
	name := s.Moved.Variable
	if name == "" || at.Getenv == nil || at.Getenv(name) == "" {
		return filepath.Join(at.Home, filepath.FromSlash(s.User)), nil
	}
	dir := at.Getenv(name)
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(at.Home, rest)
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%s=%s is not an absolute path: the location of the settings would depend on the working directory", name, dir)
	}
	rest := strings.TrimPrefix(s.User, s.Moved.Replaces)
	return filepath.Join(dir, filepath.FromSlash(rest)), nil
}

// Command is the command that the host starts.
type Command struct {
	Program string // an absolute path
	// Small is set if the program is stopgate-hook, which only answers hooks; otherwise it is
	// stopgate.
	Small bool
	Flags []string // of stopgate hook
}

// Timeout is the timeout in the host's settings, and Deadline the deadline of the command (S47): an
// approval may take minutes.
const (
	Timeout  = 600 * time.Second
	Deadline = 570 * time.Second
)

// Plan is the changes to install the hook of one host: one file, and for hosts with a file for each
// event, the others in Also.
type Plan struct {
	Host string
	// File is the settings file.
	File string
	// Content is the content of a file that belongs to stopgate; nil if the file also has settings
	// of the user.
	Content []byte
	// Mode is the mode of a new file.
	Mode uint32
	// Line is the command line of the hook.
	Line string
	// Also are the files for events other than a call that is about to run.
	Also []*Plan

	entries  []entry
	comments bool   // the host reads settings with comments
	version  string // required member of the settings next to the hooks, "" for none
}

// entry is one hook in the settings: the path of the list, and the element to append.
type entry struct {
	path []string
	text string
}

// Home returns the directory that the host creates for its settings: if it exists, the host is
// probably installed.
func (p *Plan) Home() string {
	dir := filepath.Dir(p.File)
	if p.Content != nil || strings.HasPrefix(filepath.Base(p.File), "stopgate.") {
		return filepath.Dir(dir)
	}
	return dir
}

// Make returns the changes to install the hook.
func Make(host string, at Location, c Command) (*Plan, error) {
	base := at.Home
	if at.Scope == Project {
		base = at.Dir
	}
	if base == "" || !filepath.IsAbs(base) {
		return nil, fmt.Errorf("install %s: the directory of the %s settings is not known", host, at.Scope)
	}
	h, err := hook.Lookup(host)
	if err != nil {
		return nil, fmt.Errorf("install: %w", err)
	}
	s := &h.Settings
	if s.Form == hook.NoSettings {
		return nil, fmt.Errorf("there is nothing to install for %s: start \"stopgate hook %s\" from its own settings", host, host)
	}
	p := &Plan{Host: host, Mode: 0o644, comments: s.Comments}
	p.File = filepath.Join(base, filepath.FromSlash(s.Project))
	if at.Scope == User {
		p.Mode = 0o600
		if p.File, err = at.file(s); err != nil {
			return nil, fmt.Errorf("install %s: %w", host, err)
		}
	}
	p.Line = c.line(host, cmp.Or(s.Deadline, Deadline))
	p.fill(s, c)
	return p, nil
}
