package decide

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/jsonstream"
	"github.com/stopgate/stopgate/session"
)

// sessionRoutes serves the state of sessions.
type sessionRoutes struct {
	gate  *gate.Gate
	store gate.Store // if nil, sessions can be created only
	keys  *sessionKeys
}

func (s *sessionRoutes) add(route addRoute) {
	route("POST /v1/sessions", Decide, s.newSession)
	route("POST /v1/sessions/{id}/texts", Texts|ownSession, s.addTexts, "principal")
	route("POST /v1/sessions/{id}/facts", Texts|ownSession, s.addFact, "principal")
	if s.store == nil {
		return
	}
	route("GET /v1/sessions", Operate, s.sessions, "principal", "limit")
	route("GET /v1/sessions/{id}/facts", Operate, s.facts, "principal", "after", "limit")
	route("PUT /v1/sessions/{id}/data", Operate|ownSession, s.setData, "principal")
	route("POST /v1/sessions/{id}/snapshot", Operate, s.snapshot, "principal")
	route("POST /v1/sessions/{id}/restore", Operate, s.restore, "principal")
	route("POST /v1/sessions/{id}/reset", Operate, s.reset, "principal")
}

// newSession handles POST /v1/sessions. Its id is unpredictable (H6), or a name of the program's own;
// on the Unix socket the program gets the key of the session.
func (s *sessionRoutes) newSession(w http.ResponseWriter, r *http.Request, who caller) *problem {
	name := ""
	if r.ContentLength != 0 {
		body, err := readBody(w, r, maxBody)
		if err != nil {
			return badRequest("body_unreadable", "the body is too long or ended early")
		}
		var m map[string]jsonstream.Value
		var bad *problem
		if len(body) > 0 {
			m, bad = object(body, "session")
		}
		if bad == nil {
			name, bad = nameMember(m, "session", false, maxName)
		}
		if bad != nil {
			return bad
		}
	}
	own := session.Owner{Principal: who.name, Session: stopgate.SessionID(name)}
	keyed := who.scopes&onSocket != 0 && s.keys.secret != nil
	switch {
	case name != "" && !keyed:
		return badRequest("no_key", "only the Unix socket gives keys of sessions with a name; other clients choose names in their calls")
	case name == "":
		own.Session = stopgate.SessionID(rand.Text())
	}
	if !keyed {
		writeJSON(w, http.StatusCreated, map[string]string{"session": string(own.Session)})
		return nil
	}
	err := s.gate.Begin(r.Context(), own)
	switch {
	case errors.Is(err, gate.ErrBegun):
		return &problem{Status: http.StatusConflict, Code: "session_exists", Detail: "the session has begun already: choose another name, or none"}
	case err != nil:
		return unavailable("the store of sessions")
	}
	writeJSON(w, http.StatusCreated, map[string]string{"session": string(own.Session), "key": s.keys.of(own)})
	return nil
}

// sessions handles GET /v1/sessions.
func (s *sessionRoutes) sessions(w http.ResponseWriter, r *http.Request, _ caller) *problem {
	most, bad := limit(r)
	if bad != nil {
		return bad
	}
	list, err := s.store.Sessions(r.Context(), stopgate.Principal(r.URL.Query().Get("principal")), most)
	if err != nil {
		return unavailable("the store of sessions")
	}
	infos := make([]sessionInfo, len(list))
	for i, one := range list {
		infos[i] = sessionInfo{
			Principal: one.Owner.Principal, Session: one.Owner.Session, Facts: one.Facts,
			First: time.UnixMilli(one.First).UTC(), Last: time.UnixMilli(one.Last).UTC(), Head: one.Head,
		}
	}
	writeJSON(w, http.StatusOK, map[string][]sessionInfo{"sessions": infos})
	return nil
}

// sessionInfo is a session in a list.
type sessionInfo struct {
	Session   stopgate.SessionID `json:"session"`
	Principal stopgate.Principal `json:"principal"`
	Facts     int64              `json:"facts"` // number of facts
	First     time.Time          `json:"first"`
	Last      time.Time          `json:"last"`
	Head      uint64             `json:"head"` // position of the last fact
}

// owner returns the session of a request. Its principal is the caller unless the request names one.
// If an operator names none and the session belongs to another principal, the problem reports it:
// the caller's own session of that name would be a different, empty one.
func (s *sessionRoutes) owner(r *http.Request, who caller) (session.Owner, *problem) {
	own := session.Owner{Principal: who.name, Session: stopgate.SessionID(r.PathValue("id"))}
	if who.session != "" { // its key is for its own session
		return own, errForeign(r)
	}
	if name := r.URL.Query().Get("principal"); name != "" {
		own.Principal = stopgate.Principal(name)
		return own, nil
	}
	facts, err := s.store.Facts(r.Context(), own, 0, 1)
	if err != nil {
		return own, unavailable("the store of sessions")
	}
	if len(facts) > 0 {
		return own, nil
	}
	whose, err := s.store.Principals(r.Context(), own.Session, maxNamed+3)
	if err != nil {
		return own, unavailable("the store of sessions")
	}
	var others []string
	for _, name := range whose {
		if name != own.Principal && name != "" { // callers without a principal cannot name one
			others = append(others, strconv.Quote(string(name)))
		}
	}
	if len(others) > maxNamed {
		others = append(others[:maxNamed], "others")
	}
	if len(others) > 0 {
		return own, &problem{Status: http.StatusNotFound, Code: "principal_needed", Detail: fmt.Sprintf(
			"%q, who asks, has no session of this name, but %s: say whose with ?principal=NAME", own.Principal, strings.Join(others, ", "))}
	}
	return own, nil
}

// errForeign refuses a request with a key that names a principal.
func errForeign(r *http.Request) *problem {
	if r.URL.Query().Has("principal") {
		return errKey()
	}
	return nil
}

// maxNamed limits the principals that a problem lists.
const maxNamed = 8

// facts handles GET /v1/sessions/{id}/facts.
func (s *sessionRoutes) facts(w http.ResponseWriter, r *http.Request, who caller) *problem {
	after, bad := position(r)
	if bad != nil {
		return bad
	}
	most, bad := limit(r)
	if bad != nil {
		return bad
	}
	of, bad := s.owner(r, who)
	if bad != nil {
		return bad
	}
	list, err := s.store.Facts(r.Context(), of, after, most)
	if err != nil {
		return unavailable("the store of sessions")
	}
	if list == nil {
		list = []session.Fact{}
	}
	writeJSON(w, http.StatusOK, map[string][]session.Fact{"facts": list})
	return nil
}

// setData handles PUT /v1/sessions/{id}/data: it replaces the session's data with the body.
func (s *sessionRoutes) setData(w http.ResponseWriter, r *http.Request, who caller) *problem {
	body, err := readBody(w, r, 1<<20)
	if err != nil {
		return badRequest("body_unreadable", "the body is too long or ended early")
	}
	if _, bad := anyObject(body); bad != nil {
		return bad
	}
	of, bad := s.owner(r, who)
	if bad != nil {
		return bad
	}
	if err := s.gate.SetData(r.Context(), of, body); err != nil {
		return unavailable("the store of sessions")
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// addFact handles POST /v1/sessions/{id}/facts: the program that runs the agent reports that a person
// gave an approval or sent a message. No call and no result makes such a fact.
func (s *sessionRoutes) addFact(w http.ResponseWriter, r *http.Request, who caller) *problem {
	m, bad := members(w, r, "approved", "spoke")
	if bad != nil {
		return bad
	}
	name, bad := nameMember(m, "approved", false, maxName)
	if bad != nil {
		return bad
	}
	spoke, _, bad := boolean(m, "spoke")
	if bad != nil {
		return bad
	}
	if (name == "") == !spoke {
		return badRequest("member_missing", "either approved, the name of an approval, or spoke, true")
	}
	of, bad := s.target(r, who)
	if bad != nil {
		return bad
	}
	by := string(who.name)
	if who.session != "" {
		if !spoke && !s.keys.programs {
			return errPrograms()
		}
		by = program
	}
	var err error
	if spoke {
		err = s.gate.Spoke(r.Context(), of)
	} else {
		err = s.gate.Approved(r.Context(), of, name, by)
	}
	if err != nil {
		return unavailable("the store of sessions")
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// target returns the session that the program of a request reports about; there may be no facts of
// it yet, nor a store that lists sessions.
func (s *sessionRoutes) target(r *http.Request, who caller) (session.Owner, *problem) {
	if s.store != nil || who.session != "" {
		return s.owner(r, who)
	}
	own := session.Owner{Principal: who.name, Session: stopgate.SessionID(r.PathValue("id"))}
	if name := r.URL.Query().Get("principal"); name != "" {
		own.Principal = stopgate.Principal(name)
	}
	return own, nil
}

// program is the name of answers and approvals that a program gives with the key of its session.
const program = "program"

// snapshot handles POST /v1/sessions/{id}/snapshot.
func (s *sessionRoutes) snapshot(w http.ResponseWriter, r *http.Request, who caller) *problem {
	of, bad := s.owner(r, who)
	if bad != nil {
		return bad
	}
	sealed, err := s.gate.Snapshot(r.Context(), of)
	if err != nil {
		return unavailable("the store of sessions, or the key of snapshots,")
	}
	writeJSON(w, http.StatusOK, map[string]string{"snapshot": string(sealed)})
	return nil
}

// restore handles POST /v1/sessions/{id}/restore: it restores a session to a snapshot (H7).
func (s *sessionRoutes) restore(w http.ResponseWriter, r *http.Request, who caller) *problem {
	m, bad := members(w, r, "snapshot")
	if bad != nil {
		return bad
	}
	sealed, bad := text(m, "snapshot", true)
	if bad != nil {
		return bad
	}
	of, bad := s.owner(r, who)
	if bad != nil {
		return bad
	}
	err := s.gate.Restore(r.Context(), of, []byte(sealed), gate.Rewind{By: string(who.name)})
	switch {
	case errors.Is(err, gate.ErrSnapshot):
		return &problem{Status: http.StatusConflict, Code: "snapshot_rejected", Detail: err.Error()}
	case err != nil:
		return unavailable("the store of sessions")
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// reset handles POST /v1/sessions/{id}/reset: it lets a session continue that is uncertain or was
// stopped (FM16, S28).
func (s *sessionRoutes) reset(w http.ResponseWriter, r *http.Request, who caller) *problem {
	of, bad := s.owner(r, who)
	if bad != nil {
		return bad
	}
	if err := s.gate.Reconcile(r.Context(), of, string(who.name)); err != nil {
		return unavailable("the store of sessions")
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
