package page

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

// sessionLifetime is how long a person is logged in.
const sessionLifetime = 12 * time.Hour

// maxSessions bounds the logged-in browsers; beyond it the oldest is logged out.
const maxSessions = 1000

const cookieName = "stopgate_approver"

// session is a logged-in browser.
type session struct {
	name      string
	tokenHash [sha256.Size]byte // hash of the token of the login
	key       []byte            // key of the tokens and codes in its forms
	since     time.Time

	mu    sync.Mutex
	tries map[string]uint64 // wrong codes, by question
	shown map[string]string // hash of the binding of the questions that were shown in full
}

// sessions are the logged-in browsers, by the hash of their cookie.
type sessions struct {
	mu   sync.Mutex
	by   map[[sha256.Size]byte]*session
	list [][sha256.Size]byte // in the order of login
}

// add logs a person in and returns the value of the cookie.
func (v *sessions) add(name string, token [sha256.Size]byte, now time.Time) string {
	key := make([]byte, 32)
	rand.Read(key)
	cookie := rand.Text()
	id := sha256.Sum256([]byte(cookie))
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.by == nil {
		v.by = map[[sha256.Size]byte]*session{}
	}
	v.by[id] = &session{name: name, tokenHash: token, key: key, since: now, tries: map[string]uint64{}, shown: map[string]string{}}
	v.list = append(v.list, id)
	for len(v.list) > maxSessions {
		delete(v.by, v.list[0])
		v.list = v.list[1:]
	}
	return cookie
}

// find returns the session of a request, or nil.
func (v *sessions) find(r *http.Request, now time.Time) *session {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	found := v.by[sha256.Sum256([]byte(c.Value))]
	if found == nil || now.Sub(found.since) >= sessionLifetime || now.Round(0).Sub(found.since.Round(0)).Abs() >= sessionLifetime {
		return nil // by both clocks, because one of them stops while the machine sleeps (FM13)
	}
	return found
}

// remove logs out the session of a request.
func (v *sessions) remove(r *http.Request) {
	if c, err := r.Cookie(cookieName); err == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.by, sha256.Sum256([]byte(c.Value)))
	}
}

func (v *session) mac(parts ...string) []byte {
	m := hmac.New(sha256.New, v.key)
	for _, part := range parts {
		m.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		m.Write([]byte(part))
	}
	return m.Sum(nil)
}

// token returns the token in every form of the session, which other sites cannot know.
func (v *session) token() string { return hex.EncodeToString(v.mac("form")) }

func (v *session) validToken(r *http.Request) bool {
	return hmac.Equal([]byte(r.PostFormValue("token")), []byte(v.token()))
}

// code returns the code that a yes to a question must contain: four digits that only the page of
// this session shows, and that change after every wrong code.
func (v *session) code(id, seen string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := binary.BigEndian.Uint64(v.mac("code", id, seen, fmt.Sprint(v.tries[id])))
	return fmt.Sprintf("%04d", n%10_000)
}

// validCode reports whether a code is the one that was shown.
func (v *session) validCode(code, id, seen string) bool {
	if hmac.Equal([]byte(strings.TrimSpace(code)), []byte(v.code(id, seen))) {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tries[id]++
	return false
}

// knownHost reports whether a Host header is an address, this machine, or the public name. Any
// other name may have been pointed at this machine by an attacker.
func (p *Pages) knownHost(host string) bool {
	if p.public != nil && strings.EqualFold(host, p.public.Host) {
		return true
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	_, err = netip.ParseAddr(name)
	return err == nil || strings.EqualFold(name, "localhost")
}

// fromHere reports whether a form was sent by a page of this gate.
func (p *Pages) fromHere(r *http.Request) bool {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return false
	}
	origin, err := url.Parse(r.Header.Get("Origin"))
	if err != nil || origin.Scheme != "http" && origin.Scheme != "https" || origin.Host == "" || origin.Path != "" {
		return false
	}
	if p.public != nil && origin.Scheme == p.public.Scheme && strings.EqualFold(origin.Host, p.public.Host) {
		return true
	}
	return strings.EqualFold(origin.Host, r.Host)
}

// cookie returns the cookie of a session; an empty value deletes it.
func (p *Pages) cookie(r *http.Request, value string) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName, Value: value, Path: "/approvals", MaxAge: int(sessionLifetime / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || p.public != nil && p.public.Scheme == "https" && strings.EqualFold(r.Host, p.public.Host),
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}
