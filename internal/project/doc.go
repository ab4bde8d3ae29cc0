// Package project finds the languages, commands and directories of a project, and writes a policy for it:
//
//	root, err := os.OpenRoot(dir)
//	p, err := project.Read(root.FS())
//	os.WriteFile("stopgate.toml", p.Policy(), 0o644)
//
// It runs nothing, and all that it reads is hostile: names and texts may be made to end up in a policy, or on a
// screen. It reads regular files of at most 256 KiB, in at most 1,500 directories and six levels, and follows no link. Only names of ASCII letters,
// digits and ". _ - /" reach the policy; a file or directory with another name is left out, with a note.
//
// The policy is at least as strict as the coding starter, with these exceptions, which a caller shows before it is
// written: agents write in the directories of Work, and, if Unattended is set, run Commands, and tools of theirs that do the same,
// without a question.
package project

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
)

// Project is what was found in a directory. The zero value is a project without anything.
type Project struct {
	// Languages are the languages of the packages, and Tools the other programs that files of the
	// project are for. Both are in alphabetical order.
	Languages, Tools []Found
	// Packages are the directories that have a manifest, "." for the root.
	Packages []string
	// Commands test, build and check the project.
	Commands []Command
	// Sources and Tests are directories with code.
	Sources, Tests []string
	// Work are the globs of files that agents write, apart from those of the pack "coding".
	Work []string
	// Generated are globs of files that programs write, apart from those of the pack "coding".
	Generated []string
	// Pipelines are the files of continuous integration.
	Pipelines []string
	// Notes are what was left out, each with its reason, as text for people.
	Notes []string

	// System is the operating system of the machine, as runtime.GOOS has it; its pack is used.
	// Read leaves it empty.
	System string
	// Servers are packs of MCP servers to use. Read leaves it empty.
	Servers []string
	// Names are other names of these servers, each with its pack. Read leaves them empty.
	Names []ServerName
	// Unattended lets Commands run without a question, and the tools of agents that do the same: the pack
	// "rust-run". They run code that agents write: without it they ask, as in the coding starter.
	Unattended bool
}

// Found is a language or a tool, with the file that shows it.
type Found struct {
	Name   string `json:"name"` // of a pack, if there is one
	Source string `json:"source"`
}

// ServerName is a name that agents give the MCP server of a pack.
type ServerName struct{ Name, Pack string }

// Purpose is the use of a command.
type Purpose string

// The purposes.
const (
	Test  Purpose = "test"
	Build Purpose = "build"
	Lint  Purpose = "lint"
)

// Command is a command of the project.
type Command struct {
	Purpose Purpose `json:"purpose"`
	// Line is the command as a person types it, and Usage the pattern of a policy that it matches.
	Line  string `json:"line"`
	Usage string `json:"usage"`
	// Source is the file and the line that define the command: "package.json:7".
	Source string `json:"source"`
	// Script is the text that the file gives the command, "" if the program is the command. It is
	// hostile text.
	Script string `json:"script,omitempty"`
}

// Read reads a project. A root that cannot be read is an error; all below it that cannot be read is a
// note.
func Read(fsys fs.FS) (Project, error) {
	t := &tree{fsys: fsys, dirs: map[string][]fs.DirEntry{}}
	if err := t.list(); err != nil {
		return Project{}, err
	}
	if len(t.order) == 0 {
		return Project{}, errors.New("read project: the directory cannot be listed")
	}
	p := &Project{}
	for _, dir := range t.order {
		for _, m := range markers {
			for _, file := range t.files(dir, m.file) {
				p.found(m, join(dir, file))
			}
		}
		if !slices.Contains(p.Packages, dir) {
			continue
		}
		for _, read := range []func(*tree, string) []Command{goCommands, nodeCommands, pythonCommands, rustCommands, jvmCommands, phpCommands, rubyCommands} {
			p.Commands = append(p.Commands, read(t, dir)...)
		}
	}
	for _, dir := range t.order {
		p.Commands = append(p.Commands, runnerCommands(t, dir)...)
	}
	p.Commands = distinct(p.Commands)
	p.directories(t)
	slices.SortFunc(p.Languages, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(p.Tools, func(a, b Found) int { return strings.Compare(a.Name, b.Name) })
	p.Notes = t.notes
	return *p, nil
}

// Has reports whether the project has a language or tool.
func (p Project) Has(name string) bool {
	is := func(f Found) bool { return f.Name == name }
	return slices.ContainsFunc(p.Languages, is) || slices.ContainsFunc(p.Tools, is)
}

// distinct removes commands with a line that another one has.
func distinct(list []Command) (all []Command) {
	for _, c := range list {
		if !slices.ContainsFunc(all, func(d Command) bool { return d.Line == c.Line }) {
			all = append(all, c)
		}
	}
	return all
}
