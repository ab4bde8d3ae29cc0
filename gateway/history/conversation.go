package history

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gateway/ledger"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
	"github.com/stopgate/stopgate/wire"
)

// Options say whose request it is, and what names a session.
type Options struct {
	Book      *ledger.Book
	Dialect   wire.Dialect
	Principal stopgate.Principal
	Upstream  string // its id: a part of guesses
	// CacheKeyIsSession takes prompt_cache_key of every client for a session.
	CacheKeyIsSession bool
	// ShareSubagents gives sub-agents of Claude Code the session of their parent.
	ShareSubagents bool
	// Failed hears of what could not be read or kept. Nil: nobody does.
	Failed func(what string, err error)
}

// Conversation is what a request is a part of. It is used by one goroutine.
type Conversation struct {
	Session stopgate.SessionID
	// Guessed says that the session follows from what the request says: others may say
	// the same.
	Guessed bool
	// Source is what named the session: "header", "claude-code", "client",
	// "conversation", "response", "cache_key", "guess"; "none" for a session of the
	// request's own.
	Source string

	o     Options
	links []ledger.Call // of the responses that the request continues
	ids   []string      // of the rounds of the response so far
	kept  bool

	released []ledger.Call
	until    time.Time // see Reading
}

// Find finds out which conversation a request belongs to (WIRE 7.3, DECISIONS S22): the
// first source that says something wins. A request that is no turn of a conversation has
// a session of its own that nothing is ever added to (WIRE 4.9).
func Find(ctx context.Context, req *wire.Request, h http.Header, o Options) *Conversation {
	c := &Conversation{o: o}
	hints := &req.Hints
	if !req.Conversational {
		c.alone()
		return c
	}
	c.Session, c.Source = c.named(hints, h)
	switch {
	case c.Session != "":
	case hints.Previous != "":
		if r, ok := c.response(ctx, hints.Previous); ok {
			c.Session, c.links = r.Session, r.Calls
			c.Guessed, c.Source = session.Weak(c.Session), "response"
		} else { // a session about which nothing is known
			c.alone()
		}
	case validName(hints.CacheKey) && (o.CacheKeyIsSession || isCodex(h)):
		c.Session, c.Source = family(h, "cache")+stopgate.SessionID(hints.CacheKey), "cache_key"
	case hints.Opening != "":
		c.Session, c.Guessed, c.Source = session.WeakID(c.fingerprint(hints.Opening)), true, "guess"
	default:
		c.alone()
	}
	return c
}

// alone gives a request a session of its own.
func (c *Conversation) alone() {
	c.Session, c.Guessed, c.Source = session.WeakID(rand.Text()), true, "none"
}

// fail tells of what could not be done.
func (c *Conversation) fail(what string, err error) {
	if c.o.Failed != nil && err != nil {
		c.o.Failed(what, err)
	}
}

// validName reports whether a client's text may name a session.
func validName(s string) bool { return stopgate.ValidToolName(stopgate.ToolName(s)) }

// named is the session that a request names, "" if it names none.
func (c *Conversation) named(hints *wire.Hints, h http.Header) (_ stopgate.SessionID, source string) {
	if id := h.Get("X-Stopgate-Session"); validName(id) {
		return stopgate.SessionID(id), "header"
	}
	id := h.Get("X-Claude-Code-Session-Id")
	if !validName(id) && hints.UserID != "" && !namesSession(h) {
		id = claudeSession(hints.UserID)
	}
	if validName(id) {
		s := stopgate.SessionID("claude-code:" + id)
		if agent := h.Get("X-Claude-Code-Agent-Id"); validName(agent) && !c.o.ShareSubagents {
			s += stopgate.SessionID("/" + agent)
		}
		return s, "claude-code"
	}
	for _, name := range sessionHeaders {
		if id := h.Get(name); validName(id) {
			return family(h, "client") + stopgate.SessionID(id), "client"
		}
	}
	if id := hints.Conversation; validName(id) {
		return stopgate.SessionID("openai:" + id), "conversation"
	}
	return "", ""
}

// sessionHeaders are names under which clients send the id of their session.
var sessionHeaders = [...]string{"Session_id", "Session-Id", "Conversation_id", "Thread-Id", "X-Session-Id"}

func namesSession(h http.Header) bool {
	for _, name := range sessionHeaders {
		if validName(h.Get(name)) {
			return true
		}
	}
	return false
}

// family begins the ids of one kind of client: a hook of the same client finds the
// same session (DECISIONS S22).
func family(h http.Header, other stopgate.SessionID) stopgate.SessionID {
	if isCodex(h) {
		return "codex:"
	}
	return other + ":"
}

func isCodex(h http.Header) bool {
	return strings.HasPrefix(h.Get("User-Agent"), "codex") || strings.HasPrefix(h.Get("Originator"), "codex")
}

// claudeSession reads a session out of Anthropic's metadata.user_id: a text that ends
// in _session_ and an id, or a JSON text with the member session_id.
func claudeSession(user string) string {
	if at := strings.LastIndex(user, "_session_"); at >= 0 && !strings.HasPrefix(user, "{") {
		return user[at+len("_session_"):]
	}
	v, err := jsonstream.Parse([]byte(user), jsonstream.Options{ObjectRoot: true})
	if err != nil {
		return ""
	}
	id, _ := v.Get("session_id")
	return id.Text()
}

// fingerprint is what a request without a session is known by.
func (c *Conversation) fingerprint(opening string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(c.o.Principal), c.o.Upstream, c.o.Dialect.Name(), opening}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
