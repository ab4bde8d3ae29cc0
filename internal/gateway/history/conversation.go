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
	"github.com/stopgate/stopgate/internal/gateway/responselog"
	"github.com/stopgate/stopgate/internal/provider"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// Options configure Find for one request.
type Options struct {
	Log       *responselog.Log
	Dialect   provider.Dialect
	Principal stopgate.Principal
	Upstream  string // id of the upstream; part of the fingerprint of a guessed session
	// CacheKeyIsSession uses prompt_cache_key of every client as the id of a session.
	CacheKeyIsSession bool
	// ShareSubagents gives sub-agents of Claude Code the session of their parent.
	ShareSubagents bool
	// Failed receives errors of the response log and of recording results. It may be nil.
	Failed func(what string, err error)
}

// Conversation is the conversation of one request. It is not safe for concurrent use.
type Conversation struct {
	Session stopgate.SessionID
	// Guessed is true if the session id is derived from the content of the request. Other clients
	// can send the same content.
	Guessed bool
	// Source is the origin of the session id: "header", "claude-code", "client", "conversation",
	// "response", "cache_key" or "guess"; "none" if the request has a session of its own.
	Source string

	o         Options
	continued []responselog.Call // calls of the responses that the request continues
	rounds    []string           // ids of the earlier rounds of this response
	saved     bool

	releasedCalls []responselog.Call
	until         time.Time // see SetReadUntil
	past          *pastResults
	delegated     bool // the request is one of a sub-agent
}

// Find identifies the conversation of a request (S22). It uses the first source that names a
// session. A request that is not a turn of a conversation gets a session of its own, to which no
// fact is ever added.
func Find(ctx context.Context, req *provider.Request, h http.Header, o Options) *Conversation {
	c := &Conversation{o: o, delegated: h.Get("X-Claude-Code-Agent-Id") != ""}
	hints := &req.Hints
	if !req.Conversational {
		c.isolate()
		return c
	}
	c.Session, c.Source = c.named(hints, h)
	switch {
	case c.Session != "":
	case hints.PreviousResponse != "":
		if r, ok := c.response(ctx, hints.PreviousResponse); ok {
			c.Session, c.continued = r.Session, r.Calls
			c.Guessed, c.Source = session.Weak(c.Session), "response"
		} else { // unknown response: its session is unknown too
			c.isolate()
		}
	case validName(hints.CacheKey) && (o.CacheKeyIsSession || isCodex(h)):
		c.Session, c.Source = family(h, "cache")+stopgate.SessionID(hints.CacheKey), "cache_key"
	case hints.OpeningHash != "":
		c.Session, c.Guessed, c.Source = session.WeakID(c.fingerprint(hints.OpeningHash)), true, "guess"
	default:
		c.isolate()
	}
	return c
}

// isolate gives the request a session of its own.
func (c *Conversation) isolate() {
	c.Session, c.Guessed, c.Source = session.WeakID(rand.Text()), true, "none"
}

// fail reports an error of an operation to Options.Failed.
func (c *Conversation) fail(what string, err error) {
	if c.o.Failed != nil && err != nil {
		c.o.Failed(what, err)
	}
}

// validName reports whether a client's text is acceptable as the id of a session.
func validName(s string) bool { return stopgate.ValidToolName(stopgate.ToolName(s)) }

// named returns the session that a request names and the source of the name, or "".
func (c *Conversation) named(hints *provider.Hints, h http.Header) (_ stopgate.SessionID, source string) {
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

// sessionHeaders are the headers in which clients send the id of their session.
var sessionHeaders = [...]string{"Session_id", "Session-Id", "Conversation_id", "Thread-Id", "X-Session-Id"}

func namesSession(h http.Header) bool {
	for _, name := range sessionHeaders {
		if validName(h.Get(name)) {
			return true
		}
	}
	return false
}

// family returns the prefix of session ids of one kind of client. A hook of the same client uses
// the same prefix and therefore the same session (S22).
func family(h http.Header, other stopgate.SessionID) stopgate.SessionID {
	if isCodex(h) {
		return "codex:"
	}
	return other + ":"
}

func isCodex(h http.Header) bool {
	return strings.HasPrefix(h.Get("User-Agent"), "codex") || strings.HasPrefix(h.Get("Originator"), "codex")
}

// claudeSession extracts the session id from Anthropic's metadata.user_id, which is either a text
// that ends in "_session_" and the id, or a JSON object with the member session_id.
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

// fingerprint returns the id of a guessed session: a hash of principal, upstream, dialect and the
// first message.
func (c *Conversation) fingerprint(opening string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(c.o.Principal), c.o.Upstream, c.o.Dialect.Name(), opening}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
