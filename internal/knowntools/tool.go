package knowntools

import "strings"

// Kind is the meaning of a parameter's value.
type Kind string

// The kinds. The zero Kind is not one.
const (
	Value     Kind = "value"     // known, and neither a path nor a command nor an address
	Path      Kind = "path"      // a file or a directory
	Command   Kind = "command"   // a command line of a shell
	Argv      Kind = "argv"      // a command line or an argument vector
	URL       Kind = "url"       // an address
	Patch     Kind = "patch"     // a patch in the form of apply_patch, which names files
	Directory Kind = "directory" // the directory in which the tool runs a command
	Folder    Kind = "folder"    // the directory, or the directories, in which the tool searches
	Glob      Kind = "glob"      // a pattern of paths, which begins in the folder
	Filter    Kind = "filter"    // a pattern of the files below the folder that the tool looks at
)

// Kinds lists all kinds.
func Kinds() []Kind {
	return []Kind{Value, Path, Command, Argv, URL, Patch, Directory, Folder, Glob, Filter}
}

// Type returns the type of such values in policy files: path, command, argv, url, or string
// for values that policies can only match as text.
func (k Kind) Type() string {
	switch k {
	case Path, Directory, Folder, Glob:
		return "path"
	case Command, Argv, URL:
		return string(k)
	}
	return "string"
}

// Class is the strongest effect of a tool's calls.
type Class string

// The classes. The zero Class is not one.
const (
	Read   Class = "read"   // shows files or their names
	Search Class = "search" // shows the lines of files that match
	Write  Class = "write"  // changes files
	Run    Class = "run"    // runs commands
	Fetch  Class = "fetch"  // sends requests to the network
	Note   Class = "note"   // changes only the agent's own notes, or asks the user
	Agent  Class = "agent"  // starts or instructs an agent, whose calls are decided themselves
	Other  Class = "other"  // none of these
)

// Classes lists all classes.
func Classes() []Class {
	return []Class{Read, Search, Write, Run, Fetch, Note, Agent, Other}
}

// effect reports whether tools of the class change something or send something out. A request for
// a page or a search has none, although its address goes out; an agent has none, since its calls
// are decided themselves.
func (c Class) effect() bool { return c == Write || c == Run || c == Other }

// Listed is a name under which a starter policy lists a tool.
type Listed struct{ Starter, Name string }

// Parameter is one argument of a tool.
type Parameter struct {
	Name string
	// List reports that the argument is a list. Member names the member of an object, or of
	// the objects in the list, that holds the value, or a list of values (Members); "" if there is
	// no object.
	List    bool
	Member  string
	Members bool
	Kind    Kind
}

// String returns the parameter as the table writes it.
func (p Parameter) String() string {
	s := p.Name
	if p.List {
		s += "[]"
	}
	if p.Member != "" {
		s += "." + p.Member
	}
	if p.Members {
		s += "[]"
	}
	return s
}

func parameter(key string, kind Kind) Parameter {
	p := Parameter{Kind: kind}
	p.Name, p.Member, _ = strings.Cut(key, ".")
	p.Name, p.List = strings.CutSuffix(p.Name, "[]")
	p.Member, p.Members = strings.CutSuffix(p.Member, "[]")
	return p
}

// Tool is one row: a tool under all of its names. It must not be changed.
type Tool struct {
	Names      []string
	Class      Class
	Starters   []Listed    // the names that starter policies list
	Parameters []Parameter // in the order of the table
	// Harmless reports that the tool makes no changes and discloses no data outside the
	// project.
	Harmless bool
	// Effect reports that the tool changes something or sends something out: as the row states, else
	// as its class has it.
	Effect bool
	// Varies are parameters whose values a person who lets the tool run again need not see again: all of
	// them are about the same files, programs and servers.
	Varies []string
	// Source is the package and version, or the contract, that the row was read from.
	Source  string
	Product *Product
}

// Product is one file of the table.
type Product struct {
	Name, Title, Source      string
	Hosts, Servers, Includes []string
	Tools                    []*Tool

	byName map[string]*Tool
}
