package approve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/eval/schema"
	"github.com/stopgate/stopgate/session"
)

// Grant answers questions before they are asked. It satisfies an ask - never edit,
// skip or deny - for the reason it was made for: one rule, one floor, or the absence
// of a rule, and no other that wants a person too; and only where every path, command and URL of the call, and every other
// value of up to 256 bytes, is what it was (S34).
type Grant struct {
	ID        string             `json:"id"`
	Principal stopgate.Principal `json:"principal,omitempty"`
	// Session is the session the grant holds in, "" for all of the principal's.
	Session    stopgate.SessionID `json:"session,omitempty"`
	Tool       stopgate.ToolName  `json:"tool"`
	Definition string             `json:"definition,omitempty"` // hash of the tool definition
	Server     stopgate.ServerID  `json:"server,omitempty"`
	// Code and Rule are why the question was asked. A rule is the same one after a
	// reload that left its text alone.
	Code stopgate.Code   `json:"code"`
	Rule stopgate.RuleID `json:"rule,omitempty"`
	// Asking is everything that asked then, Entry.Asking: what asks besides was put
	// before nobody.
	Asking []string `json:"asking,omitempty"`
	Values []Value  `json:"values"` // one for every leaf of the arguments

	By      string    `json:"by"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
	// Limit is how often the grant can be used, 0 for as often as it holds.
	Limit   int       `json:"limit,omitempty"`
	Uses    int       `json:"uses,omitempty"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// How a value of a call is held against a grant's. The zero How holds nothing.
type How string

// The ways.
const (
	Equal How = "equal" // the same JSON value
	Below How = "below" // a path in the directory, or the directory itself
	Words How = "words" // one plain command that begins with these words
	Free  How = "free"  // any string
)

// Value is what a grant wants of one leaf of the arguments.
type Value struct {
	Pointer string `json:"pointer"`
	How     How    `json:"how"`
	// Text is the canonical JSON of Equal, the directory of Below, the words of Words.
	Text string `json:"text,omitempty"`
}

// maxFixed is the longest JSON text of a value, other than a target, that a grant
// fixes. What is longer is content.
const maxFixed = 256

// DefaultGrant is how long a grant holds if nobody says otherwise.
const DefaultGrant = 8 * time.Hour

// Scope says how far a grant reaches beyond the exact call.
type Scope struct {
	// AllSessions lets the grant hold in every session of the principal.
	AllSessions bool
	For         time.Duration // 0: DefaultGrant
	Limit       int           // uses, 0: no limit
	// Wider widens single values by their pointer, to a directory or to first words.
	Wider []Value
}

// ErrNoGrant says that a question cannot be answered for the future.
var ErrNoGrant = errors.New("approve: no grant can stand for this question")

// ErrNotKept says that a yes counts for its call, and for no other.
var ErrNotKept = errors.New("approve: approved once, but the grant could not be kept")

// newGrant makes the narrowest grant that covers an entry within a scope.
func newGrant(e Entry, s Scope, by string, now time.Time) (Grant, error) {
	if s.For <= 0 {
		s.For = DefaultGrant
	}
	g := Grant{
		ID: newID(), Principal: e.Principal, Session: e.Session, Tool: e.Tool, Definition: e.Binding.Definition, Server: e.Server,
		Code: e.Code, By: by, Made: now, Expires: now.Add(s.For), Limit: s.Limit, Asking: e.Asking,
	}
	if e.Rule != nil {
		g.Rule = e.Rule.ID
	}
	if s.AllSessions {
		g.Session = ""
	}
	switch {
	case by == "":
		return Grant{}, ErrNoName
	case !e.Complete:
		return Grant{}, ErrIncomplete
	case e.Binding.Result != "": // what came back is not what will come back
		return Grant{}, fmt.Errorf("%w: it is about a result", ErrNoGrant)
	case e.Session == "":
		return Grant{}, fmt.Errorf("%w: the call belongs to no session", ErrNoGrant)
	case session.Weak(g.Session): // S35
		return Grant{}, fmt.Errorf("%w: its session is only a guess that other conversations may share", ErrNoGrant)
	case e.Mode != stopgate.Ask:
		return Grant{}, fmt.Errorf("%w: the policy says %s, and a grant satisfies only ask", ErrNoGrant, e.Mode)
	case !g.grantable(e.Floors):
		return Grant{}, fmt.Errorf("%w: what it touches is asked about every time", ErrNoGrant)
	}
	for _, l := range e.Leaves {
		v := Value{Pointer: l.Pointer, How: Equal, Text: l.JSON}
		if Content(l) {
			v.How, v.Text = Free, ""
		}
		g.Values = append(g.Values, v)
	}
	for _, w := range s.Wider {
		if err := g.widen(w, e.Leaves); err != nil {
			return Grant{}, err
		}
	}
	return g, nil
}

// Content reports whether a value is a long text that names nothing outside the call:
// a grant leaves it free.
func Content(l gate.Leaf) bool {
	return l.Known && l.Type == "" && len(l.JSON) > maxFixed && l.JSON[0] == '"'
}

// widen replaces one value by a wider one that still covers the call.
func (g *Grant) widen(w Value, leaves []gate.Leaf) error {
	for i, l := range leaves {
		if l.Pointer != w.Pointer {
			continue
		}
		switch {
		case w.How == Below && l.Type != schema.Path.String(), w.How == Words && !runs(l),
			w.How != Below && w.How != Words:
			return fmt.Errorf("%w: %s cannot be widened to %q", ErrNoGrant, w.Pointer, w.How)
		case !w.covers(l):
			return fmt.Errorf("%w: %q does not cover the call's own %s", ErrNoGrant, w.Text, w.Pointer)
		}
		g.Values[i] = w
		return nil
	}
	return fmt.Errorf("%w: the call has no value %s", ErrNoGrant, w.Pointer)
}

// live reports whether the grant can be used at a time. Before it was made it cannot: the
// clock was set back, and nobody knows when it ends (FM13).
func (g Grant) live(now time.Time) bool {
	return g.Revoked.IsZero() && now.Before(g.Expires) && !now.Add(slack).Before(g.Made) && (g.Limit == 0 || g.Uses < g.Limit)
}

// grantable reports whether floors leave room for the grant: only the floor it was
// made for, and never the protected list.
func (g Grant) grantable(floors []stopgate.Floor) bool {
	if g.Code == stopgate.CodeProtectedTarget {
		return false
	}
	for _, f := range floors {
		if f.Code != g.Code {
			return false
		}
	}
	return true
}

// covers reports whether the grant answers a question.
func (g Grant) covers(v gate.View, now time.Time) bool {
	b, verdict := v.Binding, v.Verdict
	var rule stopgate.RuleID
	if verdict.Rule != nil {
		rule = verdict.Rule.ID
	}
	switch {
	case !v.Complete, !g.live(now), verdict.Mode != stopgate.Ask, verdict.Code != g.Code, rule != g.Rule,
		verdict.Code == stopgate.CodeRuleMatched && rule == "",
		b.Principal != g.Principal, b.Session == "", g.Session != "" && b.Session != g.Session,
		b.Result != "", b.Tool != g.Tool, b.Definition != g.Definition, b.Server != g.Server, !g.grantable(verdict.Floors), len(v.Leaves) != len(g.Values):
		return false
	}
	for _, name := range v.Asking {
		if !g.answers(name) {
			return false
		}
	}
	wanted := make(map[string]Value, len(g.Values))
	for _, w := range g.Values {
		wanted[w.Pointer] = w
	}
	for _, l := range v.Leaves {
		w, ok := wanted[l.Pointer]
		if !ok || !w.covers(l) {
			return false
		}
	}
	return true
}

// answers reports whether something that asks was put before whoever gave the grant. A
// grant of an earlier version names what it was made for alone.
func (g Grant) answers(name string) bool {
	if len(g.Asking) == 0 {
		return name == cmp.Or(string(g.Rule), string(g.Code))
	}
	return slices.Contains(g.Asking, name)
}

// covers reports whether a leaf is what the grant wants of it.
func (w Value) covers(l gate.Leaf) bool {
	switch w.How {
	case Equal:
		return l.JSON == w.Text
	case Below:
		return l.Type == schema.Path.String() && begins(schema.Path, w.Text, l.JSON)
	case Words:
		return runs(l) && begins(schema.Command, w.Text, l.JSON)
	case Free:
		return l.Known && l.Type == "" && l.JSON[0] == '"'
	}
	return false
}

// begins reports whether a value begins with a directory or with words, as a rule
// of the policy that permits would have it: what can be read in two ways does not.
func begins(a schema.Annotation, prefix, value string) bool {
	literal := match.Literal{Kind: match.LiteralString, Text: prefix, JSON: strconv.Quote(prefix)}
	m, err := match.Compile(match.Spec{Kind: match.Prefix, Values: []match.Literal{literal}},
		match.Target{Type: schema.String, Annotation: a}, false, match.Env{})
	if err != nil {
		return false
	}
	if words, ok := wordsOf(value); ok {
		var v match.Value
		v.ResetWords(words, true)
		return m.Judge(&v)
	}
	text, ok := textOf(value)
	return ok && m.Whole(text)
}

// Line is the command line that an argument vector of a grant stands for, ok if the value
// is one.
func Line(w Value) (line string, ok bool) {
	words, ok := wordsOf(w.Text)
	if !ok || w.How != Equal {
		return "", false
	}
	return string(match.LineOf(words)), true
}

// runs reports a command line or an argument vector.
func runs(l gate.Leaf) bool {
	return l.Type == schema.Command.String() || l.Type == schema.Argv.String()
}
