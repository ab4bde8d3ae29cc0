package approve

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/condition"
	"github.com/stopgate/stopgate/internal/condition/commandline"
	"github.com/stopgate/stopgate/internal/condition/kinds"
	"github.com/stopgate/stopgate/internal/condition/match"
	"github.com/stopgate/stopgate/internal/condition/shell/programs"
	"github.com/stopgate/stopgate/internal/schema"
	"github.com/stopgate/stopgate/session"
)

// Grant answers questions in advance. It satisfies an ask, never edit, skip or deny, for the reason
// of its question: one rule, one floor, or the absence of a rule, and no other rule that asks, too.
// Every path, command and URL of the call, and every other value of up to 256 bytes, must be equal
// to that of the original call (S34).
type Grant struct {
	ID        string             `json:"id"`
	Principal stopgate.Principal `json:"principal,omitempty"`
	// Session is the session of the grant, or "" for all sessions of the principal.
	Session    stopgate.SessionID `json:"session,omitempty"`
	Tool       stopgate.ToolName  `json:"tool"`
	Definition string             `json:"definition,omitempty"` // hash of the tool definition
	Server     stopgate.ServerID  `json:"server,omitempty"`
	// Code and Rule are the reason of the question. A rule keeps its identity across reloads that
	// do not change its text.
	Code stopgate.Code   `json:"code"`
	Rule stopgate.RuleID `json:"rule,omitempty"`
	// Asking is Entry.Asking of the question. A rule that asks and is not in it was never put to a
	// person.
	Asking []string `json:"asking,omitempty"`
	Values []Value  `json:"values"` // one for each leaf of the arguments

	// Requirement is that of the question. The grant answers no question with another one.
	Requirement Requirement `json:"requirement,omitzero"`

	By      string    `json:"by"`
	Made    time.Time `json:"made"`
	Expires time.Time `json:"expires"`
	// Limit is the number of uses, 0 for any number.
	Limit   int       `json:"limit,omitempty"`
	Uses    int       `json:"uses,omitempty"`
	Revoked time.Time `json:"revoked,omitzero"`
}

// How is the comparison of a value of a call with the value of a grant. The zero How never matches.
type How string

// The comparisons.
const (
	Equal How = "equal" // the same JSON value
	Below How = "below" // a path in the directory, or the directory itself; a URL below this one
	Words How = "words" // one plain command that begins with these words
	// Like is one plain command with these words and no others, where "DIR/*" is the plain name of a
	// file below DIR, and "*" a plain name or the message of git commit.
	Like How = "like"
	Free How = "free" // any string
	// Open is any value of a parameter, or none, without the paths, commands and URLs in it. It is possible
	// for parameters that the table of known tools lets vary.
	Open How = "open"
)

// Value is the condition of a grant on one leaf of the arguments.
type Value struct {
	Pointer string `json:"pointer"`
	How     How    `json:"how"`
	// Text is the canonical JSON of Equal, the directory or URL of Below, or the words of Words and
	// Like.
	Text string `json:"text,omitempty"`
}

// maxComparedValue is the longest JSON text of a value, other than a target, that a grant compares.
// Longer values are content.
const maxComparedValue = 256

// DefaultGrant is the default lifetime of a grant.
const DefaultGrant = 8 * time.Hour

// Scope is the extent of a grant beyond the exact call.
type Scope struct {
	// AllSessions extends the grant to every session of the principal.
	AllSessions bool
	For         time.Duration // 0: DefaultGrant
	Limit       int           // uses, 0: no limit
	// Wider widens single values, given by their pointer: to a directory, a host, commands that
	// are alike, or any value.
	Wider []Value
}

// ErrNoGrant reports that no grant is possible for a question.
var ErrNoGrant = errors.New("approve: no grant is possible for this question")

// ErrNotKept reports that a call was approved, but its grant was not stored.
var ErrNotKept = errors.New("approve: approved once, but the grant could not be kept")

// newGrant returns the narrowest grant that covers an entry within a scope.
func newGrant(e Entry, s Scope, by string, now time.Time) (Grant, error) {
	if s.For <= 0 {
		s.For = DefaultGrant
	}
	g := Grant{
		ID: newID(), Principal: e.Principal, Session: e.Session, Tool: e.Tool, Definition: e.Binding.Definition, Server: e.Server,
		Code: e.Code, By: by, Made: now, Expires: now.Add(s.For), Limit: s.Limit, Asking: e.Asking, Requirement: e.Requirement,
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
	case e.Binding.Result != "": // later results will differ
		return Grant{}, fmt.Errorf("%w: it is about a result", ErrNoGrant)
	case e.Session == "":
		return Grant{}, fmt.Errorf("%w: the call belongs to no session", ErrNoGrant)
	case session.Weak(g.Session): // S35
		return Grant{}, fmt.Errorf("%w: its session is only a guess that other conversations may share", ErrNoGrant)
	case e.Mode != stopgate.Ask:
		return Grant{}, fmt.Errorf("%w: the policy says %s, and a grant satisfies only ask", ErrNoGrant, e.Mode)
	case len(e.Missing) > 0:
		return Grant{}, fmt.Errorf("%w: a session policy asks about every call", ErrNoGrant)
	case !g.grantable(e.Floors):
		return Grant{}, fmt.Errorf("%w: what it touches is asked about every time", ErrNoGrant)
	}
	for _, l := range e.Leaves {
		if isOpened(s.Wider, l) || isEmpty(l) && opened(s.Wider) != nil {
			continue
		}
		v := Value{Pointer: l.Pointer, How: Equal, Text: l.JSON}
		if Content(l) {
			v.How, v.Text = Free, ""
		}
		g.Values = append(g.Values, v)
	}
	for _, w := range s.Wider {
		if w.How == Open {
			if w.Text != "" || !slices.Contains(e.varying(), w.Pointer) {
				return Grant{}, fmt.Errorf("%w: %s of %s cannot be left open", ErrNoGrant, w.Pointer, e.Tool)
			}
			g.Values = append(g.Values, w)
			continue
		}
		if err := g.widen(w, e.Leaves); err != nil {
			return Grant{}, err
		}
	}
	return g, nil
}

// Content reports whether a value is a long text without names of files, hosts or programs,
// which a grant does not compare.
func Content(l gate.Leaf) bool {
	return l.Known && l.Type == "" && len(l.JSON) > maxComparedValue && l.JSON[0] == '"'
}

// widen replaces one value by a wider one that covers the call.
func (g *Grant) widen(w Value, leaves []gate.Leaf) error {
	for _, l := range leaves {
		i := slices.IndexFunc(g.Values, func(v Value) bool { return v.Pointer == w.Pointer })
		if l.Pointer != w.Pointer || i < 0 {
			continue
		}
		switch {
		case w.How == Below && l.Type != schema.Path.String() && l.Type != schema.URL.String(), (w.How == Words || w.How == Like) && !isCommand(l),
			w.How != Below && w.How != Words && w.How != Like:
			return fmt.Errorf("%w: %s cannot be widened to %q", ErrNoGrant, w.Pointer, w.How)
		case w.How == Words && runsAnything(w.Text):
			return fmt.Errorf("%w: %s alone may run anything: name more of its words", ErrNoGrant, w.Text)
		case !w.covers(l):
			return fmt.Errorf("%w: %q does not cover the call's own %s", ErrNoGrant, w.Text, w.Pointer)
		}
		g.Values[i] = w
		return nil
	}
	return fmt.Errorf("%w: the call has no value %s", ErrNoGrant, w.Pointer)
}

// live reports whether the grant can be used at a time. It cannot be used before its creation: then
// the clock was set back, and its end is unknown (FM13).
func (g Grant) live(now time.Time) bool {
	return g.Revoked.IsZero() && now.Before(g.Expires) && !now.Add(clockSkew).Before(g.Made) && (g.Limit == 0 || g.Uses < g.Limit)
}

// grantable reports whether all floors are the floor of the grant, and none is the protected list.
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
	case !v.Complete, len(v.Missing) > 0, b.Objections != "", !g.live(now), verdict.Mode != stopgate.Ask, verdict.Code != g.Code, rule != g.Rule,
		verdict.Code == stopgate.CodeRuleMatched && rule == "",
		b.Principal != g.Principal, b.Session == "", g.Session != "" && b.Session != g.Session,
		b.Result != "", b.Tool != g.Tool, b.Definition != g.Definition, b.Server != g.Server, !g.grantable(verdict.Floors):
		return false
	}
	for _, name := range v.Asking {
		if !g.wasAsked(name) {
			return false
		}
	}
	wanted := make(map[string]Value, len(g.Values))
	for _, w := range g.Values {
		if w.How != Open {
			wanted[w.Pointer] = w
		}
	}
	for _, l := range v.Leaves {
		w, ok := wanted[l.Pointer]
		switch {
		case isEmpty(l) && opened(g.Values) != nil:
		case ok && w.covers(l):
			delete(wanted, l.Pointer)
		case ok || !isOpened(g.Values, l):
			return false
		}
	}
	return len(wanted) == 0
}

// leaves reports whether the condition leaves a leaf open.
func (w Value) leaves(l gate.Leaf) bool {
	return w.How == Open && l.Known && l.Type == "" && (l.Pointer == w.Pointer || strings.HasPrefix(l.Pointer, w.Pointer+"/"))
}

// wasAsked reports whether a rule or list that asks now was part of the question of the grant. A
// grant of an earlier version names only its own reason.
func (g Grant) wasAsked(name string) bool {
	if len(g.Asking) == 0 {
		return name == cmp.Or(string(g.Rule), string(g.Code))
	}
	return slices.Contains(g.Asking, name)
}

// covers reports whether a leaf meets the condition.
func (w Value) covers(l gate.Leaf) bool {
	switch w.How {
	case Equal:
		return l.JSON == w.Text
	case Below:
		return l.Type == schema.Path.String() && hasPrefix(schema.Path, w.Text, l.JSON) ||
			l.Type == schema.URL.String() && hasPrefix(schema.URL, w.Text, l.JSON)
	case Words:
		return isCommand(l) && hasPrefix(schema.Command, w.Text, l.JSON)
	case Like:
		return isCommand(l) && like(w.Text, l.JSON)
	case Free:
		return l.Known && l.Type == "" && l.JSON[0] == '"'
	}
	return false
}

// hasPrefix reports whether a value begins with a directory or with words, under the rules of a
// permit in a policy: an ambiguous value does not.
func hasPrefix(a schema.Annotation, prefix, value string) bool {
	literal := condition.Literal{Kind: condition.LiteralString, Text: prefix, JSON: strconv.Quote(prefix)}
	m, err := match.Compile(kinds.Table().Spec(condition.Prefix, literal),
		condition.Target{Type: schema.String, Annotation: a}, false, condition.Env{})
	if err != nil {
		return false
	}
	return judges(m, value)
}

// runsAnything reports whether first words only name a program that runs code.
func runsAnything(words string) bool {
	list := strings.Fields(words)
	return len(list) == 1 && programs.TakesCode([]byte(list[0]))
}

// Line returns the command line of an argument vector in a grant; ok is false for other values.
func Line(w Value) (line string, ok bool) {
	words, ok := wordsOf(w.Text)
	if !ok || w.How != Equal {
		return "", false
	}
	return string(commandline.AppendWords(nil, words)), true
}

// isCommand reports whether a leaf is a command line or an argument vector.
func isCommand(l gate.Leaf) bool {
	return l.Type == schema.Command.String() || l.Type == schema.Argv.String()
}
