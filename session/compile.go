package session

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/policy/match"
	"github.com/stopgate/stopgate/policy/syntax"
)

// Compile makes policies of the tables [[session]] of policy files, in their order,
// in a registry of their own. A table without a name gets one from what it says; if
// two tables say the same, the second gets a number.
func Compile(tables []*syntax.SessionPolicy, env match.Env) (*Registry, error) {
	r := NewRegistry()
	for _, t := range tables {
		p, err := compile(t, env)
		if err != nil {
			return nil, err
		}
		name := p.Name()
		for n := 2; r.Set().index(p.Name()) >= 0; n++ {
			p = rename(t, env, fmt.Sprintf("%s (%d)", name, n))
		}
		if err := r.Register(p); err != nil {
			return nil, err
		}
		if t.Off {
			r.Enable(p.Name(), false)
		}
	}
	return r, nil
}

func rename(t *syntax.SessionPolicy, env match.Env, name string) Policy {
	named := *t
	named.Name = name
	p, _ := compile(&named, env)
	return p
}

func compile(t *syntax.SessionPolicy, env match.Env) (Policy, error) {
	var p Policy
	switch t.Type {
	case syntax.SessionRequire:
		p = requirement(t, env)
	case syntax.SessionReadBeforeWrite:
		p = files(t, env)
	case syntax.SessionLimit:
		p = quota(t, env)
	default:
		return nil, fmt.Errorf("session policy: unknown type %q", t.Type)
	}
	var when []When
	for _, c := range t.When {
		w, err := NewWhen(c.Pointer, c.Spec, env)
		if err != nil {
			return nil, fmt.Errorf("session policy %q: when: %w", p.Name(), err)
		}
		when = append(when, w)
	}
	return InCase(p, when...), nil
}

func requirement(t *syntax.SessionPolicy, env match.Env) *Requirement {
	r := Require(t.Before...).After(t.Requires...).Approved(t.Approvals...)
	if t.Name != "" {
		r.Named(t.Name)
	} else {
		r.Named(r.name + ":" + strings.Join(slices.Concat(t.Requires, t.Approvals), ","))
	}
	r.any, r.within, r.public = t.Any, t.Within, t.Reason
	r.key, r.missing = keyOf(t, env), missingOf(t)
	r.broken = Select(t.InvalidatedBy...)
	r.observed, r.unknown = t.Observed, t.AcceptUnknown
	return r
}

func files(t *syntax.SessionPolicy, env match.Env) *Files {
	f := ReadBeforeWrite().In(env)
	if t.Name != "" {
		f.Named(t.Name)
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
	f.missing = missingOf(t)
	f.broken = Select(t.InvalidatedBy...)
	f.within, f.hash, f.public = t.Within, t.ContentHash, t.Reason
	f.observed, f.unknown = t.Observed, t.AcceptUnknown
	return f
}

func quota(t *syntax.SessionPolicy, env match.Env) *Quota {
	q := Limit(t.Tools...)
	if t.Name != "" {
		q.Named(t.Name)
	}
	if t.MaxCalls != nil {
		q.Calls(*t.MaxCalls)
	}
	if t.MaxInFlight != nil {
		q.InFlight(*t.MaxInFlight)
	}
	if t.InFlightTTL > 0 {
		q.TTL(time.Duration(t.InFlightTTL) * time.Millisecond)
	}
	if len(t.Sum) > 0 {
		q.Sum(t.Sum.String(), t.MaxSum)
	}
	if t.PerSession {
		q.InSession()
	}
	q.within, q.public = t.Within, t.Reason
	q.key, q.missing = keyOf(t, env), missingOf(t)
	q.keeps, q.distrusts = t.CountFailures, t.Observed
	return q
}

func keyOf(t *syntax.SessionPolicy, env match.Env) keyer {
	return keyer{pointers: t.Key, path: t.KeyIsPath, value: t.KeyIsValue, env: env}
}

func missingOf(t *syntax.SessionPolicy) missingKey {
	if t.AllowNoKey {
		return allowMissing
	}
	return denyMissing
}

func pointers(list []jsonstream.Pointer) []string {
	var texts []string
	for _, p := range list {
		texts = append(texts, p.String())
	}
	return texts
}
