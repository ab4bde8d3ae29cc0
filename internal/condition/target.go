package condition

import (
	"io/fs"

	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/schema"
)

// Target is the schema of the value that a condition applies to.
type Target struct {
	// Type is the set of non-null types at the pointer (K23); for an array they are the types of
	// its elements and [schema.Array] (K22). The zero Type is an unknown schema: every matcher
	// fits.
	Type       schema.Type
	Annotation schema.Annotation
	// As is how origins of the value are compared.
	As flow.Kind
	// Paths is set if the condition applies to the paths that a command line reads and writes, and
	// not to its words (K0a).
	Paths bool
	// Below is set if such a condition also applies to files that are read without being named.
	Below bool
	// ReadsJudged and WritesJudged are set if another condition of the same rule evaluates the
	// redirections of a command line, which otherwise satisfy no permissive condition.
	ReadsJudged, WritesJudged bool
	// Expands is set if the tool expands wildcards and braces in the value (C15).
	Expands bool
}

// Env contains the directories that paths are resolved against. They are inputs of the policy,
// never read from the machine (K19).
type Env struct {
	// Root is the absolute directory in which the relative paths of rules begin, and those of calls
	// without a Dir; "" if unknown.
	Root string
	// Home is the absolute directory of ~ and $HOME, "" if unknown.
	Home string
	// Dir is the absolute directory in which the relative paths of a call begin if it is not the
	// root, "" otherwise: an agent may work below its project.
	Dir string
	// Run is the absolute directory in which the command lines of a call run if the call itself
	// names one, "" otherwise. With MayStay the tool may ignore it and stay in Dir: relative paths
	// are then suspected in both, and certain in neither. With RunUnknown they may run anywhere: a
	// relative path may be any path.
	Run                 string
	MayStay, RunUnknown bool
	// also is a second directory in which relative paths may begin; with lost they may begin
	// anywhere.
	Also string
	Lost bool
	// Links follows symbolic links if the gate has access to the file system of the tools. It is
	// nil otherwise: paths are then compared as written (C5).
	Links *Links
	// Gates are the ports of this machine on which gates are known to listen, between blanks.
	Gates string
	// Settings are protected in addition to the built-in list; nil for none.
	Settings *Settings
	// Scope is the end of the names of sources that the file of the conditions declares, "" for the
	// operator's files: sources of a file that is not trusted are its own. See [Env.Source].
	Scope string
	// Trusted are the trusted sources as [Env.Source] names them, "" if there are none: names that
	// end with a line feed.
	Trusted string
	// Checked is set if the conditions were compiled before without a mistake: literals are then
	// parsed on demand.
	Checked bool
}

// Links is access to the file system that tools work in.
type Links struct {
	// Real returns the absolute path that an absolute path names after all links are followed,
	// false if it is unknown. It must be safe for concurrent use.
	Real func(path string) (real string, ok bool)
	// Walk returns a function like Real that may cache its results, for the evaluation of one
	// string by one goroutine; nil if caching is not worthwhile.
	Walk func() func(path string) (real string, ok bool)
	// Files calls each for every file below a directory, at any depth, without following links:
	// with its name relative to the directory, and its type. It returns true if the list is
	// complete and the directory exists. It is nil without access, and must be safe for concurrent
	// use.
	Files func(dir string, each func(name string, mode fs.FileMode)) (complete bool)
	// Has reports whether a path may exist, nil without access. It must be safe for concurrent use.
	Has func(path string) bool
}

// Settings are the locations in which programs of this machine keep the files that the protected
// list names below a home directory, as set by the environment. Paths must be absolute; others
// are ignored.
type Settings struct {
	// Moved are directories that replace others.
	Moved []Moved
	// Asked are additional files and directories of settings, with everything in them (K2).
	Asked []string
	// Denied are files and directories of the gate's own state (S4).
	Denied []string
}

// Moved is a directory that replaces one of the protected list. The lines of the list apply to
// both.
type Moved struct {
	From string // as in the list: ".codex"
	To   string
}
