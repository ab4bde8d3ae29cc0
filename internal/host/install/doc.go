// Package install puts the hook of stopgate into the settings of a coding agent, and
// takes it out again, without touching a byte of what the user wrote there.
//
//	plan, err := install.Make("claude-code", install.Place{Scope: install.User, Home: home}, install.Command{Program: "/usr/bin/stopgate"})
//	...
//	after, err := plan.Install(before) // of every file of the plan
//
// It knows texts, not disks: whoever uses it reads and writes the files.
//
// The command line that it writes blocks by itself when the program is missing or is
// killed, wherever the host starts it through a shell:
//
//	'/usr/bin/stopgate' hook claude-code --deadline 45s || { echo ... >&2; exit 2; }
package install

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Scope says whose settings are changed.
type Scope string

// The scopes.
const (
	User    Scope = "user"    // of the user, for all projects
	Project Scope = "project" // of one project, for everybody who works on it
)

// Place says where settings are.
type Place struct {
	Scope Scope
	Home  string // the user's home directory
	Dir   string // the project's directory
	// Getenv reads the environment in which the host runs, for the variables by which it
	// looks for its settings elsewhere (CODEX_HOME and the like); nil for none.
	Getenv func(string) string
}

// file is the settings file that is at a path below the home directory unless a variable
// says otherwise: "CODEX_HOME .codex" stands for .codex.
func (at Place) file(path, variable string) (string, error) {
	name, stands, ok := strings.Cut(variable, " ")
	if !ok || at.Getenv == nil || at.Getenv(name) == "" {
		return filepath.Join(at.Home, filepath.FromSlash(path)), nil
	}
	dir := at.Getenv(name)
	if rest, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(at.Home, rest)
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("%s=%s is no absolute path: where the settings are depends on the directory", name, dir)
	}
	rest := strings.TrimPrefix(path, stands)
	return filepath.Join(dir, filepath.FromSlash(rest)), nil
}

// Command is what the host starts.
type Command struct {
	Program string // an absolute path
	// Small says that the program is stopgate-hook, which does nothing but answer hooks;
	// otherwise it is stopgate.
	Small bool
	Flags []string // of stopgate hook
}

// Timeout is what the host is told to wait, and Deadline what the command line promises
// (S47): an approval may take minutes.
const (
	Timeout  = 600 * time.Second
	Deadline = 570 * time.Second
)

// Plan is what installing the hook of one host changes: one file, and where the host has a
// file for each event, those in Also.
type Plan struct {
	Host string
	// File is the settings file.
	File string
	// Whole is the content of a file that belongs to stopgate alone; nil where the file
	// holds settings of the user too.
	Whole []byte
	// Mode is the mode of a new file.
	Mode uint32
	// Line is the command line that the host runs.
	Line string
	// Exec says that the host runs no shell command but the file itself.
	Exec bool
	// Also are the files for the events that are not about a call that is to run.
	Also []*Plan

	entries  []entry
	comments bool     // the host reads settings with comments
	top      []member // members that the settings need beside the hooks
}

// entry is one hook in the settings: the path of the list, and the element to append.
type entry struct {
	path []string
	text string
}

// member is a member that is added to the root where it is absent.
type member struct{ name, text string }

// Home is the directory that the host itself makes for its settings: where it is, the host
// most likely is installed.
func (p *Plan) Home() string {
	dir := filepath.Dir(p.File)
	if p.Whole != nil || strings.HasPrefix(filepath.Base(p.File), "stopgate.") {
		return filepath.Dir(dir)
	}
	return dir
}

// Make says what installing changes.
func Make(host string, at Place, c Command) (*Plan, error) {
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
