package policies

import (
	"errors"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Requirement is the policy "these calls first": sequential, or, with a key, for the same
// target (TPS-13, TPS-17). Build it with [Require].
type Requirement struct {
	name      string
	before    session.Selector
	requires  []prerequisite
	after     session.Selector // of all prerequisites
	approvals []string
	any       bool
	key       keys
	missing   missingKey
	within    int64
	broken    session.Selector
	observed  bool
	unknown   bool
	public    string
	ask       bool
	scope     session.Scope
	project   string // of a policy per project
	per       string // the scope in words
	err       error
}

// prerequisite is one of the calls that must have succeeded.
type prerequisite struct {
	tool  string // a name or a glob
	tools session.Selector
}

// Require begins a policy for the dependent tools, names or globs:
//
//	policies.Require("deploy").After("test", "build")
//	policies.Require("merge_pr").After("approve_pr").Key("/pr_id")
func Require(before ...string) *Requirement {
	r := &Requirement{before: Select(before...), per: "in this session"}
	r.name = "require:" + strings.Join(before, ",")
	return r
}

// Named sets the name of the policy; by default it is made of the tools.
func (r *Requirement) Named(name string) *Requirement { r.name = name; return r }

// After names the calls that must have succeeded, all of them unless [Requirement.Any] is
// called. For a glob one of the tools that match is enough.
func (r *Requirement) After(tools ...string) *Requirement {
	for _, tool := range tools {
		s := Select(tool)
		r.requires = append(r.requires, prerequisite{tool, s})
		r.after = r.after.Or(s)
	}
	return r
}

// Approved names approvals that a person must have given in the session (TPS-39):
// approving a call of tool X gives the approval X.
func (r *Requirement) Approved(names ...string) *Requirement {
	r.approvals = append(r.approvals, names...)
	return r
}

// Any makes one of the prerequisites enough (H9).
func (r *Requirement) Any() *Requirement { r.any = true; return r }

// Key makes the policy keyed: the prerequisites must have succeeded for the same value at
// the pointer. Of several pointers the first that is present counts, and two with
// different values are no key. A pointer that the schema calls a path is compared as one.
func (r *Requirement) Key(pointers ...string) *Requirement {
	r.err = r.key.add(r.err, pointers)
	return r
}

// PathKey is Key for values that are paths, also where the schema does not call them so.
func (r *Requirement) PathKey(pointers ...string) *Requirement {
	r.key.path = true
	return r.Key(pointers...)
}

// ValueKey is Key for values that are compared as they are written, also where the schema
// calls them paths.
func (r *Requirement) ValueKey(pointers ...string) *Requirement {
	r.key.literal = true
	return r.Key(pointers...)
}

// AllowMissingKey allows calls without a key value (TPS-18); by default they are denied
// with key_unavailable (H8).
func (r *Requirement) AllowMissingKey() *Requirement { r.missing = allowMissing; return r }

// Within sets how long a success counts.
func (r *Requirement) Within(d time.Duration) *Requirement { r.within = d.Milliseconds(); return r }

// PerPrincipal also counts the successes of the principal's other sessions. It needs
// [Requirement.Within], because such successes do not end with a session. Approvals are given in a
// session and cannot be combined with it. A restored snapshot takes successes back in its own
// session.
func (r *Requirement) PerPrincipal() *Requirement {
	r.scope, r.project, r.per = session.OfPrincipal, "", "in any session"
	return r
}

// PerProject is PerPrincipal for the sessions in one project, which is named by its directory.
// Where the directory is not known, "", only successes of the session count.
func (r *Requirement) PerProject(dir string) *Requirement {
	if dir != "" {
		r.scope, r.project, r.per = session.OfPrincipal, dir, "in this project"
	}
	return r
}

// InvalidatedBy names calls after which the prerequisites have to run again: from their
// release on, whether they succeed or not.
func (r *Requirement) InvalidatedBy(tools ...string) *Requirement {
	r.broken = Select(tools...)
	return r
}

// Observed counts only successes that the gate's own surface observed (X13).
func (r *Requirement) Observed() *Requirement { r.observed = true; return r }

// AcceptUnknown also counts calls that ended with an unknown result (S24).
func (r *Requirement) AcceptUnknown() *Requirement { r.unknown = true; return r }

// Because replaces the sentence for models and people.
func (r *Requirement) Because(public string) *Requirement { r.public = public; return r }

// ReadPaths sets how paths are brought into the form that is compared. By default only
// their text counts.
func (r *Requirement) ReadPaths(p PathReader) *Requirement { r.key.paths = p; return r }

// Ask asks a person about a call to which the policy objects, instead of denying it: a yes allows
// this one call. A call whose key or session is not known is denied all the same.
func (r *Requirement) Ask() *Requirement { r.ask = true; return r }

// Name returns the policy's name.
func (r *Requirement) Name() string { return r.name }

// Tools returns dependents, prerequisites and the tools that invalidate them (TPS-16).
func (r *Requirement) Tools() session.Selector { return r.before.Or(r.after).Or(r.broken) }

// Denies returns the dependents.
func (r *Requirement) Denies() session.Selector { return r.before }

// Valid returns the first mistake of the builder.
func (r *Requirement) Valid() error {
	switch {
	case r.err != nil:
		return r.err
	case r.before.Empty():
		return errNoTools
	case len(r.requires) == 0 && len(r.approvals) == 0:
		return errNoPrerequisite
	case r.scope == session.OfPrincipal && r.within <= 0:
		return errors.New("successes of other sessions need a lifetime: set Within")
	case r.scope == session.OfPrincipal && len(r.approvals) > 0:
		return errors.New("approvals are given in a session: Approved cannot be combined with PerPrincipal or PerProject")
	}
	return nil
}

// NeedsArguments reports whether the policy is keyed: without a key it can decide before
// any argument arrives.
func (r *Requirement) NeedsArguments() bool { return r.key.used() }

// Bounded reports whether p is this policy: its cost is bounded by construction.
func (r *Requirement) Bounded(p session.Policy) bool { return p == session.Policy(r) }

// Watched returns the pointers whose values are enough to deny a call of the tool.
func (r *Requirement) Watched(tool stopgate.ToolName) []jsonstream.Pointer {
	if r.missing != denyMissing || !r.before.Match(tool) {
		return nil
	}
	return r.key.watched()
}
