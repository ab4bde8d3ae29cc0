// Package page shows questions to people in a browser, and accepts their answers.
//
//	pages, err := page.New(page.Options{Queue: queue, Login: byToken, PublicURL: "https://gate.example.com"})
//	mux.Handle("/approvals", pages)
//	mux.Handle("/approvals/", pages)
//
// /approvals lists the waiting questions, /approvals/{id} shows one as the terminal does: the call
// and the reason of the question, with every unusual character visible. A no takes one press of a
// button. A yes also requires the code on the page, against mistakes, and the hash of the call
// that was shown, so that a changed call is not approved. The pages use no scripts and no
// resources of other sites. Questions that were each shown in full can be answered together from the
// list.
//
// Guarantees (H21): the address of a question is no credential. People log in with a token that may
// approve; the browser then holds a cookie that scripts cannot read and that is not sent from other
// sites. Every POST must come from the page itself (Origin, Sec-Fetch-Site and a token in the
// form). No page can be framed or cached. A Host that is a name other than localhost and the public
// name is refused, as protection against DNS rebinding. A question is answered once; later answers
// are refused and show who gave the first.
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

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
)

// Options configure [Pages].
type Options struct {
	// Queue is the queue of the questions; required.
	Queue *approve.Queue
	// Login returns the owner of the token with this SHA-256, if the token may approve; required.
	// It is called for every request, so that revoking a token logs out.
	Login func(sum [sha256.Size]byte) (name string, groups stopgate.Groups, ok bool)
	// PublicURL is the address of the pages for browsers, http://HOST or https://HOST, if it is not
	// that of the listener.
	PublicURL string
	Now       func() time.Time // nil is time.Now
}

// Pages is an [http.Handler] for /approvals and the paths below it. It is safe for concurrent use.
type Pages struct {
	queue    *approve.Queue
	login    func([sha256.Size]byte) (string, stopgate.Groups, bool)
	public   *url.URL // nil if there is none
	now      func() time.Time
	mux      *http.ServeMux
	sessions sessions
}

//go:embed style.css
var files embed.FS

// maxForm bounds a form: edited arguments and a reason. maxLogin bounds the form of people who are
// not logged in, and maxSending the time to send either.
const (
	maxForm    = 20 << 20
	maxLogin   = 16 << 10
	maxSending = time.Minute
)

// New returns the pages.
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
	p.mux.HandleFunc("GET /approvals", p.requireLogin(p.list))
	p.mux.HandleFunc("GET /approvals/{$}", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/approvals", http.StatusSeeOther)
	})
	p.mux.HandleFunc("GET /approvals/{id}", p.requireLogin(p.show))
	p.mux.HandleFunc("POST /approvals/{id}", p.requireLogin(p.answer))
	p.mux.HandleFunc("POST /approvals/-/login", p.logIn)
	p.mux.HandleFunc("POST /approvals/-/together", p.requireLogin(p.answerTogether))
	p.mux.HandleFunc("POST /approvals/-/logout", p.requireLogin(p.logOut))
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
	// Without a referrer policy browsers may omit Origin in forms.
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	switch {
	case !p.knownHost(r.Host):
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
		if r.Method == http.MethodPost { // not supported by test recorders, which are never slow
			_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(maxSending))
		}
		p.mux.ServeHTTP(w, r)
	}
}

// isForm reports whether the request has the content type of the forms of these pages.
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
	_, _ = io.WriteString(w, m.out.String()) // fails only if the client has gone
}
