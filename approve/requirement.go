package approve

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition/glob"
	"github.com/stopgate/stopgate/jsonstream"
)

// Requirement is who may answer a question, and how many have to approve. It is stored with the
// question, so that it holds in every process that takes answers. The zero Requirement lets everyone
// with access to the queue answer.
type Requirement struct {
	// Approvals is how many persons have to approve; 0 is one.
	Approvals int `json:"approvals,omitempty"`
	// Who lists those who may answer; without any it is everyone.
	Who []People `json:"who,omitempty"`
	// Others reports that nobody approves a call of his own.
	Others bool `json:"others,omitempty"`
}

// People are persons by names and globs of their principals or of their groups. The principal of a
// person at a terminal of the machine is "local". Groups that are not known are none.
type People struct {
	Principal []string `json:"principal,omitempty"`
	Group     []string `json:"group,omitempty"`
}

// Consent is the approval of one person of several.
type Consent struct {
	By        string             `json:"by"`
	Principal stopgate.Principal `json:"principal"`
	Via       string             `json:"via,omitempty"`
	At        time.Time          `json:"at"`
	// Grant is the scope of the grant that the person wants too, "" for none.
	Grant string `json:"grant,omitempty"`
}

// local is the principal of a person at a terminal of the machine.
const local stopgate.Principal = "local"

// person is the principal of the person who answers.
func (r *Reply) person() stopgate.Principal { return orLocal(r.Principal) }

func orLocal(p stopgate.Principal) stopgate.Principal {
	if p == "" {
		return local
	}
	return p
}

// own reports whether a person answers a question about a call of his own.
func (e *Entry) own(r *Reply) bool {
	return r.person() == orLocal(e.Principal)
}

// mayApprove returns an error if a person must not approve.
func (e *Entry) mayApprove(r *Reply) error {
	if e.own(r) && (e.Requirement.Others || r.Principal != "" && e.Surface == stopgate.SurfaceDecide) {
		return ErrOwn
	}
	if slices.ContainsFunc(e.Consents, func(c Consent) bool { return c.Principal == r.person() }) {
		return ErrTwice
	}
	return nil
}

// allows reports whether a person may answer.
func (q *Requirement) allows(r *Reply) bool {
	who, groups := r.person(), r.Groups
	return len(q.Who) == 0 || !r.Program && slices.ContainsFunc(q.Who, func(p People) bool {
		return matchesAny(p.Principal, string(who)) || slices.ContainsFunc(groups.Names(), func(name string) bool { return matchesAny(p.Group, name) })
	})
}

func matchesAny(globs []string, name string) bool {
	return slices.ContainsFunc(globs, func(text string) bool {
		n, err := glob.ParseName(text)
		return err == nil && n.Match(name)
	})
}

// consent records one of several approvals. The last one that is needed completes the answer.
func (e *Entry) consent(r *Reply, edit string, now time.Time) (complete bool, err error) {
	for i := range e.Consents {
		if i == 0 && !sameArguments(e.Edit, edit) {
			return false, ErrDiffers
		}
	}
	last := len(e.Consents)+1 >= e.Requirement.Approvals
	if r.scope != "" && slices.ContainsFunc(e.Consents, func(c Consent) bool { return c.Grant != r.scope }) {
		return false, fmt.Errorf("%w: the others approved this call only, or another grant", ErrNoGrant)
	}
	e.Consents = append(slices.Clone(e.Consents), Consent{By: r.By, Principal: r.person(), Via: r.Via, At: now, Grant: r.scope})
	e.Edit = edit
	return last, nil
}

// approvers names those who approved.
func (e *Entry) approvers() string {
	var names []string
	for _, c := range e.Consents {
		names = append(names, c.By)
	}
	return strings.Join(names, ", ")
}

// Wanting returns how many more persons have to approve.
func (e Entry) Wanting() int {
	if e.State != Waiting {
		return 0
	}
	return max(1, e.Requirement.Approvals) - len(e.Consents)
}

// sameArguments compares edited arguments as JSON values; "" is no edit.
func sameArguments(a, b string) bool {
	if a == "" || b == "" {
		return a == b
	}
	one, err := jsonstream.Parse([]byte(a), jsonstream.Options{})
	two, err2 := jsonstream.Parse([]byte(b), jsonstream.Options{})
	return err == nil && err2 == nil && bytes.Equal(jsonstream.AppendCanonical(nil, one), jsonstream.AppendCanonical(nil, two))
}

// text is equal for equal scopes.
func (s Scope) text() string {
	return fmt.Sprintf("%t %s %d %q", s.AllSessions, s.For, s.Limit, s.Wider)
}

// Requires returns the requirement of a question about a call.
func (q *Queue) Requires(call *stopgate.Call) Requirement {
	if q.opts.Require == nil {
		return Requirement{}
	}
	return q.opts.Require(call)
}

// meets reports whether an entry was asked under a requirement.
func (e *Entry) meets(r Requirement) bool { return reflect.DeepEqual(e.Requirement, r) }

// meets reports whether a grant may answer a question with a requirement.
func (g *Grant) meets(r Requirement) bool {
	return reflect.DeepEqual(r, Requirement{}) || reflect.DeepEqual(g.Requirement, r)
}
