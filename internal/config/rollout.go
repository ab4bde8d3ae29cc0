package config

import (
	"bytes"
	"slices"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/bundle"
	"github.com/stopgate/stopgate/internal/lang/tomltree"
)

// Rollout is a policy bundle that is part of a [Set].
type Rollout struct {
	Bundle *bundle.Bundle
	// Stale reports that the bundle is older than the operator accepts: every call is denied.
	Stale bool
}

// Ref identifies the bundle in records.
func (r *Rollout) Ref() *stopgate.Bundle {
	return &stopgate.Bundle{Generation: r.Bundle.Generation, Digest: r.Bundle.Digest}
}

// Reached reports whether a session has the rules of the bundle, and not those of the bundle
// before.
func (r *Rollout) Reached(id stopgate.SessionID) bool {
	return r.Bundle.Previous == nil || r.Bundle.Canary.Includes(string(id))
}

// bundlePath begins the paths of files of a bundle as they are shown to people, and in records.
const bundlePath = "bundle:"

// staleText denies every call.
const staleText = `version = 1
[tools."*"]
policy.run = [{ mode = "deny", reason = "the policy bundle of this gate is too old, and its channel cannot be reached" }]
[[handoffs]]
from = "*"
to = "*"
mode = "deny"
`

// WithBundle adds the policy files of a bundle as layers of the operator, before the files of the
// project.
func (s Set) WithBundle(r Rollout) Set {
	var files []File
	for _, f := range r.Bundle.Files {
		if f.IsPolicy() {
			files = append(files, File{Path: bundlePath + f.Name, Scope: Bundled, Text: f.Data, Hash: hash(f.Data), Trusted: true})
		}
	}
	at := slices.IndexFunc(s.Files, func(f File) bool { return f.Scope == Project })
	if at < 0 {
		at = len(s.Files)
	}
	s.Files = slices.Insert(slices.Clone(s.Files), at, files...)
	if r.Stale { // first, so that its reason is the one that people see
		old := File{Path: bundlePath + "(too old)", Scope: Bundled, Text: []byte(staleText), Hash: hash([]byte(staleText)), Trusted: true}
		s.Files = slices.Insert(s.Files, 0, old)
	}
	s.Rollout = &r
	return s
}

// WithoutBundle removes what [Set.WithBundle] added.
func (s Set) WithoutBundle() Set {
	s.Files = slices.DeleteFunc(slices.Clone(s.Files), func(f File) bool { return f.Scope == Bundled })
	s.Rollout = nil
	return s
}

// Previous returns the set of the sessions that a roll-out in steps has not reached; ok is false if
// all sessions have the same one.
func (s Set) Previous() (previous Set, ok bool) {
	if s.Rollout == nil || s.Rollout.Bundle.Previous == nil {
		return Set{}, false
	}
	return s.WithoutBundle().WithBundle(Rollout{Bundle: s.Rollout.Bundle.Previous, Stale: s.Rollout.Stale}), true
}

// For returns the set of one session.
func (s Set) For(id stopgate.SessionID) Set {
	if previous, ok := s.Previous(); ok && !s.Rollout.Reached(id) {
		return previous
	}
	return s
}

// PolicyTable returns the table [policy] of the first of the operator's files that has it, nil if
// none has. Files with mistakes are passed over; their mistakes are found later.
func (s Set) PolicyTable() *tomltree.Value {
	for _, f := range s.Files {
		// Almost every file ends here. An escaped key is missed: then the table is found, and
		// refused, when the set was compiled without a bundle.
		if !f.Trusted || f.Scope == Bundled || !bytes.Contains(f.Text, []byte("bundle")) {
			continue
		}
		doc, _ := tomltree.Parse(f.Path, f.Text)
		if doc == nil || doc.Root == nil {
			continue
		}
		if e := doc.Root.Get("policy"); e != nil && e.Value.Kind == tomltree.Table {
			return e.Value
		}
	}
	return nil
}
