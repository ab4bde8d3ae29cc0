package source

import (
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/flow"
	"github.com/stopgate/stopgate/internal/lang/syntax"
)

// Config is the policy of a Reader: the sources of all its files.
type Config struct {
	Files []File
	// Tool returns how the policy sees the tool with a name.
	Tool func(name stopgate.ToolName) Facts
	// Tools states, one by one, how the files declare tools: their names, and whether they have an
	// effect. Texts that were read under other statements are not those of the policy.
	Tools []string
	// Says are the conditions `says` of all files.
	Says []*syntax.Says
	// Own are the addresses of the agent and its user.
	Own []string
	// Budget is the length of the texts of a session, 0 for the default.
	Budget int64
	// EveryCall returns a segment for every call, also for one that adds nothing: the texts that are
	// kept for replay need it, because another policy may see an effect in the call.
	EveryCall bool
}

// File is the sources of a policy file.
type File struct {
	Sources []*syntax.SourceTable
	// Scope ends the names of the sources of an untrusted file, as "@1"; "" for a file of the operator.
	Scope string
}

// Facts is how a policy sees a tool.
type Facts struct {
	// Name is the name by which the policy knows the tool, "" for the given one.
	Name stopgate.ToolName
	// Declared is set for a tool with a table of its own, or one that is known by name.
	Declared bool
	// Effect is set for a tool that changes something or sends something out.
	Effect bool
}

// Scoped returns the name of a declared source of a file with a scope, as [condition.Env] does. Built-in sources have one
// name everywhere.
func Scoped(name flow.Source, scope string) flow.Source {
	if scope == "" || builtIn(name) {
		return name
	}
	return name + flow.Source(scope)
}

// Trusted returns the sources that the files declare as trusted, by their scoped names. A source
// that several files of a scope declare is trusted if all of them do.
func Trusted(files []File) []flow.Source {
	trusted := map[flow.Source]bool{}
	for _, f := range files {
		for _, t := range f.Sources {
			name := Scoped(t.Name, f.Scope)
			before, again := trusted[name]
			trusted[name] = t.Trusted && (before || !again)
		}
	}
	var names []flow.Source
	for name, is := range trusted {
		if is && !builtIn(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

func builtIn(name flow.Source) bool {
	return slices.Contains([]flow.Source{flow.User, flow.System, flow.Tool, flow.Hidden, flow.Untrusted}, name)
}
