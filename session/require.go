package session

import (
	"strings"
	"sync"
	"time"

	"github.com/stopgate/stopgate/jsonstream"
)

// Requirement is the policy "these calls first": sequential, or, with a key, for
// the same target (TPS-13, TPS-17). Build it with [Require].
type Requirement struct {
	name      string
	before    Selector
	requires  []string   // literal names and globs
	each      []Selector // the same, one by one
	exact     []bool
	after     Selector // all of them
	approvals []string
	any       bool
	key       keyer
	missing   missingKey
	within    int64
	broken    Selector
	observed  bool
	unknown   bool
	public    string
	err       error

	once  sync.Once
	names []string // of the cells of requires, made when a call is first looked at
}

// missingKey says what a call without a key value means (Q14).
type missingKey uint8

const (
	denyMissing missingKey = iota
	allowMissing
)

// Require begins a policy for the dependent tools, names or globs:
//
//	session.Require("deploy").After("test", "build")
//	session.Require("merge_pr").After("approve_pr").Key("/pr_id")
func Require(before ...string) *Requirement {
	r := &Requirement{before: Select(before...)}
	r.name = "require:" + strings.Join(before, ",")
	return r
}

// Named gives the policy a name of its own; by default it is made of the tools.
func (r *Requirement) Named(name string) *Requirement { r.name = name; return r }

// After names the calls that must have succeeded, all of them unless [Requirement.Any].
// For a glob one of the tools that match is enough.
func (r *Requirement) After(tools ...string) *Requirement {
	for _, tool := range tools {
		s := Select(tool)
		r.requires, r.each, r.exact = append(r.requires, tool), append(r.each, s), append(r.exact, len(s.exact) == 1)
	}
	r.after = Select(r.requires...)
	return r
}

// Approved names approvals that somebody must have given in the session (TPS-39):
// approving a call of tool X gives the approval X.
func (r *Requirement) Approved(names ...string) *Requirement {
	r.approvals = append(r.approvals, names...)
	return r
}

// Any makes one of the prerequisites enough (H9).
func (r *Requirement) Any() *Requirement { r.any = true; return r }

// Key makes the policy keyed: the prerequisites must have succeeded for the same
// value at the pointer. Of several pointers the first that is present counts, and
// two that differ name no target. A pointer that the schema calls a path is
// compared as one.
func (r *Requirement) Key(pointers ...string) *Requirement {
	r.err = r.key.set(r.err, pointers)
	return r
}

// PathKey is Key for values that are paths, whatever the schema says.
func (r *Requirement) PathKey(pointers ...string) *Requirement {
	r.key.path = true
	return r.Key(pointers...)
}

// ValueKey is Key for values that are compared by their letters, whatever the schema says.
func (r *Requirement) ValueKey(pointers ...string) *Requirement {
	r.key.value = true
	return r.Key(pointers...)
}

// AllowMissingKey lets calls without a key value pass (TPS-18); by default they are
// denied key_unavailable (H8).
func (r *Requirement) AllowMissingKey() *Requirement { r.missing = allowMissing; return r }

// Within makes a success count for a time only.
func (r *Requirement) Within(d time.Duration) *Requirement { r.within = d.Milliseconds(); return r }

// InvalidatedBy names calls after which the prerequisites have to run again: from
// their release on, whether they succeed or not.
func (r *Requirement) InvalidatedBy(tools ...string) *Requirement {
	r.broken = Select(tools...)
	return r
}

// Observed counts only successes that the gate's own surface saw (X13).
func (r *Requirement) Observed() *Requirement { r.observed = true; return r }

// AcceptUnknown also counts calls that ended without anybody saying how (S24).
func (r *Requirement) AcceptUnknown() *Requirement { r.unknown = true; return r }

// Because replaces the sentence for models and people.
func (r *Requirement) Because(public string) *Requirement { r.public = public; return r }

// ReadPaths sets how paths are brought into the form that is compared. By default only
// the letters of a path count.
func (r *Requirement) ReadPaths(p PathReader) *Requirement { r.key.paths = p; return r }

func (k *keyer) set(err error, pointers []string) error {
	for _, text := range pointers {
		p, bad := jsonstream.ParsePointer(text)
		if bad != nil {
			return bad
		}
		k.pointers = append(k.pointers, p)
	}
	return err
}

// Name is the policy's name.
func (r *Requirement) Name() string { return r.name }

// Tools are dependents, prerequisites and what invalidates (TPS-16).
func (r *Requirement) Tools() Selector {
	return r.before.Or(r.after).Or(r.broken)
}

// Valid reports mistakes of the builder.
func (r *Requirement) Valid() error {
	switch {
	case r.err != nil:
		return r.err
	case r.before.Empty():
		return errNoTools
	case len(r.requires) == 0 && len(r.approvals) == 0:
		return errNothing
	}
	return nil
}

// needsArgs: without a key the policy can speak before any argument came.
func (r *Requirement) needsArgs() bool { return r.key.needsArgs() }

func (r *Requirement) keyer() *keyer { return &r.key }
