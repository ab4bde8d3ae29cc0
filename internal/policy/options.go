package policy

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/policy/check"
)

// Source is the text of one policy file, a layer of its own (K35).
type Source struct {
	Name string
	Text []byte
	// Trusted: the file is the operator's, named on purpose or trusted by its
	// hash. Any other file may only hold rules, and they may only tighten (S3, K35).
	Trusted bool
	// Tightens: the file, though it is the operator's, may only tighten here: it
	// was written for another project than the one that the call belongs to.
	Tightens bool
	// Embedded: the file is part of the program. Its author has not seen the
	// tools that it permits, so that its permits need coverage.
	Embedded bool
	// Bundled: the file came in a policy bundle, which holds rules; the tables of the gate are in
	// the operator's own files.
	Bundled bool
	// Root is the directory that this file's paths are read against, "" for that of the
	// options.
	Root string
}

// Options are the environment in which policy files are checked and compiled.
type Options struct {
	// Root and Home are the directories paths are read against, "" if unknown. The
	// table [paths] of a file wins over them (K19). [Check] does not look at them.
	Root, Home string
	// Dir is the directory in which the relative paths of calls begin, "" for the root: an
	// agent may work below its project, or have moved elsewhere.
	Dir string
	// Run is the working directory that the call itself names for its command lines, "" for
	// Dir. RunDoubt reports that the tool may ignore that directory, RunLost that the directory
	// cannot be known: relative paths of command lines then satisfy every guard and no
	// permissive condition.
	Run               string
	RunDoubt, RunLost bool
	// Links follows symbolic links, nil where the gate does not see the file system of the
	// tools: paths are then compared as they are written (C5).
	Links *condition.Links
	// Settings are the directories in which programs of this machine keep their settings and
	// the gate its state, as far as they are not below a home directory; nil for none.
	Settings *condition.Settings
	// Strict turns lints into errors (K0i).
	Strict bool
	// Untrusted restricts a file to what a project file may contain (S3). Compile sets it
	// from [Source.Trusted].
	Untrusted bool
	// Bundled restricts a file to what a bundle may contain. Compile sets it from [Source.Bundled].
	Bundled bool
	// Definitions are the tools that are known to exist, with the schemas they come
	// with; rules are checked against them and against the tables of the file (Q5, Q16).
	Definitions []stopgate.ToolDefinition
	// Prove reports unreachable rules, which never decide a call; nil skips the search.
	// Package internal/prove implements it.
	Prove check.Prover
	// Checked reports whether an earlier [Check] found no mistake in a source under options
	// with the same [Options.Identity], so that it need not run again; nil if none is known.
	// A process for one call would spend most of its time in Check. Results must be stored
	// where no other user can write.
	Checked func(Source) bool
	// UnknownTool is the mode for calls of tools that no file knows, unless an operator's file
	// sets one: Ask for hooks, because hosts add tools every month (S33). Other values are Deny.
	// It is an input of Compile.
	UnknownTool stopgate.Mode
	// Known finds the known tool of a call, independently of files and requests; nil for none.
	Known eval.KnownTools
	// Rollout describes the bundle that files came in.
	Rollout Rollout
}

// Rollout is the bundle of a program, and the program of the sessions that it has not reached.
type Rollout struct {
	Bundle   *stopgate.Bundle // nil: the files came in no bundle
	Previous *Program         // nil: the program is that of all sessions
	Reached  func(stopgate.SessionID) bool
}

// of are the options of one source.
func (o Options) of(s Source) Options {
	o.Untrusted, o.Bundled = !s.Trusted, s.Bundled
	if s.Root != "" {
		o.Root = s.Root
	}
	return o
}

// environment is the directories that paths are read against where a file names none.
func (o Options) environment() condition.Env {
	return condition.Env{Root: o.Root, Home: o.Home, Dir: o.Dir, Run: o.Run, MayStay: o.RunDoubt, RunUnknown: o.RunLost, Links: o.Links, Settings: o.Settings}
}

// Identity identifies everything on which the findings of [Check] depend: 64 hexadecimal digits, the
// same for the same findings of one version of the program. It is "" where that is not
// known, with definitions.
func (o Options) Identity(s Source) string {
	if len(o.Definitions) > 0 {
		return ""
	}
	sum := sha256.New()
	o = o.of(s)
	fmt.Fprintf(sum, "%q %q %q %t %t %t %d ", s.Name, o.Root, o.Home, s.Trusted, s.Bundled, o.Strict, o.UnknownTool)
	sum.Write(s.Text)
	return hex.EncodeToString(sum.Sum(nil))
}
