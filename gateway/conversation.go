package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// converse finds out which conversation a request belongs to (WIRE 7.3, DECISIONS
// S22): the first source that says something wins. A request that is no turn of a
// conversation has a session of its own that nothing is ever added to (WIRE 4.9).
func (x *exchange) converse(h http.Header) {
	hints := &x.req.Hints
	if !x.req.Conversational {
		x.session, x.guessed = session.WeakID(rand.Text()), true
		return
	}
	x.session = x.named(h)
	switch {
	case x.session != "":
	case hints.Previous != "" && x.continued(hints.Previous):
		x.guessed = session.Weak(x.session)
	case hints.Previous != "": // a session about which nothing is known
		x.session, x.guessed = session.WeakID(rand.Text()), true
	case validName(hints.CacheKey) && (x.settings.CacheKeyIsSession || isCodex(h)):
		x.session = family(h, "cache") + stopgate.SessionID(hints.CacheKey)
	case hints.Opening != "":
		x.session, x.guessed = session.WeakID(x.fingerprint(hints.Opening)), true
	default:
		x.session, x.guessed = session.WeakID(rand.Text()), true
	}
}

// named is the session that a request names, "" if it names none.
func (x *exchange) named(h http.Header) stopgate.SessionID {
	if id := h.Get("X-Stopgate-Session"); validName(id) {
		return stopgate.SessionID(id)
	}
	id := h.Get("X-Claude-Code-Session-Id")
	if !validName(id) && x.req.Hints.UserID != "" && !namesSession(h) {
		id = claudeSession(x.req.Hints.UserID)
	}
	if validName(id) {
		s := stopgate.SessionID("claude-code:" + id)
		if agent := h.Get("X-Claude-Code-Agent-Id"); validName(agent) && !x.settings.ShareSubagents {
			s += stopgate.SessionID("/" + agent)
		}
		return s
	}
	for _, name := range sessionHeaders {
		if id := h.Get(name); validName(id) {
			return family(h, "client") + stopgate.SessionID(id)
		}
	}
	if id := x.req.Hints.Conversation; validName(id) {
		return stopgate.SessionID("openai:" + id)
	}
	return ""
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
func (x *exchange) fingerprint(opening string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{string(x.principal), x.upstream.ID, x.dialect.Name(), opening}, "\x00")))
	return hex.EncodeToString(sum[:16])
}
