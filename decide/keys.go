package decide

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"sync"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/session"
)

// Headers of programs that began a session.
const (
	keyHeader      = "Stopgate-Session-Key"
	approverHeader = "Stopgate-Approver"
)

// keyPrefix begins every key, so that programs that look for secrets find it.
const keyPrefix = "sgk_"

// sessionKeys derive the keys of sessions. A key is not stored: it is the same after a restart, and
// for all gates with the secret.
type sessionKeys struct {
	secret   []byte         // nil: there are no keys
	programs bool           // programs may answer
	queue    *approve.Queue // may be nil
	// own has the ids of the open calls that were proposed with a key, and whose program answers.
	own sync.Map
}

// proposed reports whether the call of a question was proposed with the key of its session. The key
// alone is not enough for a yes: another program may have begun the session first, under a name that
// it guessed, and would approve calls of the program that the session was meant for.
func (k *sessionKeys) proposed(e approve.Entry) bool {
	_, call := k.own.Load(e.Proposal)
	_, edited := k.own.Load(e.Parent)
	return call || edited && e.Parent != ""
}

// of returns the key of a session.
func (k *sessionKeys) of(o session.Owner) string {
	mac := hmac.New(sha256.New, k.secret)
	for _, part := range []string{"session key", string(o.Principal), string(o.Session)} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		mac.Write([]byte(part))
	}
	return keyPrefix + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// opens reports whether a request has the key of a session. Only requests on the Unix socket without a
// token have keys.
func (k *sessionKeys) opens(r *http.Request, who caller, id stopgate.SessionID) bool {
	given := r.Header.Values(keyHeader)
	if k.secret == nil || id == "" || who.scopes&onSocket == 0 || len(given) != 1 {
		return false
	}
	want := k.of(session.Owner{Principal: who.name, Session: id})
	return hmac.Equal([]byte(given[0]), []byte(want))
}

// errKey is the problem of a key that does not open the session of a request.
func errKey() *problem {
	return &problem{Status: http.StatusForbidden, Code: "session_key_invalid", Detail: "the key is not that of this session: the program that began it has it, from POST /v1/sessions on the Unix socket"}
}

// admit gives a caller with the key of the request's session the permission for it. A caller with
// another permission for the route needs no key.
func (k *sessionKeys) admit(r *http.Request, who caller, scope Scope) (caller, *problem) {
	if scope&ownSession == 0 || r.Header.Get(keyHeader) == "" || who.scopes&onSocket == 0 {
		return who, nil
	}
	id, bad := k.sessionOf(r)
	if bad != nil {
		return who, bad
	}
	if !k.opens(r, who, id) {
		return who, errKey()
	}
	who.scopes |= ownSession
	who.session = id
	return who, nil
}

// sessionOf returns the session that a request is about: of its path, of its question, or of its
// query. A question that cannot be read is answered like one of another session.
func (k *sessionKeys) sessionOf(r *http.Request) (stopgate.SessionID, *problem) {
	switch {
	case !strings.Contains(r.Pattern, "/v1/approvals"):
		return stopgate.SessionID(r.PathValue("id")), nil
	case r.PathValue("id") == "":
		return stopgate.SessionID(r.URL.Query().Get("session")), nil
	}
	e, err := k.queue.Entry(r.Context(), r.PathValue("id"))
	if err != nil || e.Principal != Local {
		return "", errKey()
	}
	return e.Session, nil
}

// approver reports whether the program that proposes a call answers questions about it.
func (k *sessionKeys) approver(r *http.Request, who caller, of stopgate.SessionID) (bool, *problem) {
	switch r.Header.Get(approverHeader) {
	case "":
		return false, nil
	case "program":
	default:
		return false, badRequest("bad_approver", approverHeader+" is program, or is not sent")
	}
	switch {
	case !k.opens(r, who, of):
		return false, errKey()
	case !k.programs:
		return false, errPrograms()
	}
	return k.queue != nil, nil
}

func errPrograms() *problem {
	return &problem{Status: http.StatusForbidden, Code: "programs_may_not_answer", Detail: "[approvals] programs is false: another approver has to answer"}
}
