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

// stay is how long somebody is logged in.
const stay = 12 * time.Hour

// maxVisitors bounds how many are logged in at once; the oldest has to log in again.
const maxVisitors = 1000

const cookieName = "stopgate_approver"

// visitor is somebody who is logged in, in one browser.
type visitor struct {
	name  string
	login [sha256.Size]byte // hash of the one they logged in with
	key   []byte            // makes what the visitor's forms carry
	since time.Time

	mu    sync.Mutex
	tries map[string]uint64 // wrong codes, by question
}

// visitors are all of them, by the hash of their cookie.
type visitors struct {
	mu   sync.Mutex
	by   map[[sha256.Size]byte]*visitor
	list [][sha256.Size]byte // in the order in which they came
}

// add lets somebody in and returns the cookie's value.
func (v *visitors) add(name string, token [sha256.Size]byte, now time.Time) string {
	key := make([]byte, 32)
	rand.Read(key)
	cookie := rand.Text()
	id := sha256.Sum256([]byte(cookie))
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.by == nil {
		v.by = map[[sha256.Size]byte]*visitor{}
	}
	v.by[id] = &visitor{name: name, login: token, key: key, since: now, tries: map[string]uint64{}}
	v.list = append(v.list, id)
	for len(v.list) > maxVisitors {
		delete(v.by, v.list[0])
		v.list = v.list[1:]
	}
	return cookie
}

// find returns who sent a request, nil for nobody.
func (v *visitors) find(r *http.Request, now time.Time) *visitor {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return nil
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	found := v.by[sha256.Sum256([]byte(c.Value))]
	if found == nil || now.Sub(found.since) >= stay || now.Round(0).Sub(found.since.Round(0)).Abs() >= stay {
		return nil // by either clock: one of them stands still while the machine sleeps (FM13)
	}
	return found
}

// remove logs somebody out.
func (v *visitors) remove(r *http.Request) {
	if c, err := r.Cookie(cookieName); err == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		delete(v.by, sha256.Sum256([]byte(c.Value)))
	}
}

func (v *visitor) mac(parts ...string) []byte {
	m := hmac.New(sha256.New, v.key)
	for _, part := range parts {
		m.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		m.Write([]byte(part))
	}
	return m.Sum(nil)
}

// token is what every form of the visitor carries: pages of other sites cannot know it.
func (v *visitor) token() string { return hex.EncodeToString(v.mac("form")) }

func (v *visitor) sent(r *http.Request) bool {
	return hmac.Equal([]byte(r.PostFormValue("token")), []byte(v.token()))
}

// code is what a yes to a question must come with: four digits that only this
// visitor's page shows, others after every wrong try.
func (v *visitor) code(id, seen string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	n := binary.BigEndian.Uint64(v.mac("code", id, seen, fmt.Sprint(v.tries[id])))
	return fmt.Sprintf("%04d", n%10_000)
}

// typed reports whether a code is the one that was shown.
func (v *visitor) typed(code, id, seen string) bool {
	if hmac.Equal([]byte(strings.TrimSpace(code)), []byte(v.code(id, seen))) {
		return true
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tries[id]++
	return false
}

// known reports whether a Host header is an address, this machine, or the public name.
// A name of somebody else's may have been made to point here.
func (p *Pages) known(host string) bool {
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

// cookie is the visitor's, or with an empty value the end of it.
func (p *Pages) cookie(r *http.Request, value string) *http.Cookie {
	c := &http.Cookie{
		Name: cookieName, Value: value, Path: "/approvals", MaxAge: int(stay / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil || p.public != nil && p.public.Scheme == "https" && strings.EqualFold(r.Host, p.public.Host),
	}
	if value == "" {
		c.MaxAge = -1
	}
	return c
}
