package decide

import (
	"context"
	"errors"
	"log"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stopgate/stopgate"
	"github.com/stopgate/stopgate/approve"
	"github.com/stopgate/stopgate/gate"
	"github.com/stopgate/stopgate/internal/approve/page"
)

// Records reads audit rows for operators.
type Records interface {
	// Rows returns up to limit rows after a sequence number, oldest first.
	Rows(ctx context.Context, after int64, limit int) ([]stopgate.Record, error)
}

// Options configure a [Server].
type Options struct {
	// Gate decides calls. Required.
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
	// Metrics handles GET /metrics. If nil, the route does not exist.
	Metrics http.Handler
	Tokens  []Token
	// PublicURL is the address of the approval pages for browsers if it differs from the listener's
	// address. It may be empty.
	PublicURL string
	// Trouble logs errors of connections. It may be nil.
	Trouble *log.Logger
}

// Server serves the decision API. It is safe for concurrent use.
type Server struct {
	options Options
	tokens  atomic.Pointer[[]Token]
	calls   calls
	pages   *page.Pages // nil if no token can log in
	// life is canceled when the server closes. Waiting calls then end as after a timeout; questions
	// that an approver stores can still be answered for the call that is submitted again.
	life context.Context
	end  context.CancelCauseFunc
	work sync.WaitGroup
	// watchers counts the event streams.
	watchers atomic.Int64

	mu      sync.Mutex
	servers []*http.Server
	closed  bool
}

// New returns a server. It serves nothing until Serve or ServeLocal is called.
func New(o Options) (*Server, error) {
	if o.Gate == nil {
		return nil, errors.New("decide: the API needs a gate")
	}
	s := &Server{options: o, calls: newCalls()}
	if err := s.SetTokens(o.Tokens); err != nil {
		return nil, err
	}
	if s.Pages() {
		var err error
		if s.pages, err = page.New(page.Options{Queue: o.Queue, Login: s.approver, PublicURL: o.PublicURL}); err != nil {
			return nil, err
		}
	}
	s.life, s.end = context.WithCancelCause(context.Background())
	return s, nil
}

// SetTokens replaces all tokens for requests that start afterwards. On an error the tokens do not
// change.
func (s *Server) SetTokens(list []Token) error {
	for _, t := range list {
		if t.Name == "" || t.Scopes == 0 {
			return errors.New("decide: every token needs a name and a scope")
		}
	}
	s.tokens.Store(&list)
	return nil
}

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
		Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10, ErrorLog: s.options.Trouble,
	}
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
	s.work.Wait()
	return errors.Join(all...)
}

// handler handles a route for an authorized caller.
type handler func(w http.ResponseWriter, r *http.Request, who caller) *problem

// Handler returns the API as one handler. local reports whether requests arrive through a channel
// that only this user can open.
func (s *Server) Handler(local bool) http.Handler {
	mux := http.NewServeMux()
	route := func(pattern string, scope Scope, present bool, h handler, query ...string) {
		if !present {
			return
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength < 0 {
				// Without full duplex the server would read a streamed body to its end before it
				// responds. Connections without support do not need it.
				_ = http.NewResponseController(w).EnableFullDuplex()
			}
			who, p := s.caller(r, local)
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
	o := &s.options
	route("POST /v1/check", Decide, o.Program != nil, s.check)
	route("POST /v1/calls", Decide, true, s.propose)
	route("POST /v1/calls/stream", Decide, true, s.stream)
	route("GET /v1/calls/{id}", Decide, true, s.status)
	route("POST /v1/calls/{id}/result", Decide, true, s.result)
	route("POST /v1/handoffs", Decide, true, s.handoff)

	route("GET /v1/approvals", Approve, o.Queue != nil, s.questions, "state", "session", "principal")
	route("GET /v1/approvals/watch", Approve, o.Queue != nil, s.watch)
	route("GET /v1/approvals/{id}", Approve, o.Queue != nil, s.question)
	route("POST /v1/approvals/{id}", Approve, o.Queue != nil, s.reply)
	route("GET /v1/grants", Approve, o.Queue != nil, s.grants, "all", "tool", "principal")
	route("DELETE /v1/grants/{id}", Approve, o.Queue != nil, s.revoke)

	route("POST /v1/sessions", Decide, true, s.newSession)
	route("GET /v1/sessions", Operate, o.Sessions != nil, s.sessions, "principal", "limit")
	route("GET /v1/sessions/{id}/facts", Operate, o.Sessions != nil, s.facts, "principal", "after", "limit")
	route("PUT /v1/sessions/{id}/data", Operate, o.Sessions != nil, s.setData, "principal")
	route("POST /v1/sessions/{id}/snapshot", Operate, o.Sessions != nil, s.snapshot, "principal")
	route("POST /v1/sessions/{id}/restore", Operate, o.Sessions != nil, s.restore, "principal")
	route("POST /v1/sessions/{id}/reset", Operate, o.Sessions != nil, s.reset, "principal")

	route("GET /v1/lockdown", Operate, o.Lockdowns != nil, s.lockdown)
	route("PUT /v1/lockdown", Operate, o.Lockdowns != nil, s.lock)
	route("DELETE /v1/lockdown", Operate, o.Lockdowns != nil, s.lift)

	route("GET /v1/records", Operate, o.Records != nil, s.records, "after", "limit")
	route("GET /v1/events", Operate|onSocket, o.Events != nil, s.events, "after", "type", "tool", "session")
	route("GET /v1/openapi.yaml", Decide|Observe|Approve|Operate, true, s.openapi)
	route("GET /metrics", Operate, o.Metrics != nil, func(w http.ResponseWriter, r *http.Request, _ caller) *problem {
		o.Metrics.ServeHTTP(w, r)
		return nil
	})
	if s.pages != nil && !local { // browsers do not open Unix sockets
		mux.Handle("/approvals", s.pages)
		mux.Handle("/approvals/", s.pages)
	}
	mux.HandleFunc("GET /healthz", s.health)
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("/", unknownRoute(mux))
	return canonicalPaths(mux)
}
