package decide

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/approve/page"
	"github.com/stopgate/stopgate/internal/system/httpserver"
)

// Options configure a [Server].
type Options struct {
	// Gate decides calls. Required, unless the server answers nothing but hooks.
	Gate *gate.Gate
	// Program returns the current policy for POST /v1/check. If nil, the route does not exist.
	Program func() gate.Policy
	// Queue holds the questions. If nil, the routes of approvals do not exist. It should be the
	// gate's approver.
	Queue *approve.Queue
	// Sessions and Records are read by operators. If nil, their routes do not exist.
	Sessions gate.Store
	Records  Records
	// Lockdowns stores lockdowns. If nil, their routes do not exist.
	Lockdowns gate.Lockdowns
	// Events handles GET /v1/events. If nil, the route does not exist.
	Events http.Handler
	// Hooks handles /v1/hooks for requests without a token. If nil, the route does not exist.
	Hooks http.Handler
	// Describe returns the description of the gate for GET /v1/gate. If nil, the route does not exist.
	Describe func() Description
	// Metrics handles GET /metrics. If nil, the route does not exist.
	Metrics http.Handler
	Tokens  []Token
	// SessionSecret derives the keys of sessions that programs begin on the Unix socket. If nil, there
	// are no keys.
	SessionSecret []byte
	// Programs permits programs to answer questions of their own sessions, and to report approvals
	// there.
	Programs bool
	// Identity authenticates clients with other tokens. After an error the request is refused; the
	// client is not told the reason. Groups are the scopes of these clients. It may be nil.
	Identity func(r *http.Request, token string) (stopgate.Principal, stopgate.Groups, error)
	Groups   []GroupScopes
	// Logout handles POST /v1/logout, for requests of the identity provider without a token. If nil,
	// the route does not exist.
	Logout http.HandlerFunc
	// PublicURL is the address of the approval pages for browsers if it differs from the listener's
	// address. It may be empty.
	PublicURL string
	// Trouble logs errors of connections. It may be nil.
	Trouble *log.Logger
}

// Server serves the decision API. It is safe for concurrent use.
type Server struct {
	options   Options
	tokens    tokens
	keys      sessionKeys
	calls     *callRoutes
	resources []resource
	pages     *page.Pages // nil if no token can log in
	end       context.CancelCauseFunc

	busy activity

	mu      sync.Mutex
	servers []*http.Server
	closed  bool
}

// resource is one kind of thing that the API serves.
type resource interface{ add(addRoute) }

// New returns a server. Serve and ServeLocal start it.
func New(o Options) (*Server, error) {
	if o.Gate == nil && o.Hooks == nil {
		return nil, errors.New("decide: the API needs a gate")
	}
	s := &Server{options: o}
	s.busy.last = time.Now()
	s.keys = sessionKeys{secret: o.SessionSecret, programs: o.Programs, queue: o.Queue}
	s.tokens.identify, s.tokens.groups = o.Identity, o.Groups
	if err := s.SetTokens(o.Tokens); err != nil {
		return nil, err
	}
	if s.Pages() {
		var err error
		if s.pages, err = page.New(page.Options{Queue: o.Queue, Login: s.tokens.approver, PublicURL: o.PublicURL}); err != nil {
			return nil, err
		}
	}
	life, end := context.WithCancelCause(context.Background())
	s.end = end
	s.calls = &callRoutes{gate: o.Gate, queue: o.Queue, keys: &s.keys, calls: newCalls(), life: life}
	if o.Gate != nil {
		s.resources = append(s.resources, s.calls, &sessionRoutes{gate: o.Gate, store: o.Sessions, keys: &s.keys})
	}
	if o.Hooks != nil {
		s.resources = append(s.resources, &hookRoute{o.Hooks})
	}
	if o.Describe != nil {
		s.resources = append(s.resources, &gateRoute{o.Describe})
	}
	if o.Program != nil {
		s.resources = append(s.resources, &checkRoute{o.Program})
	}
	if o.Queue != nil {
		s.resources = append(s.resources, &approvalRoutes{queue: o.Queue, keys: &s.keys, life: life})
	}
	if o.Lockdowns != nil {
		s.resources = append(s.resources, &lockdownRoutes{gate: o.Gate, store: o.Lockdowns})
	}
	if o.Records != nil {
		s.resources = append(s.resources, &recordRoute{o.Records})
	}
	if o.Events != nil {
		s.resources = append(s.resources, &eventRoute{stream: o.Events, life: life})
	}
	return s, nil
}

// SetTokens replaces all tokens for requests that start afterwards. On an error the tokens do not
// change.
func (s *Server) SetTokens(list []Token) error { return s.tokens.set(list) }

// Pages reports whether Serve serves the approval pages at /approvals. They require a queue and a
// token with the scope approve.
func (s *Server) Pages() bool {
	return s.options.Queue != nil && slices.ContainsFunc(s.options.Tokens, func(t Token) bool { return t.Scopes&Approve != 0 })
}

// Serve handles requests that carry a token, until Close.
func (s *Server) Serve(ln net.Listener) error { return s.serve(ln, s.Handler(false)) }

// ServeLocal also handles requests without a token, with the scopes decide and observe. Use it on a
// Unix socket that only this user can open.
func (s *Server) ServeLocal(ln net.Listener) error { return s.serve(ln, s.Handler(true)) }

func (s *Server) serve(ln net.Listener, h http.Handler) error {
	server := &http.Server{
		Handler: s.busy.count(h), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: s.options.Trouble,
	}
	httpserver.CloseUnused(server)
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errors.Join(http.ErrServerClosed, ln.Close())
	}
	s.servers = append(s.servers, server)
	s.mu.Unlock()
	if err := server.Serve(ln); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Close stops listening and lets requests finish until ctx ends. Calls that wait for approval are
// denied as after their timeout; stored questions can be answered later, for the call that is
// submitted again (S5).
func (s *Server) Close(ctx context.Context) error {
	s.mu.Lock()
	s.closed = true
	servers := s.servers
	s.mu.Unlock()
	s.end(gate.ErrHold)
	var all []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			all = append(all, err, server.Close())
		}
	}
	s.calls.work.Wait()
	return errors.Join(all...)
}

// handler handles a route for an authorized caller.
type handler func(w http.ResponseWriter, r *http.Request, who caller) *problem

// addRoute adds a route for callers with a scope. query names its query parameters.
type addRoute func(pattern string, scope Scope, h handler, query ...string)

// Handler returns the API as one handler. local reports whether requests arrive through a channel
// that only this user can open.
func (s *Server) Handler(local bool) http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, scope Scope, h handler, query ...string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength < 0 {
				// Without full duplex the server would read a streamed body to its end before it
				// responds. Connections without support do not need it.
				_ = http.NewResponseController(w).EnableFullDuplex()
			}
			who, p := s.tokens.caller(r, local)
			if p == nil {
				who, p = s.keys.admit(r, who, scope)
			}
			if p == nil {
				p = who.require(scope)
			}
			if p == nil {
				p = checkQuery(r, query)
			}
			if p == nil {
				p = h(w, r, who)
			}
			if p != nil {
				p.write(w)
			}
		})
	}
	for _, r := range s.resources {
		r.add(route)
	}
	route("GET /v1/openapi.yaml", Decide|Observe|Approve|Operate, openapi)
	if metrics := s.options.Metrics; metrics != nil {
		route("GET /metrics", Operate, func(w http.ResponseWriter, r *http.Request, _ caller) *problem {
			metrics.ServeHTTP(w, r)
			return nil
		})
	}
	if s.pages != nil && !local { // browsers do not open Unix sockets
		mux.Handle("/approvals", s.pages)
		mux.Handle("/approvals/", s.pages)
	}
	if s.options.Logout != nil {
		mux.HandleFunc("POST /v1/logout", s.options.Logout)
	}
	if s.options.Gate != nil {
		probes := &probes{s.options.Gate}
		mux.HandleFunc("GET /healthz", probes.health)
		mux.HandleFunc("GET /readyz", probes.ready)
	}
	mux.HandleFunc("/", unknownRoute(mux))
	return canonicalPaths(mux)
}
