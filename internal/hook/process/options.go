package process

import (
	"cmp"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/config"
	"github.com/stopgate/stopgate/internal/hook"
	"github.com/stopgate/stopgate/internal/policy"
	"github.com/stopgate/stopgate/internal/system/realpath"
)

// Options are what a hook knows when it compiles the policy for an event: where the project
// and the session are, and which files are the gate's own. dir is the project's directory
// where the files are not those of a repository, store the URL of the command line.
func (c Caller) Options(set config.Set, dir string, e *hook.Event, store string) policy.Options {
	o := policy.Options{Root: cmp.Or(set.Root, dir), Dir: e.Dir, UnknownTool: stopgate.Ask}
	if o.Dir == "" {
		o.Dir, _ = c.workingDir()
	}
	o.Home, _ = c.Home()
	o.Settings = Settings(c.Account, o.Root, store)
	o.Links = &match.Links{Real: realpath.From(o.Root), Walk: realpath.Walk(o.Root), Files: realpath.Files(realpath.Enough), Has: realpath.Has}
	o.Run, o.RunLost = runDir(e.Run, o.Dir, o.Links.Real)
	o.RunDoubt, o.RunLost = e.RunDoubt, o.RunLost || e.RunLost
	return o
}

// Stored adds to the options which files the policy itself says are the gate's own. It
// reports whether the policy has to be compiled again with them.
func (c Caller) Stored(o *policy.Options, program *policy.Program) bool {
	url := storeURL(program)
	if url == "" {
		return false
	}
	o.Settings = Settings(c.Account, o.Root, url)
	return o.Settings != nil
}
