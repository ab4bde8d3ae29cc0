package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/pathkey"
	"github.com/stopgate/stopgate/internal/eval"
	"github.com/stopgate/stopgate/internal/lang/syntax"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/session/policies"
)

// Sessions compiles the tables [[session]] of all files, in their order. A table without
// a name gets one that describes it; a second policy of the same name gets a number.
func (p *Program) Sessions() (*session.Registry, error) {
	r := session.NewRegistry()
	taken := make(map[string]bool)
	env := p.Environment()
	for _, t := range p.SessionPolicies() {
		compiled, err := sessionPolicy(t, env, t.Name)
		if err != nil {
			return nil, err
		}
		name := compiled.Name()
		for n := 2; taken[compiled.Name()]; n++ {
			if compiled, err = sessionPolicy(t, env, fmt.Sprintf("%s (%d)", name, n)); err != nil {
				return nil, err
			}
		}
		if err := r.Register(compiled); err != nil {
			return nil, err
		}
		taken[compiled.Name()] = true
		if t.Off {
			r.Enable(compiled.Name(), false)
		}
	}
	return r, nil
}

// sessionPolicy compiles one table under a name, "" for one that describes it.
func sessionPolicy(t *syntax.SessionPolicy, env condition.Env, name string) (session.Policy, error) {
	var p session.Policy
	switch t.Type {
	case syntax.SessionRequire:
		p = requirement(t, env, name)
	case syntax.SessionReadBeforeWrite:
		p = readBeforeWrite(t, env, name)
	case syntax.SessionLimit:
		p = limit(t, env, name)
	default:
		return nil, fmt.Errorf("session policy: unknown type %q", t.Type)
	}
	var when []session.When
	for _, c := range t.When {
		// A restrictive policy applies where its condition is in doubt.
		test, err := eval.NewDataTest(c, true, env)
		if err != nil {
			return nil, fmt.Errorf("session policy %q: when: %w", p.Name(), err)
		}
		when = append(when, session.NewWhen(holds(test)))
	}
	p = session.InCase(p, when...)
	for _, c := range t.Callers {
		p = session.ForCallers(p, eval.NewCallersTest(c).Applies)
	}
	return p, nil
}

func requirement(t *syntax.SessionPolicy, env condition.Env, name string) session.Policy {
	r := policies.Require(t.Before...).After(t.Requires...).Approved(t.Approvals...).
		InvalidatedBy(t.InvalidatedBy...).Within(milliseconds(t.Within)).Because(t.Reason).ReadPaths(pathkey.Reader{Env: env})
	if name == "" {
		name = r.Name() + ":" + strings.Join(slices.Concat(t.Requires, t.Approvals), ",")
	}
	r.Named(name)
	key(t, r.Key, r.PathKey, r.ValueKey)
	switch t.Per {
	case "principal":
		r.PerPrincipal()
	case "project":
		r.PerProject(env.Root)
	}
	set(t.Asks, r.Ask)
	set(t.Any, r.Any)
	set(t.AllowNoKey, r.AllowMissingKey)
	set(t.Observed, r.Observed)
	set(t.AcceptUnknown, r.AcceptUnknown)
	return r
}

func readBeforeWrite(t *syntax.SessionPolicy, env condition.Env, name string) session.Policy {
	f := policies.ReadBeforeWrite().
		InvalidatedBy(t.InvalidatedBy...).Within(milliseconds(t.Within)).Because(t.Reason).ReadPaths(pathkey.Reader{Env: env})
	if name != "" {
		f.Named(name)
	}
	if len(t.ReadTools) > 0 {
		f.Reads(t.ReadTools...)
	}
	if len(t.WriteTools) > 0 {
		f.Writes(t.WriteTools...)
	}
	if len(t.Key) > 0 {
		f.Key(pointers(t.Key)...)
	}
	if len(t.ContentHash) > 0 {
		f.ContentHash(t.ContentHash.String())
	}
	set(t.Asks, f.Ask)
	set(t.AllowNoKey, f.AllowMissingKey)
	set(t.Observed, f.Observed)
	set(t.AcceptUnknown, f.AcceptUnknown)
	return f
}

func limit(t *syntax.SessionPolicy, env condition.Env, name string) session.Policy {
	q := policies.Limit(t.Tools...).Because(t.Reason).ReadPaths(pathkey.Reader{Env: env})
	if name != "" {
		q.Named(name)
	}
	if t.Within != 0 {
		q.Within(milliseconds(t.Within))
	}
	if t.MaxCalls != nil {
		q.Calls(*t.MaxCalls)
	}
	if t.MaxInFlight != nil {
		q.InFlight(*t.MaxInFlight)
	}
	if t.InFlightTTL > 0 {
		q.TTL(milliseconds(t.InFlightTTL))
	}
	if len(t.Sum) > 0 {
		q.Sum(t.Sum.String(), t.MaxSum)
	}
	key(t, q.Key, q.PathKey, q.ValueKey)
	set(t.Asks, q.Ask)
	set(t.PerSession, q.InSession)
	set(t.AllowNoKey, q.AllowMissingKey)
	set(t.CountFailures, q.CountFailures)
	set(t.Observed, q.Observed)
	return q
}

// set calls an option of a session policy if its table has it.
func set[P any](on bool, option func() P) {
	if on {
		option()
	}
}

// key sets the key of a session policy in the way its table compares values.
func key[P any](t *syntax.SessionPolicy, schema, path, value func(...string) P) {
	switch {
	case t.KeyIsPath:
		path(pointers(t.Key)...)
	case t.KeyIsValue:
		value(pointers(t.Key)...)
	default:
		schema(pointers(t.Key)...)
	}
}

func pointers(list []jsonstream.Pointer) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.String())
	}
	return texts
}

func milliseconds(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
