package syntax

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/lang/diag"
	"github.com/stopgate/stopgate/jsonstream"
)

// The types of session policies (TPS).
const (
	SessionRequire         = "require"
	SessionReadBeforeWrite = "read_before_write"
	SessionLimit           = "limit"
)

// SessionPolicy is one [[session]] (TPS). Times are in milliseconds, 0 if the file does not set
// them. Package session compiles it.
type SessionPolicy struct {
	Type          string
	Name          string // "" if absent
	Off           bool   // enabled = false
	When          []SessionCondition
	Callers       []Callers // of `when`; all must hold
	Asks          bool      // mode = "ask": a person may allow a call in spite of the policy
	Key           []jsonstream.Pointer
	KeyIsPath     bool // key_type = "path"
	KeyIsValue    bool // key_type = "value" is written explicitly
	AllowNoKey    bool // on_missing_key = "allow"
	Within        int64
	InvalidatedBy []string
	Observed      bool // require_observed
	AcceptUnknown bool
	Reason        string

	Before, Requires, Approvals []string // require
	Any                         bool
	AllWritten                  bool // require = "all"
	// Per is whose successes count: "principal", "project", or "" for the session.
	Per string

	ReadTools, WriteTools []string // read_before_write
	ContentHash           jsonstream.Pointer

	Tools         []string // limit
	MaxCalls      *int64
	MaxInFlight   *int64
	InFlightTTL   int64
	Sum           jsonstream.Pointer
	MaxSum        string // a decimal
	PerSession    bool   // scope = "session"
	CountFailures bool   // failures = "count"

	After     []string    // flow: sources, or tools
	Effects   bool        // before = "effects"; Before has tools and globs otherwise
	Unless    []Condition // conditions that all must hold for no objection
	Where     []Condition // conditions that all must hold for an objection; empty: to every call
	UntilUser bool        // until = "user"

	Pos diag.Range
}

// Callers is the part of a `when` of a session policy that is about who calls: names and globs of
// principals and of groups. An empty list holds for everyone.
type Callers struct{ Principal, Group []string }

// Text returns the condition as a policy file spells it.
func (c *Callers) Text() string {
	var parts []formatPart
	for _, f := range []struct {
		key   string
		names []string
	}{{"principal", c.Principal}, {"group", c.Group}} {
		if len(f.names) > 0 {
			parts = append(parts, namesPart(f.key, f.names))
		}
	}
	return joinParts(parts)
}

// Objection is the mode of calls to which a flow policy objects.
func (s *SessionPolicy) Objection() stopgate.Mode {
	if s.Asks {
		return stopgate.Ask
	}
	return stopgate.Deny
}

// SessionCondition is a condition on the session's data.
type SessionCondition struct {
	Pointer jsonstream.Pointer
	Spec    condition.Spec
	Pos     diag.Range
}

// Handoff is one entry of [[handoffs]] (G2-03, S9, S41).
type Handoff struct {
	From, To []string // names and globs of agents; an empty From is every agent
	Mode     stopgate.Mode
	// Delegate: the receiving agent returns; a turn may have several.
	Delegate bool
	// Inherit: the sender's tool tables apply to the receiver too, the strictest wins.
	Inherit bool
	Reason  string
	// Tool is the name or glob of the tool whose calls are this handoff, "" for none. ToArg names
	// the argument with the receiving agent, else it is the part that "*" matches.
	Tool  string
	ToArg jsonstream.Pointer
	Pos   diag.Range
}

// Success describes how the result of a tool's call is read (S24). Exactly one field is set.
type Success struct {
	ExitCode  jsonstream.Pointer // names a number that must be 0
	Condition *SessionCondition  // on the result as JSON
	Text      *condition.Spec    // a pattern on the result's text
}

// meaning returns the policy in canonical spelling, for hashes.
func (s *SessionPolicy) meaning() string {
	var b strings.Builder
	field := func(name string, v any) { fmt.Fprintf(&b, " %s=%q", name, fmt.Sprint(v)) }
	list := func(name string, texts []string) {
		if len(texts) > 0 {
			field(name, strings.Join(texts, "\x00"))
		}
	}
	b.WriteString(s.Type)
	field("name", s.Name)
	field("off", s.Off)
	for _, w := range s.When {
		field("when", w.meaning())
	}
	for _, c := range s.Callers {
		field("callers", c.Text())
	}
	if s.Asks {
		field("asks", true)
	}
	for _, k := range s.Key {
		field("key", k)
	}
	field("path", s.KeyIsPath)
	if s.KeyIsValue {
		field("value", true)
	}
	field("no_key", s.AllowNoKey)
	field("within", s.Within)
	list("invalidated_by", s.InvalidatedBy)
	field("observed", s.Observed)
	field("unknown", s.AcceptUnknown)
	field("reason", s.Reason)
	list("before", s.Before)
	list("requires", s.Requires)
	list("approvals", s.Approvals)
	field("any", s.Any)
	if s.Per != "" {
		field("per", s.Per)
	}
	list("read", s.ReadTools)
	list("write", s.WriteTools)
	field("hash", s.ContentHash)
	list("tools", s.Tools)
	for _, n := range []*int64{s.MaxCalls, s.MaxInFlight} {
		if n != nil {
			field("max", *n)
		} else {
			field("max", "none")
		}
	}
	field("ttl", s.InFlightTTL)
	field("sum", s.Sum)
	field("max_sum", s.MaxSum)
	field("per_session", s.PerSession)
	field("failures", s.CountFailures)
	if s.Type == SessionFlow {
		list("after", s.After)
		field("effects", s.Effects)
		for _, text := range s.UnlessTexts() {
			field("unless", text)
		}
		for _, text := range s.WhereTexts() {
			field("where", text)
		}
		field("until_user", s.UntilUser)
	}
	return b.String()
}

func (c SessionCondition) meaning() string {
	return c.Pointer.String() + " " + specMeaning(c.Spec)
}

func specMeaning(s condition.Spec) string {
	text := s.Kind.String()
	for _, v := range s.Values {
		text += " " + strconv.Quote(v.JSON)
	}
	return text
}

func (h *Handoff) meaning() string {
	return fmt.Sprintf("%q %q %s %t %t %q %q %q", h.From, h.To, h.Mode, h.Delegate, h.Inherit, h.Tool, h.ToArg.String(), h.Reason)
}

func (s *Success) meaning() string {
	switch {
	case s.Condition != nil:
		return s.Condition.meaning()
	case s.Text != nil:
		return specMeaning(*s.Text)
	}
	return "exit_code " + s.ExitCode.String()
}

// DataKey identifies the condition of a `when` on data for rules of one polarity.
func DataKey(c *SessionCondition, permissive bool) string { return whenKey(c.meaning(), permissive) }

// GroupKey identifies the condition of a `when` on groups for rules of one polarity.
func GroupKey(globs []string, permissive bool) string {
	return whenKey("group\x00"+strings.Join(globs, "\x00"), permissive)
}

func whenKey(meaning string, permissive bool) string {
	polarity := "restricts "
	if permissive {
		polarity = "permits "
	}
	sum := sha256.Sum256([]byte(polarity + meaning))
	return hex.EncodeToString(sum[:8])
}
