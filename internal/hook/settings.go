package hook

import "time"

// Form is the form in which a host configures its hooks.
type Form uint8

// Forms of settings.
const (
	NoSettings Form = iota // install has nothing to write
	Nested                 // hooks.EVENT is a list of matchers, each with a list of commands
	Flat                   // hooks.EVENT is a list of commands
	Scripts                // one executable file for each event
	Extension              // a JavaScript module that the host loads
)

// Settings describe where a host reads its hooks, and in which form.
type Settings struct {
	Form Form
	// User and Project are the paths of the file below the home directory and below that of
	// a project.
	User, Project string
	// Moved is the environment variable that moves the user's file.
	Moved Move
	// Comments is set if the host accepts comments in the file.
	Comments bool
	// Deadline is the deadline of the command, 0 for the default.
	Deadline time.Duration
	// Events are the configured events, the first one before a tool runs. In the form Nested
	// a matcher may follow the name.
	Events []string
	// Members are the members of each hook in addition to its command, as JSON.
	Members string
	// Version is the member "version" of the settings, "" if they have none.
	Version string
	// Denies and Permits are the outputs of a script whose command fails, before a tool and
	// at other events.
	Denies, Permits string
	// Code is the part of a module that is specific to the host. It calls ask(event).
	Code string
}

// Move is an environment variable that moves a directory of settings.
type Move struct {
	Variable string
	// Replaces is the default directory below the home directory, "" for the home directory
	// itself.
	Replaces string
	// Adds is set if the variable names further settings and replaces no directory.
	Adds bool
}

// Rules describe the permission rules of a host that import converts.
type Rules struct {
	// Source is the name of the rules in commands, "" if the host has none.
	Source string
	// Files are the files with rules, the least important first: globs below the home
	// directory (~/), the project, or the root of the file system.
	Files []string
}

// Variables returns the names of the environment variables that move the host's files.
func (h *Host) Variables() (moves []Move) {
	if h.Settings.Moved.Variable != "" {
		moves = append(moves, h.Settings.Moved)
	}
	return append(moves, h.Moves...)
}
