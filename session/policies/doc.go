// Package policies has the session policies that a policy file can state: [Require], calls
// that must have succeeded before others; [ReadBeforeWrite], files that must be read before
// they are changed; and [Limit], how often, how much and how many at once.
//
// They are ordinary implementations of [session.Policy], built with methods that return the
// policy itself:
//
//	policies.Require("deploy").After("test").Within(time.Hour)
//	policies.ReadBeforeWrite()
//	policies.Limit("transfer").Sum("/amount", "1000").InSession()
//
// Mistakes of a builder, such as a pointer that is not valid, are returned when the policy
// is registered.
package policies

import (
	"errors"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/session"
)

// Mistakes of the builders.
var (
	errNoTools        = errors.New("no tool is selected: name at least one tool")
	errNoPrerequisite = errors.New("no prerequisite: name calls with After or approvals with Approved")
	errNoKey          = errors.New("no path argument: name its pointer with Key")
	errNoLimit        = errors.New("no limit: set Calls, Sum or InFlight")
)

// missingKey is the answer to calls without a key value (Q14).
type missingKey uint8

const (
	denyMissing missingKey = iota
	allowMissing
)

// withoutSession denies a call that belongs to no session: its policy would look at the
// history of other callers (H6).
func withoutSession(c *session.Call) session.Decision {
	return session.Decision{
		Code: stopgate.CodeKeyUnavailable, Public: "This call belongs to no session, and its policy looks at one.",
		Meta: map[string]string{"tool": string(c.Tool)},
	}
}

// asks returns an objection that a person may overrule, with the detail for that person, if the
// policy asks. A prerequisite that is under way is waited for, and not asked about.
func asks(on bool, d session.Decision, detail string) session.Decision {
	if d.Ask = on && d.Code != stopgate.CodePrerequisitePending; d.Ask {
		d.Detail = detail
	}
	return d
}

// valueList lists key values for people, "" without a key.
func valueList(list []string) string {
	if len(list) == 1 && list[0] == "" {
		return ""
	}
	return strings.Join(list, ", ")
}

// pending reports whether a call that would satisfy the prerequisite has been made and
// does not count yet: it is open, or it succeeded after the turn began. A call that has
// been open for longer than [inflightTTL] is not waited for.
func pending(v *session.View, k session.Key, c *session.Cell, broken uint64) bool {
	for _, open := range v.UnderWay {
		if open == k {
			return true
		}
	}
	for i := range c.Open {
		if o := &c.Open[i]; o.Seq > broken && v.Now-o.At < inflightTTL.Milliseconds() {
			return true
		}
	}
	for i := range c.Permits {
		if p := &c.Permits[i]; p.Seq > v.Horizon && p.Seq > broken {
			return true
		}
	}
	return false
}
