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
	"fmt"
	"path/filepath"
	"strings"
	"time"
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

// file returns the settings file at a path below the home directory, or at the one that a variable
// sets: "CODEX_HOME .codex" replaces .codex.
func (at Location) file(path, variable string) (string, error) {
	name, replaced, ok := strings.Cut(variable, " ")
	if !ok || at.Getenv == nil || at.Getenv(name) == "" {
		return filepath.Join(at.Home, filepath.FromSlash(path)), nil
	}
	dir := at.Getenv(name)
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(at.Home, rest)
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%s=%s is not an absolute path: the location of the settings would depend on the working directory", name, dir)
	}
	rest := strings.TrimPrefix(path, replaced)
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
	// Exec is set if the host runs the file itself instead of a shell command.
	Exec bool
	// Also are the files for events other than a call that is about to run.
	Also []*Plan

	entries  []entry
	comments bool     // the host reads settings with comments
	top      []member // required members of the settings next to the hooks
}

// entry is one hook in the settings: the path of the list, and the element to append.
type entry struct {
	path []string
	text string
}

// member is a member that is added to the root if it is absent.
type member struct{ name, text string }

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
	for _, s := range specs() {
		if s.host != host {
			continue
		}
		file := filepath.Join(base, filepath.FromSlash(s.project))
		if at.Scope == User {
			var err error
			if file, err = at.file(s.user, s.variable); err != nil {
				return nil, fmt.Errorf("install %s: %w", host, err)
			}
		}
		deadline := Deadline
		if s.deadline != 0 {
			deadline = s.deadline
		}
		p := &Plan{Host: host, File: file, Line: c.line(host, deadline), Mode: 0o600}
		if at.Scope == Project {
			p.Mode = 0o644
		}
		p.comments = s.comments
		s.fill(p, c)
		return p, nil
	}
	return nil, fmt.Errorf("there is nothing to install for %s: start \"stopgate hook %s\" from its own settings", host, host)
}
