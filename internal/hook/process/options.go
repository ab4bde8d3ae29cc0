package process

import (
	"cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/realpath"
)

// Options returns the options to compile the policy for an event: the directories of project and
// session, and the gate's own files. dir is the project's directory if the files are not those of a
// repository, store the URL of the command line.
func (c Caller) Options(set config.Set, dir string, e *hook.Event, store string) policy.Options {
	o := policy.Options{Root: cmp.Or(set.Root, dir), Dir: e.Dir, UnknownTool: stopgate.Ask}
	if o.Dir == "" {
		o.Dir, _ = c.workingDir()
	}
	o.Home, _ = c.Home()
	o.Settings = Settings(c.Account, o.Root, store)
	o.Links = &condition.Links{Real: realpath.From(o.Root), Walk: realpath.Walk(o.Root), Files: realpath.Files(realpath.Enough), Has: realpath.Has}
	o.Run, o.RunLost = runDir(e.Run, o.Dir, o.Links.Real)
	o.RunDoubt, o.RunLost = e.RunUncertain, o.RunLost || e.RunUnknown
	return o
}

// Stored adds the files that the policy itself sets as the gate's own. It reports whether the
// policy must be compiled again with them.
func (c Caller) Stored(o *policy.Options, program *policy.Program) bool {
	url := storeURL(program)
	if url == "" {
		return false
	}
	o.Settings = Settings(c.Account, o.Root, url)
	return o.Settings != nil
}
