// Package page shows questions to people in a browser, and takes their answers.
//
//	pages, err := page.New(page.Options{Queue: queue, Login: byToken, PublicURL: "https://gate.example.com"})
//	mux.Handle("/approvals", pages)
//	mux.Handle("/approvals/", pages)
//
// /approvals lists what waits, /approvals/{id} shows one question as the terminal does:
// what would run and why somebody is asked, with every odd character visible. A no is
// one press of a button; a yes needs the code that the page shows, so that nobody
// approves by a slip, and what was shown, so that nobody approves what has changed
// since. The pages work without scripts and load nothing from elsewhere.
//
// What it promises (H21): the address of a question is no credential. People
// log in with a token that may approve; what a browser then holds is a cookie that
// scripts cannot read and that other sites' pages do not send. Every POST must come
// from the page itself (Origin, Sec-Fetch-Site and a token in the form). No page can be
// framed, or cached. A Host that is a name other than localhost and the public one is
// refused, so that a rebound name reaches nothing. A question is answered once:
// whoever comes later is told who did.
package page

import (
	"crypto/sha256"
	"embed"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"time"

	"github.com/stopgate/stopgate/approve"
)

// Options set up [Pages].
type Options struct {
	// Queue has the questions; required.
	Queue *approve.Queue
	// Login says who has the token with this SHA-256, if that one may approve; required. It
	// is asked with every request: a token that was taken back logs out.
	Login func(sum [sha256.Size]byte) (name string, ok bool)
	// PublicURL is where browsers find the pages if not at the address of the listener:
	// http://HOST or https://HOST. "" for none.
	PublicURL string
	Now       func() time.Time // nil for the machine's clock
}

// Pages is an [http.Handler] for /approvals and everything below. It may be used from
// several goroutines.
type Pages struct {
	queue    *approve.Queue
	login    func([sha256.Size]byte) (string, bool)
	public   *url.URL // nil for none
	now      func() time.Time
	mux      *http.ServeMux
	visitors visitors
}

//go:embed style.css
var files embed.FS

// maxForm bounds what a form may send: edited arguments and a reason. maxLogin bounds the
// form of people who are not logged in, and maxSending the time for either.
const (
	maxForm    = 20 << 20
	maxLogin   = 16 << 10
	maxSending = time.Minute
)

// New makes the pages.
func New(o Options) (*Pages, error) {
	if o.Queue == nil || o.Login == nil {
		return nil, errors.New("page: the pages need a queue and a way to log in")
	}
	p := &Pages{queue: o.Queue, login: o.Login, now: o.Now, mux: http.NewServeMux()}
	if p.now == nil {
		p.now = time.Now
	}
	if o.PublicURL != "" {
		u, err := url.Parse(o.PublicURL)
		if err != nil || u.Host == "" {
			return nil, errors.New("page: the public URL must be http://HOST or https://HOST")
		}
		p.public = u
	}
	p.mux.HandleFunc("GET /approvals", p.inside(p.list))
	p.mux.HandleFunc("GET /approvals/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/approvals", http.StatusSeeOther)
	})
	p.mux.HandleFunc("GET /approvals/{id}", p.inside(p.show))
	p.mux.HandleFunc("POST /approvals/{id}", p.inside(p.answer))
	p.mux.HandleFunc("POST /approvals/-/login", p.enter)
	p.mux.HandleFunc("POST /approvals/-/logout", p.inside(p.leave))
	p.mux.HandleFunc("GET /approvals/-/style.css", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFileFS(w, r, files, "style.css")
	})
	p.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		p.render(w, http.StatusNotFound, message{Title: "not found", Text: "There is no such page."})
	})
	return p, nil
}

// ServeHTTP implements [http.Handler].
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	// Without a referrer at all browsers send no Origin with a form either.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !p.known(r.Host):
		p.render(w, http.StatusForbidden, message{
			Title: "unknown host",
			Text:  "This gate does not know itself by this name. Use its address, or set [api] public_url to the name.",
		})
	case r.Method == http.MethodPost && !p.fromHere(r):
		p.render(w, http.StatusForbidden, message{
			Title: "not from here", Text: "The answer did not come from a page of this gate, and was not taken.",
		})
	case r.Method == http.MethodPost && !isForm(r):
		p.render(w, http.StatusUnsupportedMediaType, message{Title: "no form", Text: "The answer is not a form of these pages, and was not taken."})
	default:
		limit := int64(maxForm)
		if r.URL.Path == "/approvals/-/login" {
			limit = maxLogin
		}
		r.Body = http.MaxBytesReader(w, r.Body, limit)
		if r.Method == http.MethodPost { // where a channel has no deadlines nobody can be slow
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(maxSending))
		}
		p.mux.ServeHTTP(w, r)
	}
}

// isForm reports the one way in which these pages send forms.
func isForm(r *http.Request) bool {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return err == nil && kind == "application/x-www-form-urlencoded"
}

// render writes a page.
func (p *Pages) render(w http.ResponseWriter, status int, v view) {
	var m markup
	v.write(&m)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, m.out.String()) // whoever left does not miss it
}
